//! The scenarios of `muxgate-conformance` on native executors. Pages, workers and Node run them as well: `tests/browser`.

use futures::FutureExt;
use futures::executor::{LocalPool, LocalSpawner, ThreadPool, block_on};
use futures::future::BoxFuture;
use futures::task::{LocalSpawnExt, SpawnExt};
use muxgate_conformance::{Driver, Engine, Scenario, scenarios, timed_scenarios};
use muxgate_core::StoppedClock;
use muxgate_transport_native::TokioClock;

/// One after the other.
async fn run<E: Engine>(scenarios: Vec<Scenario<E>>, engine: E) {
    assert!(!scenarios.is_empty());
    for scenario in scenarios {
        // Seen when it fails, or hangs.
        println!("{}", scenario.name);
        scenario.run(engine.clone()).await;
    }
}

#[derive(Clone)]
struct Tokio;

impl Engine for Tokio {
    type Clock = TokioClock;

    fn clock(&self) -> TokioClock {
        TokioClock::new()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }

    fn drive(&self, end: Driver<TokioClock>) {
        tokio::spawn(end);
    }
}

fn on_tokio(mut builder: tokio::runtime::Builder) {
    let runtime = builder.enable_time().build().expect("a runtime");
    runtime.block_on(async {
        run(scenarios(), Tokio).await;
        run(timed_scenarios(), Tokio).await;
    });
}

/// Executors without a clock, as the way to start a task on them.
#[derive(Clone)]
struct Timeless<S>(S);

impl<S: Fn(BoxFuture<'static, ()>) + Clone + 'static> Engine for Timeless<S> {
    type Clock = StoppedClock;

    fn clock(&self) -> StoppedClock {
        StoppedClock
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.0(task);
    }

    fn drive(&self, end: Driver<StoppedClock>) {
        self.0(end.map(drop).boxed());
    }
}

#[test]
fn tokio_on_one_thread() {
    on_tokio(tokio::runtime::Builder::new_current_thread());
}

#[test]
fn tokio_on_several_threads() {
    on_tokio(tokio::runtime::Builder::new_multi_thread());
}

#[test]
fn smol() {
    smol::block_on(run(scenarios(), Timeless(|task| smol::spawn(task).detach())));
}

#[test]
fn futures_on_one_thread() {
    let mut pool = LocalPool::new();
    let spawner: LocalSpawner = pool.spawner();
    let engine = Timeless(move |task| spawner.spawn_local(task).expect("the pool exists"));
    pool.run_until(run(scenarios(), engine));
}

#[test]
fn futures_on_several_threads() {
    let pool = ThreadPool::new().expect("threads");
    block_on(run(scenarios(), Timeless(move |task| pool.spawn(task).expect("the pool exists"))));
}
