//! Threads that serve connections. A session and all of its relays stay on the thread that they began on.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Gateway;
use super::connection::{Accepted, serve_connection};
use crate::runtime;

/// Connections on their way to a worker. Every one of them is a [`Handshake`](super::handshakes::Handshake), so the queue cannot
/// run full as long as it is not shorter than their number.
const INBOX: usize = super::handshakes::MAX_HANDSHAKES;

/// The worker threads.
#[derive(Debug)]
pub(super) struct Workers(Vec<Worker>);

#[derive(Debug)]
struct Worker {
    inbox: mpsc::Sender<(Accepted, Load)>,
    load: Load,
    thread: JoinHandle<()>,
}

/// Counted by its clones: one for each connection of the worker.
type Load = Arc<()>;

impl Workers {
    /// Starts one worker for each core.
    pub(super) fn start(gateway: &Arc<Gateway>) -> io::Result<Self> {
        let cores = thread::available_parallelism()?.get();
        (0..cores).map(|_| Worker::start(gateway.clone())).collect::<io::Result<_>>().map(Self)
    }

    /// Hands a connection to the worker that has the fewest.
    pub(super) fn dispatch(&self, accepted: Accepted) {
        let Some(worker) = self.0.iter().min_by_key(|worker| Arc::strong_count(&worker.load)) else { return };
        if worker.inbox.try_send((accepted, worker.load.clone())).is_err() {
            tracing::error!("a worker is gone, a connection was dropped");
        }
    }

    /// Waits until every session has ended, or its time to do so has.
    pub(super) fn join(self) {
        let threads: Vec<_> = self.0.into_iter().map(|worker| worker.thread).collect();
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a worker panicked");
            }
        }
    }
}

impl Worker {
    /// Returns when the worker has all that it needs: descriptors that connections have taken cannot be had later.
    fn start(gateway: Arc<Gateway>) -> io::Result<Self> {
        let (inbox, connections) = mpsc::channel(INBOX);
        let (outcome, started) = std::sync::mpsc::sync_channel(1);
        // Sending cannot fail: whoever starts a worker waits for its outcome.
        let run = move || match runtime::local() {
            Ok(runtime) => {
                let _ = outcome.send(Ok(()));
                runtime.block_on(work(connections, gateway));
            }
            Err(error) => {
                let _ = outcome.send(Err(error));
            }
        };
        let thread = thread::Builder::new().name("worker".to_owned()).spawn(run)?;
        started.recv().map_err(io::Error::other)??;
        Ok(Self { inbox, load: Load::default(), thread })
    }
}

async fn work(mut connections: mpsc::Receiver<(Accepted, Load)>, gateway: Arc<Gateway>) {
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            connection = connections.recv() => {
                let Some((accepted, load)) = connection else { break };
                let gateway = gateway.clone();
                tasks.spawn_local(async move {
                    serve_connection(accepted, gateway).await;
                    drop(load);
                });
            }
            Some(_) = tasks.join_next() => {}
        }
    }
    if !runtime::drain(&mut tasks, runtime::CLOSE_LIMIT).await {
        tracing::info!("sessions that did not end in time are cut");
    }
}
