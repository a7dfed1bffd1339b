//! Algebraic multigrid by smoothed aggregation: levels (`hierarchy`), their set-up ([`setup`], on the host `host`) and cycles
//! over the operations of a back-end.
//!
//! P. Vanek, J. Mandel and M. Brezina, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems, Computing
//! 56 (1996), doi:10.1007/BF02238511. K-cycle: Y. Notay and P. S. Vassilevski, Recursive Krylov-based multigrid cycles, Numer. Linear
//! Algebra Appl. 15 (2008), doi:10.1002/nla.542. Chebyshev smoother: M. Adams, M. Brezina, J. Hu and R. Tuminaro, Parallel multigrid
//! smoothing: polynomial versus Gauss-Seidel, J. Comput. Phys. 188 (2003), doi:10.1016/S0021-9991(03)00194-3. Systems are treated unknown
//! by unknown: groups never mix fields (T. Clees, AMG strategies for PDE systems with applications in industrial semiconductor simulation,
//! dissertation, University of Cologne, 2005).
//!
//! The near null space is the constant of each field, which is what finite-volume matrices have.

mod aggregate;
mod coarsest;
mod cycle;
mod hierarchy;
mod host;
pub(super) mod noise;
pub mod setup;
mod smoother;
pub mod spectrum;

pub use cycle::Amg;
pub use hierarchy::{Coarsen, Coarsened, Hierarchy, LevelParts};

/// How the error that coarse levels do not see is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmgSmoother {
    /// Damped Jacobi.
    Jacobi,
    /// A Chebyshev polynomial in `D^-1 A`; its degree is [`AmgOptions::sweeps`]. For real spectra: not for transport.
    Chebyshev,
    /// Gauss-Seidel, forward before and backward after the coarse correction, which is symmetric.
    GaussSeidel,
}

impl AmgSmoother {
    /// All of them.
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

/// How levels are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AmgCycle {
    /// Each level once.
    #[default]
    V,
    /// Each coarse level is solved by two iterations of a Krylov method that the next level preconditions.
    K,
}

impl AmgCycle {
    /// All of them.
    pub const ALL: [AmgCycle; 2] = [AmgCycle::V, AmgCycle::K];

    /// The value of the parameter `amg_cycle`.
    pub fn key(self) -> &'static str {
        match self {
            AmgCycle::V => "v",
            AmgCycle::K => "k",
        }
    }
}

/// In which order rows may begin a group of strongly coupled unknowns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Row by row: the groups of a grid are regular. On the host alone.
    #[default]
    InOrder,
    /// In an order of pseudo-random numbers, for which many rows can be looked at at the same time.
    Scattered,
}

/// How a hierarchy is set up and visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmgOptions {
    /// Whether the matrix is symmetric with a positive diagonal; the cycle then is too.
    pub symmetric: bool,
    /// Whether the level of some unknown is open, so that the coarsest matrix is singular but for round-off.
    pub singular: bool,
    /// Couplings above this part of the largest ones of their rows are strong.
    pub strength: f64,
    /// By which that is multiplied from level to level.
    pub strength_factor: f64,
    /// How groups are formed on the host; a device scatters.
    pub grouping: Grouping,
    /// Whether prolongations are smoothed; plain aggregation otherwise.
    pub smoothed: bool,
    /// Damping of the smoothed prolongation, over the spectral radius.
    pub prolongation_damping: f64,
    /// The smoother; `None` takes a polynomial for a symmetric matrix, and Gauss-Seidel otherwise.
    pub smoother: Option<AmgSmoother>,
    /// Its sweeps before and after the coarse correction, or the degree of the polynomial; `None` takes 1 of Gauss-Seidel and 2 of the others.
    pub sweeps: Option<usize>,
    /// The cycle.
    pub cycle: AmgCycle,
    /// Unknowns below which a level is solved directly.
    pub coarse_size: usize,
    /// Levels at most, without the coarsest.
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
