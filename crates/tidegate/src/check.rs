//! `tidegate check`: what a settings file means, in words, and what is doubtful about it.

use std::fmt::Write;
use std::net::IpAddr;
use std::process::ExitCode;

use tidegate_chat::Readers;
use tidegate_control::Networks;
use tidegate_relay::Admission;
use tidegate_upstream::UpstreamSettings;

use crate::admin::{self, Done, Order};
use crate::config::{Config, Listen, LogFormat};
use crate::failure::Outcome;
use crate::say::say;
use crate::settings::Settings;
use crate::telemetry::USUAL_FILTER;

/// Prints the meaning and the warnings. A file that cannot be used is the error.
pub(crate) fn run(settings: &Settings) -> Outcome<ExitCode> {
    let config = settings.config()?;
    match &settings.config {
        Some(file) => say(format_args!("{} says:\n", file.display())),
        None => say("no file; the defaults say:\n"),
    }
    say(meaning(&config).trim_end());
    let mut warnings = warnings(&config);
    warnings.extend(gate_warnings(&config));
    warnings.extend(tenants_warnings(&config)?);
    for warning in warnings {
        say(format_args!("\nwarning: {warning}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// One line per thing that is set, by section.
fn meaning(config: &Config) -> String {
    let mut sections = vec![
        ("control", control(config)),
        ("seats", seats(config)),
        ("tokens", tokens(config)),
        ("store", store(config)),
        ("telemetry", telemetry(config)),
        ("chat", chat(config)),
        ("gate", gate(config)),
        ("relay", relay(config)),
    ];
    sections.extend(config.upstreams.iter().map(|(name, settings)| ("upstream", upstream(name, settings))));
    let mut text = String::new();
    for (section, lines) in sections {
        for (index, line) in lines.iter().enumerate() {
            let header = if index == 0 { section } else { "" };
            writeln!(text, "{header:<10} {line}").expect("a string takes all");
        }
    }
    text
}

fn chat(config: &Config) -> Vec<String> {
    let chat = &config.chat;
    let name = &chat.upstream;
    if config.gate_listen == Listen::Off || !config.upstreams.contains_key(name) {
        return vec![format!("no live chats are read: they need [upstreams.{name}] and a gate that listens")];
    }
    let (rooms, idle) = (chat.max_rooms, chat.idle_s);
    let readers = match chat.readers {
        Readers::Anybody => "anybody",
        Readers::Known => "tenants and whoever has a seat",
    };
    vec![
        format!("live chats are read from upstream {name}: up to {rooms} rooms, each {idle} s longer than its viewers"),
        format!("chats are for {readers}"),
    ]
}

fn control(config: &Config) -> Vec<String> {
    let control = &config.control;
    let listen = match config.listen {
        Listen::On(address) => format!("pages and backends call http://{address}"),
        Listen::Off => "nothing listens".to_owned(),
    };
    let proxies = if control.trusted_proxies == Networks::default() {
        "a caller's address is its connection's; no proxy is trusted to say another".to_owned()
    } else {
        "a caller's address is its connection's, or what a proxy in trusted_proxies says".to_owned()
    };
    let calls = format!(
        "one address makes {} page calls at once, then one every {} ms; a call that names a live seat or place counts \
         for that one alone",
        control.page_burst, control.page_refill_ms
    );
    let exempt = (control.exempt_networks != Networks::default())
        .then(|| "addresses in exempt_networks are limited by neither".to_owned());
    let origins = match control.cors_origins.as_slice() {
        [] => "no page of another origin may call".to_owned(),
        [star] if star == "*" => "pages of every origin may call".to_owned(),
        some => format!("pages of {} may call", some.join(", ")),
    };
    let connections = format!(
        "at most {} connections, {} of one address",
        thousands(control.connections_max),
        thousands(control.connections_per_address)
    );
    [listen, proxies, calls].into_iter().chain(exempt).chain([origins, connections]).collect()
}

fn seats(config: &Config) -> Vec<String> {
    let seats = &config.seats;
    let [silence, hidden] = [seats.silence_s.get(), seats.silence_hidden_s.get()].map(time);
    let [place, place_hidden] = [seats.place_silence_s.get(), seats.place_silence_hidden_s.get()].map(time);
    vec![
        format!("a seat ends after {silence} of silence, {hidden} in a hidden tab"),
        format!("a place in line ends after {place} without an ask, {place_hidden} in a hidden tab"),
        format!("a freed seat is held {} for the head of the line", time(seats.offer_s.get())),
        match seats.kick_block_s.get() {
            0 => "a kicked viewer may come again at once".to_owned(),
            block => format!("a kicked viewer is refused for {}", time(block)),
        },
        format!("at most {} seats and places over all streams", thousands(seats.max_places.get())),
    ]
}

fn tokens(config: &Config) -> Vec<String> {
    let tokens = &config.tokens;
    let [viewer, publisher] = [tokens.viewer_life_s, tokens.publisher_life_s].map(|s| time(s.get().into()));
    vec![
        format!("a viewer's token is good for {viewer}, a publisher's for {publisher}"),
        format!("after `tidegate keys rotate` the older key verifies for {} more", time(tokens.key_overlap_s.into())),
    ]
}

fn store(config: &Config) -> Vec<String> {
    let grows = match config.store.file_max_mb {
        Some(most) => format!("at most {} MB", thousands(most.get())),
        None => "as far as the disk goes".to_owned(),
    };
    vec![format!("state is kept in {}; its file grows {grows}", config.store.data.display())]
}

fn gate(config: &Config) -> Vec<String> {
    let Listen::On(address) = config.gate_listen else { return vec!["nothing listens".to_owned()] };
    let limits = &config.gate;
    let [all, of_one] = [limits.connections_max, limits.connections_per_address].map(thousands);
    let reach = match config.upstreams.is_empty() {
        true => format!("listens on http://{address}, with no upstream to call: write [upstreams.NAME]"),
        false => format!("calls go to http://{address}/NAME/…, where NAME is an upstream; no other can be reached"),
    };
    vec![reach, format!("at most {all} connections, {of_one} of one address")]
}

fn relay(config: &Config) -> Vec<String> {
    let relay = &config.relay;
    let place = match config.relay_listen {
        Listen::On(address) => {
            format!("`tidegate relay` takes sessions at {address}, with tokens of {}", relay.control)
        }
        Listen::Off => "nothing listens".to_owned(),
    };
    let (level, retry) = (relay.admission_busy.0, relay.admission_retry_ms);
    let admission = match relay.admission {
        Admission::On => {
            format!("refuses newcomers from a busy share of {level}, and has them try again in {retry} ms")
        }
        Admission::Observe => format!("counts whom it would refuse from a busy share of {level}, and refuses nobody"),
        Admission::Off => "refuses nobody for its load".to_owned(),
    };
    let certificate = match &relay.certificate {
        Some(file) => format!("shows the certificate in {}", file.display()),
        None => "makes a certificate for development, which browsers take by its hash alone".to_owned(),
    };
    vec![place, admission, certificate]
}

fn upstream(name: &str, settings: &UpstreamSettings) -> Vec<String> {
    let url = settings.base_url.as_deref().unwrap_or_default();
    let what = format!("{name} is {url}, with the preset {}", settings.preset.name());
    std::iter::once(what).chain(settings.explain()).collect()
}

fn telemetry(config: &Config) -> Vec<String> {
    let telemetry = &config.telemetry;
    let format = match telemetry.log_format {
        LogFormat::Text => "text",
        LogFormat::Json => "JSON",
    };
    let filter = telemetry.log.as_deref().unwrap_or(USUAL_FILTER);
    let traces = match &telemetry.otlp_endpoint {
        Some(to) => format!("{} % of traces go to {to}", telemetry.otlp_sample_percent),
        None => "traces go nowhere".to_owned(),
    };
    vec![format!("logs are {format}, filtered by {filter}; {traces}")]
}

/// What is allowed and probably not meant.
fn warnings(config: &Config) -> Vec<String> {
    let mut warnings = Vec::new();
    let control = &config.control;
    if let Listen::On(address) = config.listen
        && !address.ip().is_loopback()
    {
        warnings.push(format!(
            "[control] listen {address} is reachable from outside, and speaks plain http: put a proxy that speaks TLS \
             in front"
        ));
        if control.trusted_proxies == Networks::default() {
            warnings.push(
                "[control] trusted_proxies is empty: behind a proxy all viewers count as one address and are refused \
                 429 after a few calls"
                    .to_owned(),
            );
        }
    }
    if is_everybody(&control.trusted_proxies) {
        warnings.push("[control] trusted_proxies trusts everybody: a client can claim any address".to_owned());
    }
    if is_everybody(&control.exempt_networks) {
        warnings.push("[control] exempt_networks exempts everybody: no call is limited per address".to_owned());
    }
    if config.seats.offer_s.get() < 5 {
        warnings.push(format!(
            "[seats] offer_s {} leaves little time: a page looks for news every 2 s",
            config.seats.offer_s
        ));
    }
    warnings
}

/// Ways in that stand open.
fn gate_warnings(config: &Config) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Listen::On(address) = config.gate_listen
        && !address.ip().is_loopback()
    {
        warnings.push(format!(
            "[gate] listen {address} is reachable from outside, asks nobody who they are, and speaks plain http: whoever \
             reaches it can spend the upstreams' limits"
        ));
    }
    for (name, settings) in &config.upstreams {
        let url = settings.base_url.as_deref().unwrap_or_default();
        if is_plain_and_far(url) {
            warnings.push(format!(
                "[upstreams.{name}] base_url {url}: keys travel over plain http, which anybody on the way reads"
            ));
        }
        if settings.cooldown == settings.max_cooldown {
            warnings.push(format!(
                "[upstreams.{name}] cooldown_ms reaches max_cooldown_ms, {} s: no Retry-After can hold calls for longer",
                settings.cooldown.as_secs_f64()
            ));
        }
    }
    warnings
}

/// Plain http to another machine.
fn is_plain_and_far(url: &str) -> bool {
    let Some(host) = url.strip_prefix("http://").and_then(|rest| rest.split('/').next()) else { return false };
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    name != "localhost" && !name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Limits of tenants that do not fit together (S23), if there are tenants yet.
fn tenants_warnings(config: &Config) -> Outcome<Vec<String>> {
    if !config.store.data.join("seats.db").exists() {
        return Ok(Vec::new());
    }
    let Done::Listed { tenants } = admin::carry_out_now(config, Order::ListTenants)? else { return Ok(Vec::new()) };
    Ok(tenants.into_iter().filter_map(|row| Some(format!("tenant {}: {}", row.id, row.warning?))).collect())
}

/// Two addresses as far apart as can be are in no network but the widest.
fn is_everybody(networks: &Networks) -> bool {
    let far: [IpAddr; 2] = [[1, 0, 0, 1].into(), [223, 255, 255, 254].into()];
    far.into_iter().all(|address| networks.contain(address))
}

/// Seconds as a person says them.
fn time(seconds: u64) -> String {
    match seconds {
        s if s >= 3600 && s.is_multiple_of(3600) => format!("{} h", s / 3600),
        s if s >= 300 && s.is_multiple_of(60) => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

/// Digits in groups of three.
fn thousands(number: impl ToString) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0, 999, 1000, 20_000, 1_234_567].map(thousands), ["0", "999", "1,000", "20,000", "1,234,567"]);
        assert_eq!([20, 120, 600, 601, 43_200].map(time), ["20 s", "120 s", "10 min", "601 s", "12 h"]);
    }
}
