//! The reverse proxy in a program of one's own.
//!
//! ```text
//! cargo run --example gate -- --gate-listen 127.0.0.1:8090 --config gate.toml
//! ```
//!
//! where `gate.toml` holds one `[upstreams.NAME]` for each upstream, with its `base_url`.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use serde::Deserialize;
use tidegate_upstream::{Gate, Proxy, ServerSettings, UpstreamToml, serve};
use tokio::net::TcpListener;

#[derive(Deserialize)]
struct Config {
    upstreams: BTreeMap<String, UpstreamToml>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let after = |flag| words.iter().skip_while(|word| *word != flag).nth(1);
    let config = after("--config").ok_or("name the settings with --config FILE")?;
    let listen = after("--gate-listen").map_or("127.0.0.1:8090", String::as_str);

    let config: Config = toml::from_str(&std::fs::read_to_string(config)?)?;
    let mut upstreams = Vec::new();
    for (name, toml) in config.upstreams {
        let settings = toml.resolve()?;
        println!("{name}: {}", settings.explain().join("; "));
        upstreams.push((name, settings));
    }
    let proxy = Arc::new(Proxy::new(Gate::new(upstreams)?, ServerSettings::default()));
    let listener = TcpListener::bind(listen).await?;
    println!("the gate listens on http://{}", listener.local_addr()?);
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    serve(listener, proxy, stop).await;
    Ok(())
}
