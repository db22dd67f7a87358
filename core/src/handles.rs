//! How an application opens channels and answers those of its peer.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::Stream;

use crate::destination::Destination;
use crate::error::{ConnectionError, OpenError};
use crate::frame::{ChannelId, ReasonCode};
use crate::shared::{Shared, State, Wait};
use crate::stats::SessionStats;
use crate::stream::ChannelStream;

/// Opens channels to destinations that the peer connects. Cheap to clone.
///
/// When the last opener and the acceptor are gone, the session ends once its channels have ended.
#[derive(Debug)]
pub struct Opener {
    shared: Arc<Shared>,
}

impl Opener {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Opens a channel; ready when the peer has connected the destination, or refused.
    ///
    /// Cancel safe: dropping the future gives the channel up, and a late answer is dealt with.
    pub async fn open(&self, destination: &Destination) -> Result<ChannelStream, OpenError> {
        let id = self.shared.with(|state| state.session.open(destination.clone()))?;
        let mut opening = Opening { shared: &self.shared, id, opened: false };
        poll_fn(|cx| opening.poll(cx)).await?;
        opening.opened = true;
        Ok(ChannelStream::new(self.shared.clone(), id))
    }

    /// The session's numbers so far.
    #[must_use]
    pub fn stats(&self) -> SessionStats {
        self.shared.with(|state| state.session.stats())
    }

    /// Opens no more channels; the session ends in good order when those that exist have ended.
    pub fn close(&self) {
        self.shared.with(|state| state.session.close());
    }

    /// Why the session ended, when it has. Cancel safe.
    pub async fn closed(&self) -> ConnectionError {
        closed(&self.shared).await
    }
}

impl Clone for Opener {
    fn clone(&self) -> Self {
        self.shared.with(|state| state.handles += 1);
        Self { shared: self.shared.clone() }
    }
}

impl Drop for Opener {
    fn drop(&mut self) {
        self.shared.with(State::drop_handle);
    }
}

/// An open on its way. Dropping it gives the channel up.
struct Opening<'a> {
    shared: &'a Shared,
    id: ChannelId,
    opened: bool,
}

impl Opening<'_> {
    fn poll(&self, cx: &Context<'_>) -> Poll<Result<(), OpenError>> {
        self.shared.with(|state| {
            if let Some(result) = state.session.opening(self.id) {
                return Poll::Ready(result);
            }
            state.wait(cx, Wait::Read(self.id));
            Poll::Pending
        })
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if !self.opened {
            self.shared.with(|state| state.session.abandon(self.id));
        }
    }
}

/// Yields the channels that the peer asks for.
#[derive(Debug)]
pub struct Acceptor {
    shared: Arc<Shared>,
}

impl Acceptor {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The next channel that the peer asks for; `None` when the session is over. Cancel safe.
    pub async fn accept(&mut self) -> Option<Incoming> {
        poll_fn(|cx| self.poll_accept(cx)).await
    }

    /// See [`accept`](Self::accept).
    pub fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<Option<Incoming>> {
        self.shared.with(|state| {
            if state.session.ended().is_some() {
                return Poll::Ready(None);
            }
            if let Some((id, destination)) = state.session.next_request() {
                return Poll::Ready(Some(Incoming { shared: self.shared.clone(), id, destination, answered: false }));
            }
            state.wait(cx, Wait::Request);
            Poll::Pending
        })
    }

    /// The session's numbers so far.
    #[must_use]
    pub fn stats(&self) -> SessionStats {
        self.shared.with(|state| state.session.stats())
    }

    /// Accepts no more channels; the session ends in good order when those that exist have ended.
    pub fn close(&self) {
        self.shared.with(|state| state.session.close());
    }

    /// Why the session ended, when it has. Cancel safe.
    pub async fn closed(&self) -> ConnectionError {
        closed(&self.shared).await
    }
}

impl Stream for Acceptor {
    type Item = Incoming;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Incoming>> {
        self.poll_accept(cx)
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.shared.with(|state| {
            state.session.stop_accepting();
            state.drop_handle();
        });
    }
}

/// A channel that the peer asks for. Dropping it refuses with [`ReasonCode::GeneralFailure`].
#[derive(Debug)]
pub struct Incoming {
    shared: Arc<Shared>,
    id: ChannelId,
    destination: Destination,
    answered: bool,
}

impl Incoming {
    /// Where the peer wants to be connected.
    #[must_use]
    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    /// Tells the peer that the destination is connected.
    pub fn accept(mut self) -> Result<ChannelStream, ConnectionError> {
        self.shared.with(|state| state.session.accept(self.id))?;
        self.answered = true;
        Ok(ChannelStream::new(self.shared.clone(), self.id))
    }

    /// Tells the peer why the destination is not connected; `description` is for people.
    pub fn reject(mut self, reason: ReasonCode, description: &str) {
        self.answered = true;
        self.shared.with(|state| state.session.refuse(self.id, reason, description));
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if !self.answered {
            self.shared.with(|state| state.session.refuse(self.id, ReasonCode::GeneralFailure, ""));
        }
    }
}

async fn closed(shared: &Shared) -> ConnectionError {
    poll_fn(|cx| {
        shared.with(|state| {
            if let Some(reason) = state.session.ended() {
                return Poll::Ready(reason.clone());
            }
            state.wait(cx, Wait::End);
            Poll::Pending
        })
    })
    .await
}
