//! Two sound sides, and any order of what their applications, their drivers and the path between them do.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use bytes::Bytes;
use muxgate_core::frame::{ChannelId, ReasonCode};
use muxgate_core::session::{Event, Readiness};
use muxgate_core::{Config, CreditPolicy, Timestamp};

use crate::content;
use crate::side::{End, Side};

/// More turns than any sound pair needs to come to rest.
const MAX_TURNS: usize = 100_000;

/// Whatever happened, what was written arrives, in order and once; nobody waits for something that has happened; and
/// nothing is left when everybody has gone.
pub(crate) fn run(input: &[u8]) {
    let mut choices = Unstructured::new(input);
    let Ok(mut pair) = Pair::new(&mut choices) else { return };
    while !choices.is_empty() && pair.step(&mut choices).is_ok() {
        pair.check();
    }
    pair.come_to_rest();
    pair.check_that_everything_arrived();
    pair.let_go();
    pair.come_to_rest();
    pair.check_that_nothing_is_left();
}

/// One direction of a channel, as both applications saw it.
#[derive(Debug, Default)]
struct Stream {
    written: u64,
    finished: bool,
    read: u64,
    /// Somebody reset the channel or does not read to the end: bytes may be missing.
    broken: bool,
}

struct Pair {
    config: Config,
    now: Timestamp,
    sides: [Side; 2],
    /// By [`End::own`] of the writing end.
    streams: BTreeMap<u64, Stream>,
    channels: u64,
    /// An open ran out of time or was given up, so that a late answer is a glitch.
    late: bool,
}

impl Pair {
    fn new(choices: &mut Unstructured<'_>) -> Result<Self> {
        let config = config(choices)?;
        let sides = [Side::new(&config), Side::new(&config)];
        Ok(Self { config, now: Timestamp::ZERO, sides, streams: BTreeMap::new(), channels: 0, late: false })
    }

    fn step(&mut self, choices: &mut Unstructured<'_>) -> Result<()> {
        let choice: u8 = choices.arbitrary()?;
        let index = usize::from(choice & 1);
        match choice >> 1 & 15 {
            0 => self.open(index),
            1 => self.answer(index, choices.arbitrary()?),
            2 | 3 => self.write(index, choices.arbitrary()?, choices.arbitrary()?),
            4 | 5 => self.read(index, choices.arbitrary()?, choices.arbitrary()?),
            6 | 7 => self.sides[index].transmit(self.now, choices.arbitrary()?, choices.arbitrary()?),
            8..=10 => self.deliver(index, choices.arbitrary::<u16>()?.into()),
            11 => self.end(index, choices.arbitrary()?, choices.arbitrary()?),
            12 | 13 => self.open_goes_on(index, choice >> 1 & 1 == 0),
            14 => self.wait(choices.arbitrary()?),
            _ => self.come_to_rest(),
        }
        self.sides.iter_mut().for_each(Side::settle);
        Ok(())
    }

    fn open(&mut self, index: usize) {
        let channel = self.channels;
        let destination = format!("tcp://c{channel}:1").parse().expect("a destination");
        if let Ok(id) = self.sides[index].session.open(destination) {
            self.channels += 1;
            self.sides[index].opening.insert(id, (channel, false));
            self.streams.extend([(2 * channel, Stream::default()), (2 * channel + 1, Stream::default())]);
        }
    }

    /// The first of the opens that are on their way is given up, or asked for.
    fn open_goes_on(&mut self, index: usize, give_up: bool) {
        match self.sides[index].opening.first_key_value() {
            Some((&id, _)) if give_up => self.give_up(index, id),
            Some((&id, _)) => self.ask(index, id),
            None => {}
        }
    }

    /// Polls an open: it may be decided.
    fn ask(&mut self, index: usize, id: ChannelId) {
        let side = &mut self.sides[index];
        let Some((channel, waits)) = side.opening.get_mut(&id) else { return };
        match side.session.opening(id) {
            None => *waits = true,
            Some(Ok(())) => {
                side.ends.insert(id, End::new(2 * *channel, 2 * *channel + 1));
                side.opening.remove(&id);
            }
            Some(Err(_)) => self.give_up(index, id),
        }
    }

    fn give_up(&mut self, index: usize, id: ChannelId) {
        let side = &mut self.sides[index];
        let Some((channel, _)) = side.opening.remove(&id) else { return };
        side.session.abandon(id);
        self.late = true;
        self.break_off([2 * channel, 2 * channel + 1]);
    }

    fn answer(&mut self, index: usize, accept: u8) {
        let side = &mut self.sides[index];
        let Some((id, destination)) = side.session.next_request() else {
            side.requested = false;
            return;
        };
        let name = destination.host().strip_prefix('c').and_then(|channel| channel.parse().ok());
        let channel: u64 = name.expect("the name that the other side gave it");
        if accept.is_multiple_of(8) {
            return side.session.refuse(id, ReasonCode::HostUnreachable, "as planned");
        }
        side.session.accept(id).expect("the session lives");
        side.ends.insert(id, End::new(2 * channel + 1, 2 * channel));
    }

