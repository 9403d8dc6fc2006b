//! A connection that has changed its protocol: bytes both ways until one side ends.

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::sync::watch;
use tracing::debug;

/// Joins the two ends in a task of its own. `open` ends it when the proxy does.
pub(crate) fn join(client: OnUpgrade, upstream: OnUpgrade, mut open: watch::Receiver<()>) {
    tokio::spawn(async move {
        let joined = async {
            let (client, upstream) = tokio::try_join!(client, upstream)?;
            let bytes = copy_bidirectional(&mut TokioIo::new(client), &mut TokioIo::new(upstream)).await?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(bytes)
        };
        tokio::select! {
            joined = joined => match joined {
                Ok((sent, received)) => debug!(sent, received, "a tunnel ended"),
                Err(error) => debug!(%error, "a tunnel broke"),
            },
            _closed = open.changed() => debug!("a tunnel was closed with the proxy"),
        }
    });
}
