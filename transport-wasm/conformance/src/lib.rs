//! The scenarios of `muxgate-conformance` on the event loop of a page, a worker or Node, with the browser's clock.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::panic;

use futures::FutureExt;
use futures::future::BoxFuture;
use js_sys::Function;
use muxgate_conformance::{Driver, Engine, Scenario, scenarios, timed_scenarios};
use muxgate_transport_wasm::BrowserClock;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

#[derive(Clone)]
struct EventLoop;

impl Engine for EventLoop {
    type Clock = BrowserClock;

    fn clock(&self) -> BrowserClock {
        BrowserClock::new()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        spawn_local(task);
    }

    fn drive(&self, end: Driver<BrowserClock>) {
        spawn_local(end.map(drop));
    }
}

fn all() -> impl Iterator<Item = Scenario<EventLoop>> {
    scenarios().into_iter().chain(timed_scenarios())
}

/// The names of the scenarios.
#[wasm_bindgen]
#[must_use]
pub fn names() -> Vec<String> {
    all().map(|scenario| scenario.name.to_owned()).collect()
}

thread_local! {
    /// Who wants to hear of the next panic. One that traps leaves no other trace: promises behind it never settle.
    static ON_PANIC: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Resolves when the scenario `name` holds; calls `on_panic` with why it does not.
///
/// # Panics
///
/// If there is no such scenario.
#[wasm_bindgen]
pub async fn run(name: String, #[wasm_bindgen(js_name = onPanic)] on_panic: Function) {
    ON_PANIC.set(Some(on_panic));
    panic::set_hook(Box::new(|panic| {
        let on_panic = ON_PANIC.with_borrow_mut(Option::take);
        // Nobody is left to tell if that throws.
        let _ = on_panic.map(|on_panic| on_panic.call1(&JsValue::NULL, &panic.to_string().into()));
    }));
    let scenario = all().find(|scenario| scenario.name == name).expect("it is one of the names");
    scenario.run(EventLoop).await;
}
