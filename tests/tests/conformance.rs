//! The same scenarios on four executors.

use futures::executor::{LocalPool, ThreadPool, block_on};
use futures::task::SpawnExt;
use muxgate_tests::conformance::{Spawn, all};

/// Both flavours of tokio's runtime.
fn on_tokio(mut builder: tokio::runtime::Builder) {
    let runtime = builder.build().expect("a runtime");
    let spawn: Spawn<'_> = &|task| drop(tokio::spawn(task));
    runtime.block_on(all(spawn));
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
    smol::block_on(all(&|task| smol::spawn(task).detach()));
}

#[test]
fn futures_on_one_thread() {
    let mut pool = LocalPool::new();
    let spawner = pool.spawner();
    pool.run_until(all(&|task| spawner.spawn(task).expect("the pool exists")));
}

#[test]
fn futures_on_several_threads() {
    let pool = ThreadPool::new().expect("threads");
    block_on(all(&|task| pool.spawn(task).expect("the pool exists")));
}
