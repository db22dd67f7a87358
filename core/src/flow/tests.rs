//! Examples of what the windows do, and properties that hold whatever happens to them.

mod properties;

use super::*;

const KIB: u32 = 1024;
const FRAME: u32 = 65_520;

fn millis(count: u64) -> Timestamp {
    Duration::from_millis(count)
}

/// A channel's window and the budget behind it.
struct Fixture {
    budget: Budget,
    window: RecvWindow,
}

impl Fixture {
    /// A channel that starts with a window of this many bytes, in a session with room for more.
    fn new(window: u32) -> Self {
        Self::with(&Config { base_window: window, min_window: window.min(16 * KIB), ..Config::default() })
    }

    fn with(config: &Config) -> Self {
        let mut budget = Budget::new(config);
        let window = RecvWindow::new(config, &mut budget, FRAME);
        Self { budget, window }
    }

    fn receive(&mut self, now: Timestamp, len: u32) {
        let received = self.window.receive(now, len as usize, true, &mut self.budget);
        assert_eq!(received, Ok(0), "{len} bytes are within the credit");
    }

    fn consume(&mut self, len: u32) {
        self.window.consume(len as usize, &mut self.budget);
    }

    fn grant(&mut self, now: Timestamp) -> u64 {
        self.window.grant(now, &mut self.budget).total
    }

    /// The peer uses its whole credit, the reader takes everything, and the credit is renewed.
    fn round(&mut self, arrival: Timestamp, renewal: Timestamp) {
        let credit = u32::try_from(self.window.credit()).expect("a window is a u32");
        self.receive(arrival, credit);
        self.consume(credit);
        assert!(self.grant(renewal) > 0);
    }
}

#[test]
fn the_worked_example_of_the_module() {
    let mut it = Fixture::new(100);
    it.receive(millis(0), 80);
    it.consume(50);
    assert_eq!((it.window.credit(), it.window.owed()), (20, 50));
    assert_eq!(it.grant(millis(0)), 50);
    assert_eq!((it.window.granted, it.window.credit(), it.window.owed()), (150, 70, 0));
}

#[test]
fn nothing_is_owed_for_bytes_that_only_arrived() {
    let mut it = Fixture::new(64 * KIB);
    it.receive(millis(0), 64 * KIB);
    assert_eq!((it.window.owed(), it.window.due()), (0, None));
}

#[test]
fn an_adjust_is_lazy_at_a_quarter_and_urgent_at_half() {
    let window = 1024 * KIB;
    let mut it = Fixture::new(window);
    it.receive(millis(0), window / 2);
    it.consume(window / 4 - 1);
    assert_eq!(it.window.due(), None, "below a quarter");
    it.consume(1);
    assert_eq!(it.window.due(), Some(Urgency::Urgent), "a quarter owed, half a window left to the peer");

    let mut it = Fixture::new(window);
    it.receive(millis(0), window / 2 - 1);
    it.consume(window / 2 - 1);
    assert_eq!(it.window.due(), Some(Urgency::Lazy), "the peer has more than half a window left");
    it.receive(millis(0), 1);
    assert_eq!(it.window.due(), Some(Urgency::Urgent));
    assert_eq!(it.grant(millis(0)), u64::from(window / 2 - 1));
    assert_eq!(it.window.due(), None);
}

#[test]
fn an_urgent_adjust_brings_at_least_a_frame() {
    let window = 128 * KIB;
    let mut it = Fixture::new(window);
    it.receive(millis(0), 96 * KIB);
    it.consume(FRAME - 1);
    assert_eq!(it.window.due(), Some(Urgency::Lazy), "more than a quarter, less than a frame");
    it.consume(1);
    assert_eq!(it.window.due(), Some(Urgency::Urgent));
}

#[test]
fn a_peer_without_credit_gets_what_there_is_however_small() {
    let mut it = Fixture::new(64 * KIB);
    it.receive(millis(0), 64 * KIB);
    it.consume(1);
    assert_eq!(it.window.due(), None, "something is left to read: its consumption will bring more");
    it.consume(64 * KIB - 1);
    assert_eq!(it.window.due(), Some(Urgency::Must));
}

#[test]
fn nothing_is_granted_after_the_end() {
    let mut it = Fixture::new(64 * KIB);
    it.receive(millis(0), 64 * KIB);
    it.window.end(&mut it.budget);
    it.consume(64 * KIB);
    assert_eq!((it.window.due(), it.window.owed(), it.window.promised()), (None, 0, 0));
}

/// Not mina-sshd 292, where the window was set back to its maximum although nothing was read.
#[test]
fn only_consumed_bytes_are_granted_again() {
    let mut it = Fixture::new(64 * KIB);
    for now in 0..10 {
        it.receive(millis(now), 4 * KIB);
        assert_eq!(it.grant(millis(now)), 0);
    }
    assert_eq!(it.window.credit(), u64::from(24 * KIB));
}

