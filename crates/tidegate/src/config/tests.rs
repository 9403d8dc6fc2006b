use super::*;

fn fault(text: &str) -> String {
    let fault = Config::parse(Path::new("tidegate.toml"), text).unwrap_err();
    crate::failure::Failure::from(fault).to_string()
}

#[test]
fn o3_an_empty_file_means_the_defaults() {
    assert_eq!(Config::parse(Path::new("x"), ""), Ok(Config::default()));
}

#[test]
fn o3_the_defaults_are_the_engines_own() {
    let config = Config::default();
    assert_eq!(config.seat_settings(), SeatSettings::default());
    assert_eq!(config.store_settings(), EmbeddedSettings::default());
}

#[test]
fn o3_an_unknown_key_is_answered_with_its_line_and_the_nearest_name() {
    assert_eq!(
        fault("[control]\nlisten = \"off\"\n\n[seats]\n# a comment\noffers_s = 3\n"),
        "tidegate.toml:6: unknown key offers_s in [seats]\nhint: did you mean offer_s?"
    );
}

#[test]
fn o3_an_unknown_section_is_answered_with_the_nearest_name() {
    assert_eq!(
        fault("[control]\n[seatz]\noffer_s = 3"),
        "tidegate.toml:2: unknown section or key seatz\nhint: did you mean seats?"
    );
}

#[test]
fn o3_a_key_in_the_wrong_section_is_sent_to_the_right_one() {
    assert_eq!(
        fault("[control]\nmax_places = 3"),
        "tidegate.toml:2: unknown key max_places in [control]\nhint: max_places belongs in [seats]"
    );
}

#[test]
fn o3_a_key_like_no_other_is_answered_with_all_of_them() {
    assert_eq!(
        fault("[store]\nzzz = 3"),
        "tidegate.toml:2: unknown key zzz in [store]\nhint: there is data, file_max_mb"
    );
}

#[test]
fn o3_a_bad_value_is_answered_with_its_line_and_its_bounds() {
    assert_eq!(
        fault("[seats]\n\noffer_s = 100000"),
        "tidegate.toml:3: invalid value: integer `100000`, expected a whole number from 3 to 600"
    );
    assert_eq!(
        fault("[control]\nlisten = \"localhost\""),
        "tidegate.toml:2: write an address and a port such as 127.0.0.1:8080, or off"
    );
    assert_eq!(
        fault("[control]\npage_burst = 0"),
        "tidegate.toml:2: invalid value: integer `0`, expected a whole number from 1"
    );
    assert!(fault("[seats]\noffer_s = \"3\"").starts_with("tidegate.toml:2: invalid type: string \"3\""));
}

#[test]
fn o3_values_that_are_wrong_together_are_answered_with_a_line() {
    assert_eq!(
        fault("[seats]\nsilence_s = 90\nsilence_hidden_s = 60"),
        "tidegate.toml:3: seats.silence_hidden_s: 60 is shorter than a visible tab's 90"
    );
}

#[test]
fn o3_listen_is_a_key_of_its_section_like_any_other() {
    assert_eq!(Config::read_toml("[control]\nlisten = \"off\"").unwrap().listen, Listen::Off);
    assert_eq!(
        fault("[control]\nlistn = \"off\""),
        "tidegate.toml:2: unknown key listn in [control]\nhint: did you mean listen?"
    );
    assert!(fault("control = 3").starts_with("tidegate.toml:1: invalid type: integer `3`"));
}

#[test]
fn o3_numbers_of_the_control_have_bounds_too() {
    assert_eq!(
        fault("[control]\npage_burst = 20\nidle_timeout_ms = 0"),
        "tidegate.toml:3: control.idle_timeout_ms: 0 is not between 100 and 3600000"
    );
    assert_eq!(
        fault("[tokens]\nkey_overlap_s = 60"),
        "tidegate.toml:2: tokens.key_overlap_s: 60 is shorter than a viewer token's life of 120"
    );
}

#[test]
fn o4_a_log_filter_with_a_typo_is_a_fault_of_its_line() {
    let said = fault("[telemetry]\nlog = \"debgu\"");
    assert!(said.starts_with("tidegate.toml:2: telemetry.log: \"debgu\" is no log filter"), "{said}");
}

#[test]
fn o3_every_key_is_documented() {
    let settings = include_str!("../../../../docs/SETTINGS.md");
    let keys = fault::every_key();
    assert!(keys.len() > 10, "{keys:?}");
    for key in &keys {
        let (section, name) = key.rsplit_once('.').unwrap();
        let part = settings.split("\n## `[").find(|part| part.starts_with(&format!("{section}]`")));
        let part = part.unwrap_or_else(|| panic!("docs/SETTINGS.md has no section [{section}]"));
        assert!(part.contains(&format!("\n| `{name}` |")), "docs/SETTINGS.md does not say what {key} means");
    }
}

