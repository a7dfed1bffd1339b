//! Multigrid in single precision: which matrices it suits, and the cycle on the host. The levels take half the memory, and so do the passes over them. The iterative method around the cycle stays in double
//! precision and meets the tolerance there; what a cycle rounds makes it another approximate inverse.
//!
//! Another back-end joins with a [`crate::linalg::MatrixSpace`] whose vectors and matrices are of singles, to which a hierarchy goes that was set up in double precision, and with a preconditioner
//! like [`MixedPrecisionAmg`], which converts at both ends of a cycle. Cycle and smoothers are written once, over either.
//!
//! Singles reach from 1e-38 to 1e38, so matrices and residuals are scaled by powers of two, which rounds nothing.

mod matrix;
mod space;

use std::cell::RefCell;

use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::scaling::power_of_two_near;
use crate::linalg::precond::amg::noise::noises;
use crate::linalg::precond::amg::setup::CoarseParts;
use crate::linalg::precond::amg::spectrum::lanczos;
use crate::linalg::precond::amg::{Amg, AmgOptions, AmgSmoother, Hierarchy, LevelParts};
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::vector_space::Preconditioner;
use matrix::F32Matrix;
use space::F32Space;

/// Magnitudes of diagonals may differ by this factor: singles then have as much again for what is computed of them on either side.
const RANGE: f64 = 1e12;

/// Whether a cycle may be of singles, as far as its smoother goes: a polynomial passes over matrices and waits for memory, sweeps of Gauss-Seidel wait for each other.
pub fn suits(options: &AmgOptions) -> bool {
    match options.smoothing().0 {
        AmgSmoother::Jacobi | AmgSmoother::Chebyshev => true,
        AmgSmoother::GaussSeidel => false,
    }
}

/// The power of two by which a matrix is to be multiplied so that singles hold a cycle for it, by the least and the largest magnitude of its diagonal but for zeros (infinity and 0 if
/// there are no others); `None` if numbers of these sizes are not within their range.
pub fn scale_of(least: f64, most: f64) -> Option<f64> {
    let is_within = most.is_finite() && most <= RANGE * least;
    power_of_two_near(&[most]).filter(|_| is_within).map(|size| 1.0 / size)
}

/// A cycle whose levels are in single precision.
pub(in crate::linalg) struct MixedPrecisionAmg {
    amg: Amg<F32Space>,
    /// By which the matrix was multiplied.
    scale: f64,
    work: RefCell<Work>,
}

struct Work {
    space: F32Space,
    r: Vec<f32>,
    z: Vec<f32>,
}

impl MixedPrecisionAmg {
    /// Whether singles will do: a polynomial smooths, and the diagonal is within their range.
    pub fn suits(matrix: &Csr, options: &AmgOptions) -> bool {
        suits(options) && is_within_range(matrix, &matrix.diagonal())
    }

    /// Whether 32 bits count the entries of every matrix of a hierarchy, as those of singles do.
    pub fn counts(hierarchy: &Hierarchy<HostSpace>) -> bool {
        let of_level = |level: &LevelParts<HostSpace>| {
            let matrices = [Some(&level.matrix), level.image.as_ref(), Some(&level.prolongation), Some(&level.restriction)];
            matrices.into_iter().flatten().all(|matrix| u32::try_from(matrix.rows().n_entries()).is_ok())
        };
        let coarse = match &hierarchy.coarse {
            CoarseParts::Direct(inverse) => u32::try_from(inverse.rows().n_entries()).is_ok(),
            CoarseParts::Smoothed(level) => of_level(level),
        };
        coarse && hierarchy.levels.iter().all(of_level)
    }

    /// Takes over a hierarchy for a matrix that [suits](MixedPrecisionAmg::suits), and whose entries 32 bits [count](MixedPrecisionAmg::counts).
    pub fn new(space: &HostSpace, hierarchy: Hierarchy<HostSpace>, options: &AmgOptions) -> MixedPrecisionAmg {
        let diagonal = |level: &LevelParts<HostSpace>| power_of_two_near(&level.matrix.rows().diagonal());
        let finest = match (hierarchy.levels.first(), &hierarchy.coarse) {
            (Some(level), _) => diagonal(level),
            (None, CoarseParts::Smoothed(level)) => diagonal(level),
            // An inverse.
            (None, CoarseParts::Direct(inverse)) => power_of_two_near(inverse.rows().values()).map(|size| 1.0 / size),
        };
        let scale = 1.0 / finest.unwrap_or(1.0);
        let n = hierarchy.sizes.first().copied().unwrap_or(0);
        let mut singles = F32Space::on(space.threads(), n);
        let hierarchy = Hierarchy {
            levels: hierarchy.levels.into_iter().map(|level| narrow(level, scale)).collect(),
            coarse: match hierarchy.coarse {
                CoarseParts::Direct(inverse) => CoarseParts::Direct(F32Matrix::new(inverse.rows(), 1.0 / scale)),
                CoarseParts::Smoothed(level) => CoarseParts::Smoothed(Box::new(narrow(*level, scale))),
            },
            sizes: hierarchy.sizes,
            complexity: hierarchy.complexity,
        };
        let Ok(amg) = Amg::new(&mut singles, hierarchy, options);
        MixedPrecisionAmg { amg, scale, work: RefCell::new(Work { space: singles, r: vec![0.0; n], z: vec![0.0; n] }) }
    }

