//! How a session ends.
#![expect(clippy::unwrap_used, reason = "a failure fails the test")]

use futures::executor::LocalPool;
use futures::future::poll_immediate;
use futures::task::LocalSpawnExt;
use muxgate_core::{Config, StoppedClock, client, duplex, server};

#[test]
fn the_last_handle_of_a_closed_channel_ends_a_session_that_waits_for_it() {
    let (near, far) = duplex(64 * 1024);
    let (opener, near) = client(near, StoppedClock, Config::default());
    let (mut acceptor, far) = server(far, StoppedClock, Config::default());
    let mut pool = LocalPool::new();
    let spawner = pool.spawner();
    let near = spawner.spawn_local_with_handle(near).unwrap();
    spawner.spawn_local(async { far.await.unwrap() }).unwrap();
    // The far side is done with the channel at once: both ends close it.
    let accepting = async move {
        drop(acceptor.accept().await.unwrap().accept().unwrap());
        // Keeps its session.
        acceptor.accept().await
    };
    let _far = spawner.spawn_local_with_handle(accepting).unwrap();
    let destination = "tcp://a.example:1".parse().unwrap();
    let (mut reader, mut writer) = pool.run_until(opener.open(&destination)).unwrap().into_split();
    writer.finish();
    assert_eq!(pool.run_until(reader.read_chunk()).unwrap(), None);
    pool.run_until_stalled();

    opener.close();
    pool.run_until_stalled();
    drop((reader, writer));
    pool.run_until_stalled();
    assert!(pool.run_until(poll_immediate(near)).is_some(), "the session did not notice its last channel's end");
}
