//! An executor that knows when everybody waits: a test that would hang fails instead.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::executor::LocalPool;
use futures::future::RemoteHandle;
use futures::task::{ArcWake, LocalSpawnExt, waker};

/// Runs tasks on the test's own thread, as far as they come.
#[derive(Debug, Default)]
pub struct Executor {
    pool: LocalPool,
}

impl Executor {
    /// Starts a task. Dropping the handle drops the future.
    pub fn start<T: 'static>(&mut self, future: impl Future<Output = T> + 'static) -> Task<T> {
        let handle = self.pool.spawner().spawn_local_with_handle(future).expect("the pool exists");
        self.settle();
        Task(handle)
    }

    /// Starts a task of which nothing is awaited.
    pub fn detach<T: 'static>(&mut self, future: impl Future<Output = T> + 'static) {
        self.pool.spawner().spawn_local(future.map(drop)).expect("the pool exists");
        self.settle();
    }

    /// Runs until every task waits.
    pub fn settle(&mut self) {
        self.pool.run_until_stalled();
    }

    /// Runs until `future` is ready.
    ///
    /// # Panics
    ///
    /// If it waits, and every task does.
    pub fn run<F: Future>(&mut self, future: F) -> F::Output {
        let woken = Arc::new(Woken::default());
        let waker = waker(woken.clone());
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return output;
            }
            self.settle();
            assert!(woken.0.swap(false, Ordering::Relaxed), "everybody waits, and the future is not ready");
        }
    }
}

/// A task that was started.
#[derive(Debug)]
pub struct Task<T: 'static>(RemoteHandle<T>);

impl<T: 'static> Task<T> {
    /// What the task has come to, once.
    pub fn result(&mut self) -> Option<T> {
        (&mut self.0).now_or_never()
    }
}

/// A waker that remembers.
#[derive(Debug, Default)]
struct Woken(AtomicBool);

impl ArcWake for Woken {
    fn wake_by_ref(arc_self: &Arc<Self>) {
        arc_self.0.store(true, Ordering::Relaxed);
    }
}