    /// Runs a cycle on `r`; then `work.z` times the number that is returned is what it makes of it.
    /// `size` is about the size of `r`, if that is known.
    fn cycle(&self, space: &HostSpace, work: &mut Work, r: &[f64], size: Option<f64>) -> f64 {
        let size = size.filter(|size| size.is_normal()).unwrap_or_else(|| largest(r));
        // What is not finite stays so.
        let size = if size > 0.0 && size.is_finite() { power_of_two_near(&[size]).unwrap_or(1.0) } else { 1.0 };
        let inverse = 1.0 / size;
        let Work { space: singles, r: narrow, z } = work;
        space.threads().each_cheap(r.len(), &mut narrow[..], |range, narrow| {
            narrow.iter_mut().zip(&r[range]).for_each(|(narrow, r)| *narrow = (r * inverse) as f32);
        });
        self.amg.apply(singles, z, narrow);
        size * self.scale
    }

    /// What a cycle makes of `r`, and its product with that.
    fn product(&self, space: &mut HostSpace, z: &mut [f64], r: &[f64], size: Option<f64>) -> f64 {
        let work = &mut *self.work.borrow_mut();
        let factor = self.cycle(space, work, r, size);
        let made = &work.z[..];
        space.update_sum(z, |k, z| {
            *z = f64::from(made[k]) * factor;
            r[k] * *z
        })
    }
}

impl Preconditioner<HostSpace> for MixedPrecisionAmg {
    fn apply(&self, space: &mut HostSpace, z: &mut Vec<f64>, r: &Vec<f64>) {
        let work = &mut *self.work.borrow_mut();
        let factor = self.cycle(space, work, r, None);
        let made = &work.z[..];
        space.threads().each_cheap(z.len(), &mut z[..], |range, z| {
            z.iter_mut().zip(&made[range]).for_each(|(z, made)| *z = f64::from(*made) * factor);
        });
    }

    fn is_variable(&self) -> bool {
        self.amg.is_variable()
    }

    fn is_rounded(&self) -> bool {
        true
    }

    fn apply_dot(&self, space: &mut HostSpace, z: &mut Vec<f64>, r: &Vec<f64>) -> f64 {
        self.product(space, z, r, None)
    }

    /// The norm is at least the largest magnitude, and larger by the root of the length at most.
    fn apply_dot_with_norm(&self, space: &mut HostSpace, z: &mut Vec<f64>, r: &Vec<f64>, square: &f64) -> f64 {
        self.product(space, z, r, Some(square.sqrt()))
    }
}

fn narrow(level: LevelParts<HostSpace>, scale: f64) -> LevelParts<F32Space> {
    let matrix = F32Matrix::for_level(level.matrix.rows(), scale);
    // By diagonals a pass over the matrix takes less than one over the image of the prolongation.
    let image = level.image.filter(|_| !matrix.is_by_diagonals());
    LevelParts {
        image: image.map(|image| F32Matrix::new(image.rows(), scale)),
        matrix,
        prolongation: F32Matrix::new(level.prolongation.rows(), 1.0),
        restriction: F32Matrix::new(level.restriction.rows(), 1.0),
        inverse_diagonal: level.inverse_diagonal.into_iter().map(|d| (d / scale) as f32).collect(),
        radius: level.radius,
    }
}

/// Whether numbers of the size of a diagonal are within the range of singles, and entries can be counted.
fn is_within_range(matrix: &Csr, diagonal: &[f64]) -> bool {
    let sizes = diagonal.iter().map(|d| d.abs()).filter(|size| *size > 0.0);
    let (least, most) = sizes.fold((f64::INFINITY, 0.0f64), |(least, most), size| (least.min(size), most.max(size)));
    scale_of(least, most).is_some() && u32::try_from(matrix.n_entries()).is_ok()
}

/// [`crate::linalg::precond::amg::spectrum::spectral_radius`] for a symmetric matrix, by the same steps; `None` if it is not within the range of singles.
pub(in crate::linalg) fn radius_in_singles(space: &HostSpace, matrix: &Csr, inverse: &[f64]) -> Option<f64> {
    let n = matrix.n_rows();
    if !is_within_range(matrix, inverse) {
        return None;
    }
    let scale = power_of_two_near(inverse)?;
    let mut singles = F32Space::on(space.threads(), n);
    let narrow = F32Matrix::for_level(matrix, scale);
    let start = noises(n).zip(inverse).map(|(noise, d)| if *d > 0.0 { (noise / (d / scale).sqrt()) as f32 } else { 0.0 }).collect();
    let inverse = inverse.iter().map(|d| (d / scale) as f32).collect();
    let Ok(radius) = lanczos(&mut singles, &narrow, &inverse, start);
    Some(radius)
}

/// Largest magnitude.
fn largest(x: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut most = [0.0f64; LANES];
    let (whole, rest) = x.as_chunks::<LANES>();
    for chunk in whole {
        most.iter_mut().zip(chunk).for_each(|(most, x)| *most = if x.abs() > *most { x.abs() } else { *most });
    }
    most.iter().chain(rest).fold(0.0, |most: f64, x| most.max(x.abs()))
}
