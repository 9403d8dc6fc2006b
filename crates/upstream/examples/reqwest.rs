//! The gate around reqwest: `cargo run --example reqwest`.
//!
//! Twelve calls at once to a service that answers the fifth of a second with a 429. They leave 250 ms apart, so that
//! none is refused.

use std::error::Error;
use std::time::Instant;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tidegate_upstream::{Gate, GateLayer, Preset, Replay, Report};
use tidegate_upstreams::{Script, Throttle, Upstream};
use tokio::task::JoinSet;
use tower::{Layer, Service, service_fn};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let script = Script { throttle: Some(Throttle::new(4, 1000, 5000)), ..Script::default() };
    let service = Upstream::with(script).await?;

    let client = reqwest::Client::new();
    let send = service_fn(move |request: Request<Full<Bytes>>| {
        let client = client.clone();
        async move {
            let body = request.body().bytes().unwrap_or_default();
            let request = reqwest::Request::try_from(request.map(|_| body))?;
            client.execute(request).await.map(Response::<reqwest::Body>::from)
        }
    });
    let gate = Gate::new([("service", Preset::Generic.settings())])?;
    let paced = GateLayer::new(&gate, "service")?.layer(send);

    let begun = Instant::now();
    let mut calls = JoinSet::new();
    for n in 0..12 {
        let mut paced = paced.clone();
        let request = Request::get(service.url(&format!("/things/{n}"))).body(Full::default())?;
        calls.spawn(async move {
            let response = paced.call(request).await.expect("the service is there");
            let waited = response.extensions().get::<Report>().map(|report| report.waited);
            let status = response.status();
            let body = response.into_body().collect().await.expect("the body comes whole").to_bytes();
            (status, waited.unwrap_or_default(), body.len())
        });
    }
    while let Some(call) = calls.join_next().await {
        let (status, waited, bytes) = call?;
        println!(
            "{:>4} ms  {status}, {bytes} bytes after waiting {} ms",
            begun.elapsed().as_millis(),
            waited.as_millis()
        );
    }
    println!("the service saw: {:?}", service.log().by_status());
    Ok(())
}
