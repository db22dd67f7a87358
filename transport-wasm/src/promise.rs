//! Futures as JavaScript sees them.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

type Outcome = Result<JsValue, JsValue>;

/// The promise of what `future` comes to.
///
/// Boxed, so that the machinery behind a promise exists once and not for each kind of future, at a kilobyte each.
pub(crate) fn promise(future: impl Future<Output = Outcome> + 'static) -> Promise {
    let boxed: Pin<Box<dyn Future<Output = Outcome>>> = Box::pin(future);
    future_to_promise(boxed)
}

/// A word that one task waits for, said once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signal {
    state: Rc<RefCell<State>>,
}

#[derive(Debug, Default)]
struct State {
    raised: bool,
    waker: Option<Waker>,
}

impl Signal {
    pub(crate) fn raise(&self) {
        let waker = {
            let mut state = self.state.borrow_mut();
            state.raised = true;
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    fn poll_raised(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state.borrow_mut();
        if state.raised {
            return Poll::Ready(());
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// What `future` comes to; `None` if the signal is raised first. The future is dropped then.
    pub(crate) async fn or<T>(self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = Box::pin(future);
        poll_fn(|cx| match self.poll_raised(cx) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => future.as_mut().poll(cx).map(Some),
        })
        .await
    }
}
