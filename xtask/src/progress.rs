//! One line for a long piece of work: a spinner with the latest news, then what it came to.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// A named piece of work under way.
///
/// On a terminal the last line shows how long it has been running and what it is at; elsewhere only
/// [`Progress::print`] and [`Progress::finish`] appear.
pub(crate) struct Progress {
    name: String,
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    /// Starts the clock.
    pub(crate) fn start(name: &str) -> Self {
        let style = ProgressStyle::with_template("  {spinner}    {prefix:10} {elapsed:>6}  {wide_msg}")
            .expect("the template is constant");
        let bar = ProgressBar::new_spinner().with_style(style).with_prefix(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { name: name.to_owned(), bar, started: Instant::now() }
    }

    /// Replaces the news behind the spinner.
    pub(crate) fn news(&self, line: &str) {
        self.bar.set_message(line.trim().to_owned());
    }

    /// Prints a line that stays.
    pub(crate) fn print(&self, line: &str) {
        self.bar.suspend(|| println!("{line}"));
    }

    /// Ends the work with one line: its verdict, name, seconds and a note.
    pub(crate) fn finish(self, verdict: &str, note: &str) {
        self.bar.finish_and_clear();
        let seconds = self.started.elapsed().as_secs_f64();
        let line = format!("  {verdict:4} {:10} {seconds:6.1} s  {note}", self.name);
        println!("{}", line.trim_end());
    }
}
