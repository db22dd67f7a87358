//! Real processes: the gateway, its clients, and the programs that people use through them.
//!
//! Everything listens on loopback, on ports that the kernel chooses. Whatever is started here ends with the value that
//! stands for it, also when a test panics; then the standard error of every process is shown.

mod destination;
mod exchange;
mod http;
mod muxgate;
mod observe;
mod port;
mod program;
mod raw;
mod tools;

use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

pub use destination::Destination;
pub use exchange::{Digest, Pattern, Sha256, digest_of};
pub use http::HttpServer;
pub use muxgate::{Certificates, Forward, Gateway, code, muxgate, pipe};
#[cfg(target_os = "linux")]
pub use observe::limit_descriptors;
pub use observe::{descriptors, processor_time, raise_descriptor_limit, resident};
pub use port::ReservedPort;
pub use program::Program;
pub use raw::{RawSession, request, status, upgrade};
pub use tools::{Curl, installed, skipped};

/// Longest time of a scenario. Ten times what the longest takes on two slow cores.
const LIMIT: Duration = Duration::from_secs(90);

/// Runs a scenario. One that hangs fails, and its processes are shown and ended.
pub async fn scenario<T>(steps: impl Future<Output = T>) -> T {
    // Pinned here, so that it is dropped while the panic unwinds.
    let mut steps = pin!(steps);
    timeout(LIMIT, &mut steps).await.expect("the scenario should end within its time limit")
}
