//! Work on a thread of its own, so that loads, destinations and stopwatches do not take turns.

use std::io;
use std::thread;

use anyhow::{Result, anyhow};
use tokio::sync::oneshot;

/// Work that goes on until it fails or this is dropped.
#[derive(Debug)]
pub struct Background {
    failure: oneshot::Receiver<anyhow::Error>,
    /// Its end tells the thread to stop.
    _stop: oneshot::Sender<()>,
}

impl Background {
    /// Runs the future that `work` makes on a thread with a runtime of one thread.
    pub fn start<F>(work: impl FnOnce() -> F + Send + 'static) -> io::Result<Self>
    where
        F: Future<Output = anyhow::Error>,
    {
        let (failed, failure) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        thread::Builder::new().spawn(move || {
            let run = async {
                tokio::select! {
                    error = work() => Some(error),
                    _ = stopped => None,
                }
            };
            let ended = runtime().map_or_else(|error| Some(error.into()), |runtime| runtime.block_on(run));
            // Nobody listens any more if this was dropped.
            let _ = ended.map(|error| failed.send(error));
        })?;
        Ok(Self { failure, _stop: stop })
    }

    /// Waits for the failure that ends the work. Cancel safe.
    pub async fn failure(&mut self) -> anyhow::Error {
        (&mut self.failure).await.unwrap_or_else(|_| anyhow!("a thread of the bench ended by itself"))
    }

    /// Waits for `future` while the work goes on.
    pub async fn during<T>(&mut self, future: impl Future<Output = T>) -> Result<T> {
        tokio::select! {
            output = future => Ok(output),
            error = self.failure() => Err(error),
        }
    }
}

/// A runtime of the calling thread.
pub fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