    fn write(&mut self, index: usize, lot: u8, len: u16) {
        let Some(id) = self.sides[index].pick(lot) else { return };
        let side = &mut self.sides[index];
        let end = side.ends.get_mut(&id).expect("picked among them");
        if !end.writes {
            return;
        }
        let stream = self.streams.get_mut(&end.own).expect("made with the channel");
        match side.session.room(id) {
            Ok(0) => end.writer_waits = true,
            Ok(room) => {
                let bytes = content::bytes(end.own, stream.written, room.min(len.into()));
                stream.written += bytes.len() as u64;
                let result = if len.is_multiple_of(2) {
                    side.session.write(id, bytes.into())
                } else {
                    side.session.write_copy(id, &bytes)
                };
                result.expect("there is room");
            }
            Err(_) => assert!(stream.finished || stream.broken, "nothing stops this writer"),
        }
    }

    /// Fetches what has arrived, and consumes up to `len` bytes of what was fetched.
    fn read(&mut self, index: usize, lot: u8, len: u16) {
        let Some(id) = self.sides[index].pick(lot) else { return };
        self.fetch(index, id);
        self.sides[index].consume(id, len.into());
    }

    fn fetch(&mut self, index: usize, id: ChannelId) {
        let side = &mut self.sides[index];
        let end = side.ends.get_mut(&id).expect("the end exists");
        if !end.reads {
            return;
        }
        let stream = self.streams.get_mut(&end.other).expect("made with the channel");
        let mut fetched = VecDeque::new();
        match side.session.read(id, &mut fetched) {
            Ok(Readiness::Data) => {
                for piece in &fetched {
                    content::check(end.other, stream.read, piece);
                    stream.read += piece.len() as u64;
                }
                assert!(stream.read <= stream.written);
                end.pieces.append(&mut fetched);
            }
            Ok(Readiness::Blocked) => end.reader_waits = true,
            Ok(Readiness::Eof) => {
                end.ended = true;
                let whole = stream.finished && stream.read == stream.written && !side.session.was_cut_off(id);
                assert!(whole || stream.broken, "not all, and yet the end: {stream:?}");
            }
            Err(error) => unreachable!("both sides are sound: {error}"),
        }
    }

    /// An application ends something.
    fn end(&mut self, index: usize, lot: u8, how: u8) {
        let Some(id) = self.sides[index].pick(lot) else { return };
        let side = &mut self.sides[index];
        let end = side.ends.get_mut(&id).expect("picked among them");
        let (own, other) = (end.own, end.other);
        match how % 6 {
            0..=2 if end.writes => {
                self.streams.get_mut(&own).expect("made with the channel").finished = true;
                match how % 6 {
                    0 => side.session.finish(id),
                    _ => side.drop_writer(id),
                }
            }
            3 | 4 if end.reads => {
                side.drop_reader(id);
                self.break_off([other]);
            }
            5 if end.writes => {
                side.session.reset(id);
                self.break_off([own, other]);
            }
            _ => {}
        }
    }

    fn break_off(&mut self, streams: impl IntoIterator<Item = u64>) {
        for stream in streams {
            self.streams.entry(stream).or_default().broken = true;
        }
    }

    /// So many bytes that are on their way to this side arrive.
    fn deliver(&mut self, index: usize, len: usize) {
        let [first, second] = &mut self.sides;
        let (side, other) = if index == 0 { (first, second) } else { (second, first) };
        let len = len.min(other.wire.len());
        let piece: Bytes = other.wire.split_to(len).freeze();
        side.receive(self.now, piece);
    }

    fn wait(&mut self, seconds: u8) {
        self.now += Duration::from_secs(u64::from(seconds) / 8);
        for side in &mut self.sides {
            if side.session.next_deadline().is_some_and(|deadline| deadline <= self.now) {
                side.session.handle_timeout(self.now);
                side.driver_woken = true;
                self.late = true;
            }
        }
    }

    /// Whoever was woken runs, and everything on its way arrives, until nobody is awake. Whoever was not sleeps on.
    fn come_to_rest(&mut self) {
        for turn in 0.. {
            assert!(turn < MAX_TURNS, "they never come to rest");
            let mut awake = false;
            for index in 0..2 {
                awake |= self.run_side(index);
            }
            if !awake {
                break;
            }
        }
    }

