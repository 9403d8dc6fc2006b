//! Tokens, and the one page of a control that a relay needs to take them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::routing::get;
use tidegate_token::{Claims, KeySet, Role, Seed};
use tokio::net::TcpListener;

/// Who signs. Its page is served as long as the process lives.
#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) address: SocketAddr,
    signer: Arc<KeySet>,
    last: Arc<AtomicU64>,
}

impl Keys {
    pub(crate) async fn serve() -> anyhow::Result<Self> {
        let signer = KeySet::generate(Seed([7; 32]), 0);
        let page = signer.public().to_jwks(0);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let router = Router::new().route("/.well-known/jwks.json", get(async move || page));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, signer: Arc::new(signer), last: Arc::default() })
    }

    /// A token that nobody has used.
    pub(crate) fn token(&self, role: Role) -> String {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.signer.sign(&Claims {
            sub: format!("seat-{number}"),
            stream: super::relay::STREAM.to_owned(),
            tenant: "bench".to_owned(),
            role,
            iat: now,
            exp: now + 3600,
            jti: format!("token-{number}"),
            back: false,
        })
    }
}
