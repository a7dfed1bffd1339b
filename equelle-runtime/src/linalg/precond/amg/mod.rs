//! Algebraic multigrid by smoothed aggregation: levels (`hierarchy`), their set-up ([`setup`], on
//! the host `host`) and cycles over the operations of a back-end.
//!
//! P. Vanek, J. Mandel and M. Brezina, Algebraic multigrid by smoothed aggregation for second and
//! fourth order elliptic problems, Computing 56 (1996), doi:10.1007/BF02238511. K-cycle: Y. Notay
//! and P. S. Vassilevski, Recursive Krylov-based multigrid cycles, Numer. Linear Algebra Appl. 15
//! (2008), doi:10.1002/nla.542. Chebyshev smoother: M. Adams, M. Brezina, J. Hu and R. Tuminaro,
//! Parallel multigrid smoothing: polynomial versus Gauss-Seidel, J. Comput. Phys. 188 (2003),
//! doi:10.1016/S0021-9991(03)00194-3. Unknown-based treatment of systems, where aggregates never
//! mix fields: T. Clees, AMG strategies for PDE systems with applications in industrial
//! semiconductor simulation, dissertation, University of Cologne, 2005.
//!
//! The near null space is the constant of each field, as finite-volume matrices have it.

pub(in crate::linalg) mod aggregate;
pub(in crate::linalg) mod coarsest;
mod cycle;
mod hierarchy;
pub(in crate::linalg) mod host;
pub(in crate::linalg) mod noise;
pub mod setup;
mod smoother;
pub mod spectrum;

pub use cycle::Amg;
pub use hierarchy::{Coarsen, Coarsened, Hierarchy, LevelParts};

/// The smoother, which reduces the error that coarse levels do not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmgSmoother {
    /// Damped Jacobi.
    Jacobi,
    /// A Chebyshev polynomial in `D^-1 A`; its degree is [`AmgOptions::sweeps`]. For real spectra:
    /// not for transport.
    Chebyshev,
    /// Gauss-Seidel, forward before and backward after the coarse correction, which is symmetric.
    GaussSeidel,
}

impl AmgSmoother {
    /// All smoothers.
    pub const ALL: [AmgSmoother; 3] = [AmgSmoother::Jacobi, AmgSmoother::Chebyshev, AmgSmoother::GaussSeidel];

    /// The value of the parameter `amg_smoother`.
    pub fn key(self) -> &'static str {
        match self {
            AmgSmoother::Jacobi => "jacobi",
            AmgSmoother::Chebyshev => "chebyshev",
            AmgSmoother::GaussSeidel => "gauss_seidel",
        }
    }
}

/// The order in which a cycle visits levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AmgCycle {
    /// Each level once.
    #[default]
    V,
    /// Each coarse level is solved by two iterations of a Krylov method that the next level
    /// preconditions.
    K,
}

impl AmgCycle {
    /// All cycles.
    pub const ALL: [AmgCycle; 2] = [AmgCycle::V, AmgCycle::K];

    /// The value of the parameter `amg_cycle`.
    pub fn key(self) -> &'static str {
        match self {
            AmgCycle::V => "v",
            AmgCycle::K => "k",
        }
    }
}

/// The order in which rows become roots of aggregates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Row by row: the aggregates of a grid are regular. On the host only.
    #[default]
    InOrder,
    /// In pseudo-random order, which can run in parallel.
    Scattered,
}

/// Options of set-up and cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmgOptions {
    /// True if the matrix is symmetric with a positive diagonal; the cycle then is too.
    pub symmetric: bool,
    /// True if the matrix is singular up to a constant per connected component, so that the
    /// coarsest one is singular up to round-off.
    pub singular: bool,
    /// Couplings above this part of the largest ones of their rows are strong.
    pub strength: f64,
    /// Factor of `strength` from level to level.
    pub strength_factor: f64,
    /// Order of aggregation on the host; a device uses [`Grouping::Scattered`].
    pub grouping: Grouping,
    /// True if prolongations are smoothed; else plain aggregation.
    pub smoothed: bool,
    /// Damping of the smoothed prolongation, divided by the spectral radius.
    pub prolongation_damping: f64,
    /// The smoother; `None` selects a polynomial for a symmetric matrix, else Gauss-Seidel.
    pub smoother: Option<AmgSmoother>,
    /// Sweeps before and after the coarse correction, or the degree of the polynomial; `None`
    /// selects 1 for Gauss-Seidel and 2 for the others.
    pub sweeps: Option<usize>,
    /// The cycle.
    pub cycle: AmgCycle,
    /// Unknowns below which a level is solved directly.
    pub coarse_size: usize,
    /// Largest number of levels, without the coarsest.
    pub max_levels: usize,
}

impl Default for AmgOptions {
    fn default() -> Self {
        AmgOptions {
            symmetric: true,
            singular: false,
            strength: 0.1,
            strength_factor: 1.0,
            grouping: Grouping::default(),
            smoothed: true,
            prolongation_damping: 4.0 / 3.0,
            smoother: None,
            sweeps: None,
            cycle: AmgCycle::default(),
            coarse_size: 128,
            max_levels: 25,
        }
    }
}

impl AmgOptions {
    /// The smoother and its sweeps, at least 1.
    pub fn smoothing(&self) -> (AmgSmoother, usize) {
        let smoother = self.smoother.unwrap_or(if self.symmetric { AmgSmoother::Chebyshev } else { AmgSmoother::GaussSeidel });
        let usual = match smoother {
            AmgSmoother::Jacobi | AmgSmoother::Chebyshev => 2,
            AmgSmoother::GaussSeidel => 1,
        };
        (smoother, self.sweeps.unwrap_or(usual).max(1))
    }
}
