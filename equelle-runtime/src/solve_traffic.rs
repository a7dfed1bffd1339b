//! Work of linear solves for `--profile`.

/// Work of iterative methods, without the set-up of their preconditioners.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveTraffic {
    /// Runs of a method.
    pub solves: u64,
    /// Their iterations.
    pub iterations: u64,
    /// Their seconds.
    pub seconds: f64,
    /// Least memory traffic of their kernels, in bytes.
    pub bytes: u64,
}

impl std::ops::AddAssign for SolveTraffic {
    fn add_assign(&mut self, other: SolveTraffic) {
        self.solves += other.solves;
        self.iterations += other.iterations;
        self.seconds += other.seconds;
        self.bytes += other.bytes;
    }
}
