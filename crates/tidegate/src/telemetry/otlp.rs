//! Traces go out as OTLP over plain HTTP, with the hyper that is here anyway: a second HTTP client with a second TLS
//! stack would be larger than the rest of the export. A collector beside the process speaks TLS where that is needed.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::config;
use crate::failure::{OrSay, Outcome};

/// Starts the export to a collector.
pub(super) fn start(endpoint: &str, settings: &config::Telemetry) -> Outcome<SdkTracerProvider> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(PlainHttp { runtime: Handle::current() })
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .build()
        .or_say(|| format!("cannot export traces to {endpoint}"))?;
    let share = f64::from(u8::try_from(settings.otlp_sample_percent.get()).unwrap_or(100)) / 100.0;
    // A caller that already decided to trace a call is followed.
    let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(share)));
    let resource = Resource::builder().with_service_name("tidegate").build();
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter);
    Ok(provider.with_sampler(sampler).with_resource(resource).build())
}

/// What is wrong with an endpoint, if anything.
pub(crate) fn endpoint_fault(endpoint: &str) -> Option<String> {
    let uri = endpoint.parse::<Uri>().ok();
    match uri.as_ref().and_then(|uri| Some((uri.scheme_str()?, uri.host()?))) {
        Some(("http", _)) => None,
        Some(("https", _)) => Some("traces are sent over plain http; run a collector beside and name that".to_owned()),
        Some(_) | None => Some("write the address of an OTLP collector such as http://127.0.0.1:4318".to_owned()),
    }
}

/// The export runs in a thread of its own without a runtime, so its calls are made on ours.
#[derive(Debug)]
struct PlainHttp {
    runtime: Handle,
}

#[async_trait]
impl HttpClient for PlainHttp {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // The timer too must be made on the runtime.
        let sent = self.runtime.spawn(async { timeout(PATIENCE, post(request)).await }).await;
        let answer = sent.map_err(HttpError::from).and_then(|in_time| in_time?);
        // The exporter itself says nothing; it calls every few seconds at most, so this cannot fill a log.
        match &answer {
            Ok(answer) if answer.status().is_success() => {}
            Ok(answer) => tracing::warn!(status = answer.status().as_u16(), "traces were refused by the collector"),
            Err(error) => tracing::warn!(%error, "traces could not be sent to the collector"),
        }
        answer
    }
}

/// One connection per call: there is one call every few seconds.
async fn post(mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let uri = std::mem::take(request.uri_mut());
    let host = uri.host().ok_or("an endpoint without a host")?;
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), uri.port_u16().unwrap_or(80))).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move { connection.await.ok() });

    let authority = uri.authority().ok_or("an endpoint without a host")?.as_str();
    request.headers_mut().insert(header::HOST, HeaderValue::from_str(authority)?);
    *request.uri_mut() = uri.path_and_query().map_or("/", |path| path.as_str()).parse()?;
    let (head, body) = sender.send_request(request.map(Full::new)).await?.into_parts();
    let body = Limited::new(body, ANSWER_MAX).collect().await?.to_bytes();
    Ok(Response::from_parts(head, body))
}

/// A collector that takes longer than this loses the batch.
const PATIENCE: Duration = Duration::from_secs(10);

/// A collector's answer is a few bytes; more is not one.
const ANSWER_MAX: usize = 64 * 1024;
