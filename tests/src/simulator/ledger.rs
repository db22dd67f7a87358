//! What a side promised, according to the messages that it sent: kept apart from the books of core.

use std::collections::HashMap;

use muxgate_core::frame::{ChannelId, Frame};
use muxgate_core::session::Session;
use muxgate_core::{Config, CreditPolicy};

/// One receiving direction.
#[derive(Debug, Default)]
struct Account {
    granted: u64,
    received: u64,
    consumed: u64,
    /// The largest window so far: what was granted was granted under it.
    widest: u64,
    /// The peer ended its direction.
    ended: bool,
    /// What arrives is dropped: grants no longer bind memory.
    dropped: bool,
}

impl Account {
    fn promised(&self) -> u64 {
        if self.ended || self.dropped { self.received - self.consumed } else { self.granted - self.consumed }
    }
}

/// The receiving directions of one side.
#[derive(Debug)]
pub(super) struct Ledger {
    policy: CreditPolicy,
    budget: u64,
    floor: u64,
    /// By our number of the channel.
    accounts: HashMap<ChannelId, Account>,
    /// Our number by the peer's.
    numbers: HashMap<ChannelId, ChannelId>,
    promised: u64,
    /// The most that was ever promised.
    pub(super) peak: u64,
}

impl Ledger {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            policy: config.credit,
            budget: config.budget,
            floor: config.min_window.into(),
            accounts: HashMap::new(),
            numbers: HashMap::new(),
            promised: 0,
            peak: 0,
        }
    }

    /// A channel has this number from now on.
    pub(super) fn open(&mut self, number: ChannelId) {
        if let Some(old) = self.accounts.insert(number, Account::default()) {
            self.promised -= old.promised();
        }
    }

    /// Our side built this message.
    pub(super) fn sent(&mut self, frame: &Frame, session: &Session) {
        match *frame {
            Frame::Open { sender, window, .. } => self.begin(sender, window),
            Frame::OpenSuccess { recipient, sender, window, .. } => {
                self.numbers.insert(recipient, sender);
                self.begin(sender, window);
            }
            Frame::WindowAdjust { recipient, credit } => {
                let number = self.numbers[&recipient];
                self.grant(number, credit.into(), session.channel_stats(number).window.into());
            }
            _ => {}
        }
    }

    /// Our side has taken in this message of the peer.
    pub(super) fn received(&mut self, frame: &Frame, session: &Session) {
        match frame {
            Frame::OpenSuccess { recipient, sender, .. } => {
                self.numbers.insert(*sender, *recipient);
            }
            Frame::Data { recipient, payload, .. } => {
                let window = session.channel_stats(*recipient).window;
                self.change(*recipient, |account| {
                    account.received += payload.len() as u64;
                    assert!(account.received <= account.granted, "more arrived than was granted: {account:?}");
                    account.widest = account.widest.max(window.into());
                    if account.ended || account.dropped {
                        account.consumed += payload.len() as u64;
                    }
                });
            }
            Frame::Eof { recipient } | Frame::Close { recipient } => self.end(*recipient),
            Frame::OpenFailure { recipient, .. } => self.drop_reader(*recipient),
            _ => {}
        }
    }

    pub(super) fn consumed(&mut self, number: ChannelId, len: usize) {
        self.change(number, |account| account.consumed += len as u64);
    }

    /// What arrives from now on is dropped.
    pub(super) fn end(&mut self, number: ChannelId) {
        self.change(number, |account| account.ended = true);
    }

    /// Nobody reads any more: what has arrived is dropped, too.
    pub(super) fn drop_reader(&mut self, number: ChannelId) {
        self.change(number, |account| {
            account.dropped = true;
            account.consumed = account.received;
        });
    }

    /// The bound on all promises, whatever happened.
    pub(super) fn check(&self, session: &Session) {
        let stats = session.stats();
        let bound = self.budget + u64::from(stats.channels) * self.floor;
        assert!(self.promised <= bound, "{} bytes promised, {bound} allowed", self.promised);
        assert!(
            self.promised <= stats.promised,
            "{} bytes promised, core knows of {}: {:?}",
            self.promised,
            stats.promised,
            self.accounts
        );
    }

    fn begin(&mut self, number: ChannelId, window: u32) {
        self.change(number, |account| {
            account.granted = window.into();
            account.widest = window.into();
        });
    }

    fn grant(&mut self, number: ChannelId, credit: u64, window: u64) {
        let policy = self.policy;
        self.change(number, |account| {
            assert!(!account.ended, "granted after the end");
            let must = account.granted == account.received && account.consumed == account.received;
            let worth_it = credit >= window / 4 || must || policy == CreditPolicy::PerMessage;
            assert!(worth_it, "an adjust of {credit} bytes for a window of {window}: {account:?}");
            account.granted += credit;
            account.widest = account.widest.max(window);
            let ahead = account.granted - account.consumed;
            assert!(ahead <= account.widest, "granted {ahead} bytes ahead: {account:?}");
        });
    }

    fn change(&mut self, number: ChannelId, change: impl FnOnce(&mut Account)) {
        let Some(account) = self.accounts.get_mut(&number) else { return };
        self.promised -= account.promised();
        change(account);
        self.promised += account.promised();
        self.peak = self.peak.max(self.promised);
    }
}
