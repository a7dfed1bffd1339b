//! Steps and times of outputs.

/// Position of a run in its outermost loop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTime {
    /// The round, from 1; 0 before the first.
    pub step: u64,
    /// Sum of the elements of the sequence up to that round, or the Scalar of `time_from`; NaN if
    /// the back-end does not know them.
    pub time: f64,
}
