//! The Unix socket in the data directory: only its owner can reach it, and it is there while a server runs.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use tokio::net::{UnixListener, UnixStream};

use crate::admin::{Office, Order};
use crate::failure::{OrSay, Outcome};

/// A listening socket; its file goes with it.
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Opens the socket. The caller holds the store's lock, so a file of that name is a dead server's.
    pub(crate) fn open(data: &Path) -> Outcome<Self> {
        let path = data.join(NAME);
        let listener = listen(data, &path).or_say(|| format!("cannot listen on {}", path.display()))?;
        Ok(Self { listener, path })
    }

    /// Takes orders until the task is dropped. Viewers do not depend on it, so its failure ends nothing else.
    pub(crate) async fn serve(self, office: Arc<Office>) -> Infallible {
        let Self { listener, path } = self;
        let _gone = RemovedAtEnd(path);
        let router = Router::new().route("/", post(take_order)).with_state(office);
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "the admin socket failed; tenants cannot be changed until a restart");
        }
        std::future::pending().await
    }
}

/// Reaches the server of a data directory, if one runs.
pub(super) async fn connect(data: &Path) -> io::Result<UnixStream> {
    let (_dir, path) = short_path(data)?;
    UnixStream::connect(path).await
}

async fn take_order(State(office): State<Arc<Office>>, Json(order): Json<Order>) -> Response {
    match office.carry_out(order).await {
        Ok(done) => Json(done).into_response(),
        Err(failure) => (StatusCode::CONFLICT, failure.to_string()).into_response(),
    }
}

fn listen(data: &Path, path: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let (_dir, short) = short_path(data)?;
    // The umask made it private from the start; a directory of the owner's own keeps others out as well.
    let listener = UnixListener::bind(short)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// A socket's path has room for about a hundred bytes; a longer one is reached through the open directory.
fn short_path(data: &Path) -> io::Result<(Option<File>, PathBuf)> {
    let path = data.join(NAME);
    if path.as_os_str().len() <= PATH_MAX {
        return Ok((None, path));
    }
    let dir = File::open(data)?;
    let short = format!("/proc/self/fd/{}/{NAME}", dir.as_raw_fd()).into();
    Ok((Some(dir), short))
}

struct RemovedAtEnd(PathBuf);

impl Drop for RemovedAtEnd {
    fn drop(&mut self) {
        // What is left behind is removed by the next start.
        fs::remove_file(&self.0).ok();
    }
}

const NAME: &str = "admin.sock";

/// The smallest room that any Unix gives, less the closing zero.
const PATH_MAX: usize = 103;
