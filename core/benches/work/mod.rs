//! What is measured: the same work for the clock and for the allocator.

mod codec;
mod turn;

/// Frames of one run of any work: the nanoseconds of a run are the picoseconds of a frame.
pub(crate) const FRAMES: usize = 1000;

/// Something that handles [`FRAMES`] frames each time it is run.
pub(crate) struct Work {
    /// In reports.
    pub(crate) name: &'static str,
    /// Handles the frames; everything that is needed once was made before.
    pub(crate) run: Box<dyn FnMut()>,
}

impl Work {
    fn new(name: &'static str, run: impl FnMut() + 'static) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// All works, in the order of the report.
pub(crate) fn all() -> Vec<Work> {
    codec::works().into_iter().chain(turn::works()).collect()
}