#[test]
fn o3_every_documented_key_exists() {
    let settings = include_str!("../../../../docs/SETTINGS.md");
    let keys = fault::every_key();
    let mut section = "";
    for line in settings.lines() {
        if let Some(header) = line.strip_prefix("## `[") {
            section = header.split(']').next().unwrap();
        } else if let Some(name) = line.strip_prefix("| `").and_then(|row| row.split('`').next())
            && !section.is_empty()
        {
            assert!(keys.contains(&format!("{section}.{name}")), "docs/SETTINGS.md knows a key {section}.{name}");
        }
    }
}

#[test]
fn o3_an_upstream_is_its_preset_and_what_is_written_over_it() {
    let text =
        "[upstreams.hub]\npreset = \"github\"\nmax_concurrency = 2\n[upstreams.\"a.b\"]\nbase_url = \"http://x\"";
    let config = Config::parse(Path::new("x"), text).unwrap();
    assert_eq!(config.upstreams.keys().collect::<Vec<_>>(), ["a.b", "hub"]);
    let hub = &config.upstreams["hub"];
    assert_eq!((hub.max_concurrency.get(), hub.min_interval.as_millis()), (2, 70));
    assert_eq!(hub.base_url.as_deref(), Some("https://api.github.com"));
}

#[test]
fn o3_a_fault_of_an_upstream_is_told_with_its_line_and_a_way_out() {
    let wrong = |lines: &str| fault(&format!("[upstreams.\"a.b\"]\nbase_url = \"http://x\"\n[upstreams.api]\n{lines}"));
    assert_eq!(
        wrong("min_intervall_ms = 3"),
        "tidegate.toml:4: unknown key min_intervall_ms in [upstreams.api]\nhint: did you mean min_interval_ms?"
    );
    assert_eq!(
        wrong("preset = \"generic\""),
        "tidegate.toml:3: upstreams.api.base_url: is missing, and the preset generic has none; write where it is: \
         base_url = \"https://api.example.com\""
    );
    assert_eq!(
        wrong("\nmax_wait_ms = 86400001"),
        "tidegate.toml:5: upstreams.api.max_wait_ms: from 0 to 86400000 milliseconds"
    );
    assert_eq!(
        wrong("base_url = \"http://x\"\ndedupe = [\"GET\"]"),
        "tidegate.toml:5: upstreams.api.dedupe: \"GET\" is no route: write a method and a path, such as \
         \"GET /users/{id}\" or \"* /live/**\""
    );
    assert_eq!(
        wrong("base_url = \"x\""),
        "tidegate.toml:4: upstreams.api.base_url: write http:// or https://, a host, and no query, fragment or password"
    );
    let no_file = wrong("base_url = \"http://x\"\nca_file = \"/nowhere.pem\"");
    assert!(no_file.starts_with("tidegate.toml:5: upstreams.api.ca_file: /nowhere.pem: "), "{no_file}");
    assert_eq!(wrong("preset = \"yotube\""), "tidegate.toml:4: unknown value \"yotube\"\nhint: did you mean youtube?");
    assert_eq!(wrong("min_interval_ms = -1"), "tidegate.toml:4: invalid value: integer `-1`, expected a whole number");
    for (base_url, itself) in [
        ("http://localhost:8090/api", true),
        ("http://127.0.0.1:8090", true),
        ("http://127.0.0.1:8091", false),
        ("http://example.com:8090", false),
    ] {
        let read = Config::parse(Path::new("tidegate.toml"), &format!("[upstreams.api]\nbase_url = \"{base_url}\""));
        assert_eq!(read.is_err(), itself, "{base_url}");
    }
    assert_eq!(
        wrong("base_url = \"http://[::1]\"\n[gate]\nlisten = \"[::]:80\""),
        "tidegate.toml:4: upstreams.api.base_url: is where this gate listens: a call would go round in it"
    );
    assert_eq!(
        fault("[gate]\nmin_interval_ms = 3").split_once("hint: ").unwrap().1,
        "min_interval_ms belongs in [upstreams.NAME]"
    );
}

#[test]
fn o3_an_upstreams_name_can_be_a_path_and_no_page_of_the_gate() {
    let named = |name: &str| fault(&format!("[upstreams.\"{name}\"]\nbase_url = \"http://x\""));
    assert_eq!(
        named("metrics"),
        "tidegate.toml:1: upstreams.metrics: /metrics is a page of the gate itself; choose another name"
    );
    for name in ["", "a/b", "..", "a b"] {
        assert!(
            named(name).ends_with("is no name for a path; use 1 to 64 letters, digits, '-', '_' and '.'"),
            "{name}"
        );
    }
}

#[test]
fn o3_the_gate_listens_where_it_is_told() {
    assert_eq!(Config::default().gate_listen.to_string(), "127.0.0.1:8090");
    assert_eq!(Config::read_toml("[gate]\nlisten = \"off\"").unwrap().gate_listen, Listen::Off);
    assert_eq!(
        fault("[gate]\nstop_grace_ms = 600001"),
        "tidegate.toml:2: gate.stop_grace_ms: 600001 is not between 0 and 600000"
    );
}
