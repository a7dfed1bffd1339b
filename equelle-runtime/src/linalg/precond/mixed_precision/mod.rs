//! Multigrid in single precision: a criterion for matrices, and the cycle on the host. Levels take
//! half the memory and half the traffic. The Krylov method around the cycle stays in double
//! precision and meets the tolerance there; rounding only makes the cycle another approximate
//! inverse.
//!
//! Another back-end provides a [`crate::linalg::MatrixSpace`] with vectors and matrices in single
//! precision, into which it copies a hierarchy that was set up in double precision, and a
//! preconditioner like [`MixedPrecisionAmg`], which converts at both ends of a cycle. Cycle and
//! smoothers are written once over both.
//!
//! Single precision spans 1e-38 to 1e38, so matrices and residuals are scaled by powers of two,
//! which round nothing.

pub(in crate::linalg) mod matrix;
pub(in crate::linalg) mod space;

use std::cell::RefCell;

use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::scaling::power_of_two_near;
use crate::linalg::precond::amg::noise::noises;
use crate::linalg::precond::amg::setup::CoarseParts;
use crate::linalg::precond::amg::spectrum::lanczos;
use crate::linalg::precond::amg::{Amg, AmgOptions, AmgSmoother, Hierarchy, LevelParts};
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::vector_space::Preconditioner;
use crate::threads::Threads;
use matrix::F32Matrix;
use space::F32Space;

/// Largest ratio of diagonal magnitudes: single precision keeps the same margin on either side for
/// intermediate results.
const RANGE: f64 = 1e12;

/// True if the smoother suits a cycle in single precision: a polynomial is bound by memory traffic,
/// Gauss-Seidel by dependencies.
pub fn suits(options: &AmgOptions) -> bool {
    match options.smoothing().0 {
        AmgSmoother::Jacobi | AmgSmoother::Chebyshev => true,
        AmgSmoother::GaussSeidel => false,
    }
}

/// The power of two that scales a matrix into the range of single precision, from the least and the
/// largest nonzero magnitude of its diagonal (infinity and 0 if there are none); `None` if they are
/// too far apart.
pub fn scale_of(least: f64, most: f64) -> Option<f64> {
    let is_within = most.is_finite() && most <= RANGE * least;
    power_of_two_near(&[most]).filter(|_| is_within).map(|size| 1.0 / size)
}

/// A multigrid cycle whose levels are in single precision.
pub(in crate::linalg) struct MixedPrecisionAmg {
    amg: Amg<F32Space>,
    /// Factor of the matrix.
    scale: f64,
    work: RefCell<Work>,
}

struct Work {
    space: F32Space,
    r: Vec<f32>,
    z: Vec<f32>,
}

impl MixedPrecisionAmg {
    /// True if single precision is enough: the smoother is a polynomial, and the diagonal within
    /// range.
    pub fn suits(matrix: &Csr, options: &AmgOptions) -> bool {
        suits(options) && is_within_range(matrix, &matrix.diagonal())
    }

    /// True if 32 bits can count the entries of every matrix of a hierarchy.
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

