//! Scenarios that run on any engine, native and wasm32: core does not know which.
//!
//! Both ends of a session are in one process, over a transport in memory. A scenario panics when something does not hold.

mod content;
mod credit;
mod ends;
mod peer;
mod session;
mod transfer;

use std::future::Future;

use futures::FutureExt;
use futures::future::{Abortable, BoxFuture, LocalBoxFuture};
use muxgate_core::{Clock, Connection, Duplex};

/// One end of a session, at work until somebody gives it up.
pub type Driver<C> = Abortable<Connection<Duplex, C>>;

/// Where the scenarios run: how tasks are started there, and what tells the time.
pub trait Engine: Clone + 'static {
    /// Its time source.
    type Clock: Clock + Unpin + 'static;

    /// A clock for one end of a session.
    fn clock(&self) -> Self::Clock;

    /// Starts a task.
    fn spawn(&self, task: BoxFuture<'static, ()>);

    /// Starts one end of a session: a method of its own, since it can move to other threads only if the clock can.
    fn drive(&self, end: Driver<Self::Clock>);
}

/// One scenario.
#[derive(Debug)]
pub struct Scenario<E: Engine> {
    /// What holds, in words of code.
    pub name: &'static str,
    start: fn(E) -> LocalBoxFuture<'static, ()>,
}

impl<E: Engine> Scenario<E> {
    /// Runs it on `engine`.
    pub fn run(&self, engine: E) -> impl Future<Output = ()> + use<E> {
        (self.start)(engine)
    }
}

macro_rules! scenarios {
    ($($module:ident::$name:ident,)+) => {
        vec![$(Scenario { name: stringify!($name), start: |engine| $module::$name(engine).boxed_local() }),+]
    };
}

/// Those that run on every engine.
#[must_use]
pub fn scenarios<E: Engine>() -> Vec<Scenario<E>> {
    scenarios![
        transfer::a_megabyte_comes_back,
        transfer::twenty_channels_at_a_time,
        transfer::both_directions_are_independent,
        transfer::a_dropped_stream_disturbs_nobody,
        ends::the_request_ends_before_the_answer,
        ends::the_answer_ends_before_the_request,
        ends::a_refusal_says_why,
        ends::a_reset_is_seen_as_one,
        credit::a_sender_stops_at_the_end_of_the_window,
        credit::all_windows_share_the_budget,
        credit::the_window_of_a_busy_channel_grows,
        session::a_closed_session_lets_its_channels_finish,
        session::everything_that_waits_learns_that_our_end_is_gone,
        session::everything_that_waits_learns_that_the_other_end_is_gone,
    ]
}

/// Those for engines on which time passes.
#[must_use]
pub fn timed_scenarios<E: Engine>() -> Vec<Scenario<E>> {
    scenarios![session::an_open_that_nobody_answers_times_out,]
}
