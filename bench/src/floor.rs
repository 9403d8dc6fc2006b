//! The floor: what axum alone costs to read a JSON body and answer with one.

use axum::routing::post;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Ask {
    seat: String,
    #[serde(default)]
    hidden: bool,
}

#[derive(Serialize)]
struct Answer {
    seat: String,
    hidden: bool,
    next_ms: u32,
}

pub(crate) fn serve(address: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?;
        println!("listening on {}", listener.local_addr()?);
        let router =
            Router::new().route(
                "/v1/play/{stream}/{call}",
                post(|Json(ask): Json<Ask>| async move {
                    Json(Answer { seat: ask.seat, hidden: ask.hidden, next_ms: 5_000 })
                }),
            );
        axum::serve(listener, router).await?;
        Ok(())
    })
}