#[test]
fn a_window_doubles_when_the_path_held_the_peer_back() {
    let mut it = Fixture::new(64 * KIB);
    it.round(millis(100), millis(100));
    assert_eq!(it.window.window(), 64 * KIB, "nothing is known yet");
    it.receive(millis(200), 1);
    assert_eq!(it.window.window(), 128 * KIB);
    assert_eq!(it.window.due(), Some(Urgency::Urgent), "the growth is owed to the peer");
}

#[test]
fn a_window_grows_to_the_maximum_and_no_further() {
    let mut it = Fixture::new(64 * KIB);
    let mut now = 0;
    while it.window.window() < Config::default().max_window {
        it.round(millis(now), millis(now));
        now += 100;
        assert!(now < 2000, "doubling in every round trip takes eight of them");
    }
    for now in now..now + 20 {
        it.round(millis(now), millis(now));
    }
    assert_eq!(it.window.window(), Config::default().max_window);
}

#[test]
fn a_gap_that_is_noise_grows_nothing() {
    let mut it = Fixture::new(64 * KIB);
    it.round(millis(100), millis(100));
    it.receive(millis(100) + Duration::from_micros(1999), 1);
    assert_eq!(it.window.window(), 64 * KIB);
}

#[test]
fn a_peer_that_paused_before_the_limit_was_not_held_back() {
    let mut it = Fixture::new(64 * KIB);
    it.receive(millis(0), 32 * KIB);
    it.consume(32 * KIB);
    assert!(it.grant(millis(0)) > 0);
    it.receive(millis(500), 32 * KIB + 1);
    assert_eq!(it.window.window(), 64 * KIB, "the bytes on both sides of the old limit came together");
}

/// The peer always waits, but for the reader: a larger window would only hold more for it.
#[test]
fn a_slow_reader_grows_nothing() {
    let mut it = Fixture::new(64 * KIB);
    for step in 0..1000 {
        it.receive(millis(20 * step), u32::try_from(it.window.credit()).expect("a window is a u32"));
        it.consume(8 * KIB);
        if it.window.due().is_some() {
            it.grant(millis(20 * step + 19));
        }
        assert_eq!(it.window.window(), 64 * KIB);
    }
}

/// Its first bytes were taken at once, as the queue was empty: that says nothing of the reader.
#[test]
fn a_reader_that_is_slow_from_its_beginning_grows_nothing() {
    let mut it = Fixture::new(64 * KIB);
    it.receive(millis(0), KIB);
    it.consume(KIB);
    for step in 1..1000 {
        it.receive(millis(step), u32::try_from(it.window.credit()).expect("a window is a u32"));
        it.consume(KIB);
        if it.window.due().is_some() {
            it.grant(millis(step));
        }
        assert_eq!(it.window.window(), 64 * KIB);
    }
}

#[test]
fn a_reader_that_falls_behind_shrinks_to_its_base() {
    let mut it = Fixture::new(64 * KIB);
    let mut now = 0;
    while it.window.window() < 1024 * KIB {
        it.round(millis(now), millis(now));
        now += 100;
    }
    // From now on the reader leaves three quarters of the window unread.
    while it.window.window() > 64 * KIB {
        let keep = u64::from(it.window.window()) * 3 / 4;
        it.receive(millis(now), u32::try_from(it.window.credit().min(64 * 1024)).expect("bounded"));
        let surplus = it.window.backlog().saturating_sub(keep);
        it.consume(u32::try_from(surplus).expect("below a window"));
        it.grant(millis(now));
        now += 1;
        assert!(now < 20_000, "{it:?}", it = it.window);
    }
}

/// `http-2` 105 sent 101,912 updates for 10 MB where 66 do.
#[test]
fn bulk_data_costs_few_adjusts() {
    const GIGABYTE: u64 = 1_000_000_000;
    let mut it = Fixture::new(256 * KIB);
    let mut grants = 0;
    while it.window.received < GIGABYTE {
        it.receive(millis(0), 16 * KIB);
        it.consume(16 * KIB);
        if it.window.due().is_some() {
            grants += 1;
            assert!(it.grant(millis(0)) > 0);
        }
    }
    assert!(grants <= 4000, "{grants} adjusts for a gigabyte");
}

#[test]
fn a_bounded_overrun_is_counted_and_a_larger_one_is_an_error() {
    let mut it = Fixture::new(64 * KIB);
    it.receive(millis(0), 64 * KIB);
    assert_eq!(it.window.receive(millis(0), 64 * 1024, true, &mut it.budget), Ok(64 * 1024));
    assert_eq!(it.window.receive(millis(0), 1, true, &mut it.budget), Err(Overrun));
    assert_eq!(it.window.credit(), 0);
    it.consume(128 * KIB);
    assert_eq!(it.window.due(), Some(Urgency::Must));
    assert_eq!(it.grant(millis(0)), u64::from(128 * KIB), "the overrun counts against the next window");
    assert_eq!(it.window.credit(), u64::from(64 * KIB));
}

