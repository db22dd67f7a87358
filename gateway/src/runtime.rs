//! The runtime of one thread, and what a process needs around it.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::exit::Failure;

/// Threads of one runtime that wait for the system's resolver. Names beyond that queue up, within their time limit.
const RESOLVER_THREADS: usize = 32;

/// Tasks that run before sockets are looked at again. A turn of bulk data takes about 50 microseconds: with tokio's
/// 61, a keystroke beside it would wait for milliseconds at each hop.
const EVENT_INTERVAL: u32 = 4;

/// How long a process that was told to end waits for sessions to say goodbye.
pub const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// A runtime on this thread: a session and all of its relays run without locks that anybody contends for.
pub fn local() -> io::Result<LocalRuntime> {
    Builder::new_current_thread()
        .enable_all()
        .event_interval(EVENT_INTERVAL)
        .max_blocking_threads(RESOLVER_THREADS)
        .build_local(LocalOptions::default())
}

/// Runs `future` on a runtime of its own. Leaves threads that hang in a read of standard input behind.
pub fn block_on(future: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = local().map_err(|error| Failure::runtime("cannot start", &error))?;
    let result = runtime.block_on(future);
    runtime.shutdown_background();
    result
}

/// Listens for SIGINT and SIGTERM, the orderly ways to end a process, and completes with the first.
///
/// Counts from the call, not from the first poll: who sees a process say that it is ready may signal it at once.
pub fn terminated() -> Result<impl Future<Output = ()>, Failure> {
    let listen = |kind| signal(kind).map_err(|error| Failure::runtime("cannot listen for signals", &error));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Allows as many descriptors as this user may have: each relay takes one, and the usual 1024 are soon used up.
pub fn raise_descriptor_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!("the descriptor limit stays as it is: {error}");
    }
}

/// Waits until all of `tasks` have ended, but no longer than `limit`. `false`: some have not.
pub async fn drain<T: 'static>(tasks: &mut JoinSet<T>, limit: Duration) -> bool {
    let ended = async { while tasks.join_next().await.is_some() {} };
    timeout(limit, ended).await.is_ok()
}
