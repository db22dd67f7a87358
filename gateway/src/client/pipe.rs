//! `muxgate pipe`: standard input and output to one destination.

use std::fs::OpenOptions;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use muxgate_core::OpenError;
use tokio::fs::File;
use tokio::io::AsyncWrite;

use super::{Session, SessionSource};
use crate::cli::PipeArgs;
use crate::escape::Printable;
use crate::exit::{Code, Failure};
use crate::relay::{Relay, RelayError};
use crate::runtime;

/// Runs until both directions have ended, or a signal ends it.
pub fn pipe(args: &PipeArgs) -> Result<(), Failure> {
    if args.via.token_file.as_deref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(Failure::usage(
            "standard input carries the data here: give --token-file a file, or set MUXGATE_TOKEN",
        ));
    }
    let source = SessionSource::new(&args.via)?;
    runtime::block_on(async {
        let terminated = runtime::terminated()?;
        tokio::select! {
            result = carry(args, &source) => result,
            () = terminated => Ok(()),
        }
    })
}

async fn carry(args: &PipeArgs, source: &SessionSource) -> Result<(), Failure> {
    let session = source.connect().await?;
    let result = relay(args, &session).await;
    session.close().await;
    result
}

async fn relay(args: &PipeArgs, session: &Session) -> Result<(), Failure> {
    let destination = &args.destination;
    let channel = session.opener.open(destination).await.map_err(|error| match error {
        OpenError::Connection(error) => Failure::lost(&error),
        error => Failure::new(Code::Refused, format!("{destination}: {}", Printable(&error.to_string()))),
    })?;
    let output = Output::take().map_err(|error| Failure::runtime("no standard output", &error))?;
    let local = tokio::io::join(tokio::io::stdin(), output);
    Relay::new(local, channel).await.map_err(|error| match error {
        RelayError::Session(error) => Failure::lost(&error),
        error => Failure::new(Code::Runtime, format!("{destination}: {}", Printable(&error.to_string()))),
    })
}

/// Standard output that can be closed: whoever reads it sees the end while standard input lives on.
///
/// Tokio's own keeps back what follows the last line end, and an interactive program would wait for that for ever.
struct Output(Option<File>);

impl Output {
    /// Takes the output away from the process: what is printed there from now on goes nowhere.
    fn take() -> io::Result<Self> {
        let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        rustix::stdio::dup2_stdout(nowhere)?;
        Ok(Self(Some(File::from_std(output.into()))))
    }

    fn open(&mut self) -> io::Result<Pin<&mut File>> {
        self.0.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }
}

impl AsyncWrite for Output {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.open()?.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.open()?.poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.open()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        self.0 = None;
        Poll::Ready(Ok(()))
    }
}
