//! A runtime-agnostic multiplexer: many byte streams over one transport, speaking JMUX.
//!
//! The reason for it is its flow control. Credit is granted when the application *consumes*, and sent when the session has
//! nothing better to do, at half a window at the latest: busy channels are served as fast as possible, all of them
//! equally, and a reader that stops stops nobody else. See [`Config`] for the limits and ARCHITECTURE.md for the idea.
//!
//! This crate reads no clock, opens no sockets, spawns no tasks and knows no runtime. A [`Transport`] carries the bytes, a
//! [`Clock`] tells the time, and [`Connection`] is a future that runs wherever it is spawned.
//!
//! ```
//! use futures::{AsyncReadExt, AsyncWriteExt, executor::block_on, future::join3};
//! use muxgate_core::{Config, StoppedClock, client, duplex, server};
//!
//! let (near, far) = duplex(64 * 1024);
//! let (opener, near) = client(near, StoppedClock, Config::default());
//! let (mut acceptor, far) = server(far, StoppedClock, Config::default());
//!
//! let echo = async move {
//!     while let Some(incoming) = acceptor.accept().await {
//!         assert_eq!(incoming.destination().host(), "echo.internal");
//!         let (mut reader, mut writer) = incoming.accept().unwrap().into_split();
//!         while let Some(chunk) = reader.read_chunk().await.unwrap() {
//!             writer.write_chunk(chunk).await.unwrap();
//!         }
//!     }
//! };
//! let talk = async move {
//!     let mut stream = opener.open(&"tcp://echo.internal:7".parse().unwrap()).await.unwrap();
//!     stream.write_all(b"hello").await.unwrap();
//!     stream.close().await.unwrap();
//!     let mut answer = String::new();
//!     stream.read_to_string(&mut answer).await.unwrap();
//!     assert_eq!(answer, "hello");
//! };
//! block_on(join3(async { futures::join!(near, far) }, echo, talk));
//! ```

#![forbid(unsafe_code)]

mod allowance;
mod channel;
pub mod codec;
mod config;
mod connection;
mod destination;
mod duplex;
mod error;
mod flow;
pub mod frame;
mod handles;
mod queue;
mod scheduler;
pub mod session;
mod shared;
mod stats;
mod stream;
mod sync;
mod transport;

pub use config::{Config, CreditPolicy};
pub use connection::{Connection, client, peer, server};
pub use destination::{Destination, DestinationError};
pub use duplex::{Duplex, duplex};
pub use error::{ConnectionError, OpenError, ReadError, WriteError};
pub use flow::Urgency;
pub use frame::ReasonCode;
pub use handles::{Acceptor, Incoming, Opener};
pub use stats::{AdjustCounts, ChannelStats, SessionStats};
pub use stream::{ChannelReader, ChannelStream, ChannelWriter};
pub use transport::{Clock, Dial, StoppedClock, Timestamp, Transport};