    /// Takes a hierarchy of a matrix that is [suitable](MixedPrecisionAmg::suits) and [small
    /// enough](MixedPrecisionAmg::counts).
    pub fn new(space: &HostSpace, hierarchy: Hierarchy<HostSpace>, options: &AmgOptions) -> MixedPrecisionAmg {
        let diagonal = |level: &LevelParts<HostSpace>| power_of_two_near(&level.matrix.rows().diagonal());
        let finest = match (hierarchy.levels.first(), &hierarchy.coarse) {
            (Some(level), _) => diagonal(level),
            (None, CoarseParts::Smoothed(level)) => diagonal(level),
            // The dense inverse of the only level.
            (None, CoarseParts::Direct(inverse)) => power_of_two_near(inverse.rows().values()).map(|size| 1.0 / size),
        };
        let scale = 1.0 / finest.unwrap_or(1.0);
        let n = hierarchy.sizes.first().copied().unwrap_or(0);
        let mut singles = F32Space::of(space, n);
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

    /// Runs a cycle on `r`. The result is `work.z` times the returned number. `size` is about the
    /// size of `r`, if known.
    fn cycle(&self, space: &mut HostSpace, work: &mut Work, r: &[f64], size: Option<f64>) -> f64 {
        let size = unit_of(size, || {
            space.traffic.each(r.len(), 8);
            largest(r)
        });
        let Work { space: singles, r: narrow, z } = work;
        to_single_precision(space.threads(), narrow, r, 1.0 / size);
        self.amg.apply(singles, z, narrow);
        // The conversion of `r`, and the cycle.
        space.traffic.each(r.len(), 8 + singles.traffic.written());
        space.traffic.add(singles.traffic.take());
        size * self.scale
    }

    /// The result of a cycle on `r`, and its dot product with `r`.
    fn product(&self, space: &mut HostSpace, z: &mut [f64], r: &[f64], size: Option<f64>) -> f64 {
        let work = &mut *self.work.borrow_mut();
        let factor = self.cycle(space, work, r, size);
        space.traffic.each(r.len(), 4 + space.traffic.read() + space.traffic.written());
        let made = &work.z[..];
        space.update_sums(z, |range, z, products| {
            for (((product, z), made), r) in products.iter_mut().zip(z).zip(&made[range.clone()]).zip(&r[range]) {
                *z = f64::from(*made) * factor;
                *product = r * *z;
            }
        })
    }
}

impl Preconditioner<HostSpace> for MixedPrecisionAmg {
    fn apply(&self, space: &mut HostSpace, z: &mut Vec<f64>, r: &Vec<f64>) {
        let work = &mut *self.work.borrow_mut();
        let factor = self.cycle(space, work, r, None);
        space.traffic.each(r.len(), 4 + space.traffic.written());
        let made = &work.z[..];
        to_double_precision(space.threads(), z, made, factor);
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

    /// The norm is at least the largest magnitude and at most the root of the length times that.
    fn apply_dot_with_norm(&self, space: &mut HostSpace, z: &mut Vec<f64>, r: &Vec<f64>, square: &f64) -> f64 {
        self.product(space, z, r, Some(square.sqrt()))
    }
}

/// A power of two near the size of a residual, which is about `size` if that is known; 1 for a
/// residual that is 0 or not finite, and stays so.
pub(in crate::linalg) fn unit_of(size: Option<f64>, largest: impl FnOnce() -> f64) -> f64 {
    let size = size.filter(|size| size.is_normal()).unwrap_or_else(largest);
    if size > 0.0 && size.is_finite() { power_of_two_near(&[size]).unwrap_or(1.0) } else { 1.0 }
}

/// `single[i] = factor * x[i]`
pub(in crate::linalg) fn to_single_precision(threads: &Threads, single: &mut [f32], x: &[f64], factor: f64) {
    threads.each_cheap(x.len(), single, |range, single| {
        single.iter_mut().zip(&x[range]).for_each(|(single, x)| *single = (x * factor) as f32);
    });
}

/// `x[i] = factor * single[i]`
pub(in crate::linalg) fn to_double_precision(threads: &Threads, x: &mut [f64], single: &[f32], factor: f64) {
    threads.each_cheap(x.len(), x, |range, x| {
        x.iter_mut().zip(&single[range]).for_each(|(x, single)| *x = f64::from(*single) * factor);
    });
}

fn narrow(level: LevelParts<HostSpace>, scale: f64) -> LevelParts<F32Space> {
    let matrix = F32Matrix::for_level(level.matrix.rows(), scale);
    let keeps_image = !matrix.is_by_diagonals();
    convert_level(level, matrix, keeps_image, scale, |matrix, factor| F32Matrix::new(matrix.rows(), factor))
}

/// A level whose matrix times `scale` is `matrix`, with other matrices by `convert`, which also
/// takes their factor. Where a level has its matrix by diagonals, a pass over that is cheaper than
/// one over the image of its prolongation.
pub(in crate::linalg) fn convert_level<S: MatrixSpace<Vector = Vec<f64>>, T: MatrixSpace<Vector = Vec<f32>>>(
    level: LevelParts<S>,
    matrix: T::Matrix,
    keeps_image: bool,
    scale: f64,
    convert: impl Fn(&S::Matrix, f64) -> T::Matrix,
) -> LevelParts<T> {
    LevelParts {
        matrix,
        image: level.image.filter(|_| keeps_image).map(|image| convert(&image, scale)),
        prolongation: convert(&level.prolongation, 1.0),
        restriction: convert(&level.restriction, 1.0),
        inverse_diagonal: level.inverse_diagonal.into_iter().map(|d| (d / scale) as f32).collect(),
        radius: level.radius,
    }
}

/// The least and the largest nonzero magnitude of a diagonal; infinity and 0 if there are none.
pub(in crate::linalg) fn range_of(diagonal: &[f64]) -> (f64, f64) {
    let sizes = diagonal.iter().map(|d| d.abs()).filter(|size| *size > 0.0);
    sizes.fold((f64::INFINITY, 0.0f64), |(least, most), size| (least.min(size), most.max(size)))
}

/// True if the magnitudes of a diagonal fit single precision, and 32 bits can count the entries.
fn is_within_range(matrix: &Csr, diagonal: &[f64]) -> bool {
    let (least, most) = range_of(diagonal);
    scale_of(least, most).is_some() && u32::try_from(matrix.n_entries()).is_ok()
}

/// [`crate::linalg::precond::amg::spectrum::spectral_radius`] of a symmetric matrix in single
/// precision; `None` if it is out of range.
pub(in crate::linalg) fn radius_f32(space: &HostSpace, matrix: &Csr, inverse: &[f64]) -> Option<f64> {
    let n = matrix.n_rows();
    if !is_within_range(matrix, inverse) {
        return None;
    }
    let scale = power_of_two_near(inverse)?;
    let mut singles = F32Space::of(space, n);
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
