//! `tidegate-upstreams`: the stand-in of a rate-limited service, as a process.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use tidegate_upstreams::{Script, Upstream};

/// Answers as a rate-limited service does, by a script, and logs who called when.
#[derive(Parser)]
#[command(name = "tidegate-upstreams")]
struct Words {
    /// Where to listen; port 0 is any free one
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDR")]
    listen: SocketAddr,
    /// A script in JSON; without it there is one path for each kind of answer, such as /throttled
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let words = Words::parse();
    let script = words.script.map_or(Ok(Script::menu()), |path| {
        let text = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is no script", path.display()))
    })?;
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?.block_on(async {
        let upstream = Upstream::listen(words.listen, script).await.with_context(|| format!("at {}", words.listen))?;
        println!("listening on {}", upstream.address());
        tokio::signal::ctrl_c().await?;
        Ok(())
    })
}