    fn run_side(&mut self, index: usize) -> bool {
        let arrives = self.sides[1 - index].wire.len();
        self.deliver(index, arrives);
        self.sides[index].settle();
        let mut awake = arrives > 0;
        if self.sides[index].driver_woken {
            awake = true;
            self.sides[index].transmit(self.now, true, u16::MAX);
        }
        while self.sides[index].requested {
            awake = true;
            self.answer(index, 1);
        }
        let undecided = self.sides[index].opening.iter().find(|(_, (_, waits))| !waits).map(|(id, _)| *id);
        if let Some(id) = undecided {
            awake = true;
            self.ask(index, id);
        }
        for id in self.sides[index].ends.keys().copied().collect::<Vec<_>>() {
            let end = &self.sides[index].ends[&id];
            if end.reads && !end.reader_waits && !end.ended {
                awake = true;
                self.fetch(index, id);
            }
            self.sides[index].consume(id, usize::MAX);
        }
        self.sides[index].settle();
        awake
    }

    fn check(&self) {
        for side in &self.sides {
            let stats = side.session.stats();
            let bound = self.config.budget + u64::from(stats.channels) * u64::from(self.config.min_window);
            assert!(stats.promised <= bound, "{stats:?}");
            assert!(stats.unread <= stats.promised, "{stats:?}");
            // One that meets a limit is refused, which counts.
            assert!(self.late || stats.glitches <= stats.opens_failed, "both sides are sound: {stats:?}");
        }
    }

    fn check_that_everything_arrived(&self) {
        for side in &self.sides {
            assert!(side.opening.is_empty() || side.opening.values().all(|(_, waits)| *waits));
            for (id, end) in &side.ends {
                let (sent, received) = (&self.streams[&end.own], &self.streams[&end.other]);
                let unsent = side.session.channel_stats(*id).unsent;
                assert!(sent.broken || (unsent == 0 && !end.writer_waits), "{unsent} bytes wait for credit: {sent:?}");
                if end.reads && !received.broken {
                    assert_eq!(received.read, received.written);
                    assert_eq!(end.ended, received.finished);
                }
            }
        }
    }

    fn let_go(&mut self) {
        for index in 0..2 {
            while !self.sides[index].opening.is_empty() {
                self.open_goes_on(index, true);
            }
            for (id, end) in self.sides[index].ends.clone() {
                if end.reads {
                    self.sides[index].drop_reader(id);
                }
                if end.writes {
                    self.sides[index].drop_writer(id);
                }
                self.break_off([end.own, end.other]);
            }
            self.sides[index].settle();
        }
    }

    fn check_that_nothing_is_left(&mut self) {
        // What came in while they let go was accepted: nobody is left to hold it.
        self.let_go();
        self.come_to_rest();
        for side in &self.sides {
            let stats = side.session.stats();
            assert_eq!((stats.channels, stats.promised, stats.unread), (0, 0, 0), "{:#?}", side.session);
        }
    }
}

/// Small limits, so that all of them are met.
fn config(choices: &mut Unstructured<'_>) -> Result<Config> {
    let min_window = choices.int_in_range(1..=4096)?;
    let base_window = min_window * choices.int_in_range(1..=8)?;
    let credit = if choices.ratio(1, 8)? { CreditPolicy::PerMessage } else { CreditPolicy::Batched };
    Ok(Config {
        budget: choices.int_in_range(0..=100_000)?,
        min_window,
        base_window,
        max_window: base_window * choices.int_in_range(1..=8)?,
        send_buffer: choices.int_in_range(1..=20_000)?,
        max_frame: choices.int_in_range(9..=9000)?,
        max_channels: choices.int_in_range(1..=12)?,
        backlog: choices.int_in_range(1..=4)?,
        open_timeout: Duration::from_secs(choices.int_in_range(1..=30)?),
        credit,
        ..Config::default()
    })
}

impl Side {
    /// Takes note of whom the session wakes.
    fn settle(&mut self) {
        while let Some(event) = self.session.poll_event() {
            match event {
                Event::Answered(id) | Event::Readable(id) => {
                    if let Some((_, waits)) = self.opening.get_mut(&id) {
                        *waits = false;
                    } else if let Some(end) = self.ends.get_mut(&id) {
                        end.reader_waits = false;
                    }
                }
                Event::Writable(id) => {
                    if let Some(end) = self.ends.get_mut(&id) {
                        end.writer_waits = false;
                    }
                }
                Event::Requested => self.requested = true,
                Event::Stopped(_) => {}
                Event::Ended => unreachable!("both sides are sound: {:?}", self.session.ended()),
            }
        }
        self.driver_woken |= self.session.take_work();
    }

    fn receive(&mut self, now: Timestamp, mut piece: Bytes) {
        self.driver_woken |= !piece.is_empty();
        while let Some(frame) = self.decoder.decode(&mut piece).expect("the frames are sound") {
            self.session.handle_frame(now, frame).expect("both sides are sound");
        }
    }
}
