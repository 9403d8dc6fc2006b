//! One HTTP/1.1 connection, run by whoever waits for its answer.
//!
//! A client pool gives each connection a task and hands requests, heads and pieces of bodies over to it. For a small
//! answer the handing over and the waking cost more than the gate does, so a connection here has no task: it is
//! polled together with what is expected of it, and lies still while nothing is.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::task::coop::unconstrained;

use crate::outgoing::Outgoing;
use crate::socket::Socket;

/// A connection and its way in.
pub(super) struct Line {
    to: SendRequest<Outgoing>,
    connection: Connection<TokioIo<Socket>, Outgoing>,
    ended: bool,
    bell: Arc<Bell>,
    /// The bell's.
    waker: Waker,
}

impl Line {
    pub(super) async fn new(socket: Socket) -> hyper::Result<Box<Self>> {
        let (to, connection) = handshake(TokioIo::new(socket)).await?;
        let bell = Arc::new(Bell::default());
        Ok(Box::new(Self { to, connection, ended: false, waker: Waker::from(Arc::clone(&bell)), bell }))
    }

    /// Sends a request and waits for the head of its answer. A request that nothing was sent of comes back.
    pub(super) async fn ask(
        &mut self,
        request: Box<Request<Outgoing>>,
    ) -> Result<Response<Incoming>, Box<TrySendError<Request<Outgoing>>>> {
        let departure = request.body().departure();
        departure.iter().for_each(|departure| departure.watch());
        // Only the connection answers, and that is run here: nobody else has to wake for it, and a budget that has
        // run out must not end the asking without a waker.
        let mut answer = std::pin::pin!(unconstrained(self.to.try_send_request(*request)));
        let (connection, bell, waker) = (&mut self.connection, &self.bell, &self.waker);
        let ended = &mut self.ended;
        std::future::poll_fn(|cx| {
            bell.hush(cx.waker());
            run(connection, ended, waker);
            departure.iter().for_each(|departure| departure.written());
            let answered = answer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            // Boxed, for there is a whole request in it.
            bell.ring_for(answered.map_err(Box::new), cx)
        })
        .await
    }

    /// Runs the connection until it has what is asked for.
    pub(super) fn poll<T>(&mut self, cx: &Context<'_>, mut ask: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        let mut nobody = Context::from_waker(Waker::noop());
        self.bell.hush(cx.waker());
        let mut asked = ask(&mut nobody);
        if asked.is_pending() {
            run(&mut self.connection, &mut self.ended, &self.waker);
            asked = ask(&mut nobody);
        }
        self.bell.ring_for(asked, cx)
    }

    /// Whether its last answer is over on both sides, so that it can take another request.
    pub(super) fn is_free(&mut self) -> bool {
        if !self.to.is_ready() {
            self.look();
        }
        !self.ended && self.to.is_ready()
    }

    /// Whether the upstream has not hung up.
    pub(super) fn is_open(&mut self) -> bool {
        self.look();
        !self.ended
    }

    /// Runs what can be run now; nobody is woken for the rest.
    fn look(&mut self) {
        self.bell.hush(Waker::noop());
        run(&mut self.connection, &mut self.ended, &self.waker);
        self.bell.state.store(LOUD, Ordering::Release);
    }
}

fn run(connection: &mut Connection<TokioIo<Socket>, Outgoing>, ended: &mut bool, waker: &Waker) {
    // How it ended is told to whoever waits for its answer.
    *ended = *ended || Pin::new(connection).poll(&mut Context::from_waker(waker)).is_ready();
}

/// Whom a connection wakes: the one who runs it, but not while it is being run, when that one looks at everything
/// anyway. Every piece of a body that is taken out would wake its own taker otherwise.
#[derive(Default)]
struct Bell {
    state: AtomicU8,
    runner: AtomicWaker,
}

impl Bell {
    /// The connection is about to be run.
    fn hush(&self, runner: &Waker) {
        self.runner.register(runner);
        self.state.store(HUSHED, Ordering::Release);
    }

    /// It has been run; what it missed is made up for if there is a wait.
    fn ring_for<T>(&self, polled: Poll<T>, cx: &Context<'_>) -> Poll<T> {
        if self.state.swap(LOUD, Ordering::AcqRel) == RUNG && polled.is_pending() {
            cx.waker().wake_by_ref();
        }
        polled
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let hushed = self.state.compare_exchange(HUSHED, RUNG, Ordering::AcqRel, Ordering::Acquire);
        if hushed == Err(LOUD) {
            self.runner.wake();
        }
    }
}

/// Wakes at once.
const LOUD: u8 = 0;
/// Being run.
const HUSHED: u8 = 1;
/// Being run, and rung meanwhile.
const RUNG: u8 = 2;