#[test]
fn the_grace_of_a_large_window_is_a_tenth_of_it() {
    let window = 8 * 1024 * KIB;
    let mut it = Fixture::new(window);
    it.receive(millis(0), window);
    assert_eq!(it.window.receive(millis(0), window as usize / 10, true, &mut it.budget), Ok(u64::from(window) / 10));
    assert_eq!(it.window.receive(millis(0), 1, true, &mut it.budget), Err(Overrun));
}

#[test]
fn the_naive_policy_grants_once_per_message() {
    let config = Config { credit: CreditPolicy::PerMessage, ..Config::default() };
    let mut it = Fixture::with(&config);
    for _ in 0..3 {
        it.receive(millis(0), 1000);
    }
    assert_eq!(it.window.due(), None, "nothing is consumed");
    it.consume(3000);
    assert_eq!(it.window.due(), Some(Urgency::Urgent));
    let grant = it.window.grant(millis(0), &mut it.budget);
    assert_eq!(grant.adjusts().collect::<Vec<_>>(), [1000; 3]);
    assert_eq!(it.window.due(), None);
}

#[test]
fn a_grant_is_divided_without_loss() {
    for (total, parts) in [(10, 3), (2, 2), (1, 1), (0, 1)] {
        let adjusts: Vec<_> = Grant { total, parts }.adjusts().collect();
        assert_eq!(adjusts.iter().copied().map(u64::from).sum::<u64>(), total);
        assert!(adjusts.iter().all(|credit| *credit > 0));
    }
}

#[test]
fn send_credit_is_spent_and_added_without_overflow() {
    let mut window = SendWindow::new(10);
    window.spend(10);
    assert_eq!(window.credit(), 0);
    assert_eq!(window.add(u32::MAX), Ok(()));
    assert_eq!(window.add(1), Err(Overflow));
    assert_eq!(window.credit(), u32::MAX);
}

#[test]
fn first_windows_are_half_of_an_equal_share_between_the_floor_and_the_base() {
    let config = Config { budget: 4 << 20, ..Config::default() };
    let mut budget = Budget::new(&config);
    let first = RecvWindow::new(&config, &mut budget, FRAME);
    assert_eq!(first.window(), config.base_window);
    let mut last = first;
    for _ in 1..2000 {
        last = RecvWindow::new(&config, &mut budget, FRAME);
    }
    assert!((config.min_window..config.min_window + 2 * KIB).contains(&last.window()));
    assert!(budget.promised() <= config.budget + 2000 * u64::from(config.min_window));
}

#[test]
fn growth_leaves_something_to_others() {
    let config = Config { budget: 8 << 20, ..Config::default() };
    let mut it = Fixture::with(&config);
    for now in 0..100 {
        it.round(millis(now * 100), millis(now * 100));
    }
    assert_eq!(it.window.window(), 4 << 20, "eight would be everything");
    let newcomer = RecvWindow::new(&config, &mut it.budget, FRAME);
    assert_eq!(newcomer.window(), config.base_window);
}

#[test]
fn under_pressure_a_large_window_gives_way_to_newcomers() {
    let config = Config { budget: 8 << 20, ..Config::default() };
    let mut it = Fixture::with(&config);
    let mut now = 0;
    while it.window.window() < 4 << 20 {
        it.round(millis(now), millis(now));
        now += 100;
    }
    let newcomers: Vec<_> = (0..63).map(|_| RecvWindow::new(&config, &mut it.budget, FRAME)).collect();
    assert!(newcomers.iter().all(|newcomer| newcomer.window() >= config.min_window));
    for _ in 0..10 {
        it.receive(millis(now), u32::try_from(it.window.credit()).expect("a window is a u32"));
        it.consume(u32::try_from(it.window.backlog()).expect("a window is a u32"));
        it.grant(millis(now));
    }
    assert_eq!(it.window.window(), 2 << 20, "half of it was enough");
    assert!(!it.budget.is_pressed());
}

#[test]
fn a_window_that_gives_way_grants_nothing_that_is_not_worth_a_message() {
    let config = Config { budget: 1 << 20, base_window: 64 * KIB, ..Config::default() };
    let mut it = Fixture::with(&config);
    it.round(millis(100), millis(100));
    it.receive(millis(200), 1);
    it.consume(1);
    assert_eq!((it.window.window(), it.grant(millis(200))), (128 * KIB, u64::from(64 * KIB + 1)));
    while !it.budget.is_pressed() {
        let _window = RecvWindow::new(&config, &mut it.budget, FRAME);
    }
    it.receive(millis(201), 70 * KIB);
    it.consume(70 * KIB);
    assert!(it.window.due().is_some());
    assert_eq!(it.grant(millis(201)), 0, "six of seventy are left to grant");
    assert_eq!((it.window.window(), it.window.due()), (64 * KIB, None));
}

/// h2 334: what a channel held comes back when its reader is dropped with unread data.
#[test]
fn a_channel_that_goes_gives_everything_back() {
    let mut it = Fixture::new(256 * KIB);
    it.receive(millis(0), 200 * KIB);
    it.window.release(&mut it.budget);
    assert_eq!(it.budget.promised(), 0);
}
