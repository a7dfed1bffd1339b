//! A linear system prepared for a method: a right-hand side near 1 and in the range of the matrix,
//! and rows that can be compared.
//!
//! # When a system is solved
//!
//! `|b - A x| <= tolerance |b|` in the 2-norm, evaluated from `x` itself ([`Rows::Even`]), if the
//! largest magnitudes of all rows are within [`EVEN_ROWS`] powers of two. Else a row may hide
//! behind others in a larger unit. Then `|D (b - A x)| <= tolerance |D b|`, where `D` brings the
//! largest magnitude of each row to between 1 and 2 ([`inverse_row_scale`]): an entry of `D r` is
//! near the change of the unknown that removes it.
//!
//! * If the rows agree in their unit, as those of a mesh with cells of many sizes, a contrast of
//!   coefficients, or a penalty on the diagonal, the matrix stays as it is and *both* norms are
//!   judged ([`Rows::Weighed`]). The first is about balances: what cells with large entries lose
//!   together is small beside what flows. Neither norm implies the other. Methods that minimise the
//!   2-norm of residuals run on `D A`, with the preconditioner of `A` (`driver/operator.rs`).
//! * If they do not agree, as after a factor for each equation, the first norm means nothing, and
//!   the methods run on `D A x = D b` ([`Rows::Scaled`]): the same bits for all such factors that
//!   are powers of two.
//! * If equations of a system differ in their units, but the rows of each agree, each equation is
//!   first multiplied by a power of two, and what remains is one of the two cases above.
//! * A residual of such rows that is the round-off of their terms counts as solved, whatever the
//!   method (`driver/round_off.rs`): no `x` in double precision has a smaller one.
//!
//! [`EVEN_ROWS`]: crate::linalg::matrix::scaling::EVEN_ROWS
//! [`inverse_row_scale`]: crate::linalg::matrix::scaling::inverse_row_scale

use std::iter::repeat_n;
use std::rc::Rc;

use super::choose::MatrixProperties;
use super::error::{LinearErrorKind, MethodError};
use super::options::LinearOptions;
use crate::linalg::matrix::scaling::{are_uneven, power_of_two_near};
use crate::linalg::null_space::{LeftNullVector, NullSpace};
use crate::linalg::space::system_space::{Inspection, SystemSpace};
use crate::operators::Reduction;

/// Treatment of the rows of a system; `V` holds a power of two for each row.
#[derive(Debug)]
pub enum Rows<V> {
    /// As they are: all have about one size.
    Even,
    /// As they are, but residuals are also judged with these weights.
    Weighed(Rc<V>),
    /// Multiplied by these factors.
    Scaled(Rc<V>),
}

impl<V> Clone for Rows<V> {
    fn clone(&self) -> Self {
        match self {
            Rows::Even => Rows::Even,
            Rows::Weighed(weights) => Rows::Weighed(Rc::clone(weights)),
            Rows::Scaled(factors) => Rows::Scaled(Rc::clone(factors)),
        }
    }
}

/// Weights of rows, and the factor of the norm of the products.
pub(super) type Weights<'a, V> = (&'a V, f64);

/// A system for the methods.
pub(super) struct PreparedSystem<'a, S: SystemSpace> {
    given: &'a S::Matrix,
    /// The matrix in place of the given one: with scaled rows, or without the rounding of entries.
    replaced: Option<S::Matrix>,
    /// Treatment of the given rows.
    pub rows: Rows<S::Vector>,
    /// Weights of the rows of the matrix for the second norm, and the factor of this norm.
    weights: Option<(Rc<S::Vector>, f64)>,
    /// The right-hand side divided by `scale`.
    rhs: S::Vector,
    /// Its part in the range of a singular matrix.
    projected: Option<S::Vector>,
    pub null_space: Rc<NullSpace>,
    /// The null vectors on the device.
    pub vectors: S::NullVectors,
    pub properties: MatrixProperties,
    /// Ends of the blocks of unknowns and equations.
    pub ends: &'a [usize],
    /// The divisor of the right-hand side.
    pub scale: f64,
    /// Norm of `rhs`.
    pub size: f64,
    /// Factors of the rows of the given matrix, if the matrix has others.
    factors: Option<Rc<S::Vector>>,
    /// Factors of the rows of a singular matrix, if they were scaled. `[n]`
    #[cfg(feature = "lu")]
    pub row_scales: Option<Vec<f64>>,
    /// The part outside the range that is left out, which may exceed the tolerance.
    outside: f64,
}

impl<'a, S: SystemSpace> PreparedSystem<'a, S> {
    /// Prepares a system whose right-hand side is finite and not zero; `largest` is its largest
    /// magnitude.
    ///
    /// # Errors
    /// The outer error: the device failed. The inner one: the right-hand side is not in the range.
    pub fn new(
        space: &mut S,
        (matrix, ends): (&'a S::Matrix, &'a [usize]),
        (mut rhs, mut largest): (S::Vector, f64),
        inspection: Inspection,
        options: &LinearOptions,
    ) -> Result<Result<PreparedSystem<'a, S>, MethodError>, S::Error> {
        let Inspection { mut null_space, mut properties, .. } = inspection;
        let Treatment { rows, factors, weights } = treatment(space, (matrix, ends), &null_space, &properties)?;
        let mut replaced = None;
        if let Some(factors) = &factors {
            let matrix = replaced.insert(space.scaled_rows(matrix, factors)?);
            (Inspection { null_space, properties, .. }) = space.inspect(matrix, ends, options.rounding)?;
            multiply_by(space, &mut rhs, factors)?;
            let scaled = space.largest(&rhs);
            [largest] = space.read([&scaled])?;
        }
        // A right-hand side near 1 keeps squares from overflowing; a power of two rounds nothing.
        let scale = power_of_two_near(&[largest]).unwrap_or(1.0);
        let inverse = space.constant(1.0 / scale);
        space.scale(&mut rhs, &inverse);
        let size = norm_of(space, &rhs)?;
        let weights = match weights {
            Some(weights) => {
                let weighted = weighted_norm(space, &rhs, &weights)?;
                Some((weights, if weighted > 0.0 { size / weighted } else { 0.0 }))
            }
            None => None,
        };
        let mut projected = None;
        let mut outside = 0.0;
        let mut row_scales = None;
        if !null_space.is_empty() && options.rounding > f64::EPSILON {
            replaced = Some(space.restored(replaced.as_ref().unwrap_or(matrix), &null_space)?);
            outside = NullSpace::allowed(size, options);
        }
        let vectors = space.null_vectors(&null_space)?;
        if !null_space.is_empty() {
            let values = space.host_vector(&rhs)?;
            if let Some(factors) = &factors {
                row_scales = Some(space.host_vector(factors)?);
            }
            let rows = Balanced { b: &values, size, scale, row_scales: row_scales.as_deref() };
            if let Err(fault) = check_balance(&null_space, rows, options, space) {
                return Ok(Err(fault));
            }
            let b = projected.insert(space.vector(values)?);
            space.to_range(&vectors, b);
        }
        properties.is_range_unknown = !null_space.is_known();
        Ok(Ok(PreparedSystem {
            given: matrix,
            replaced,
            rows,
            weights,
            rhs,
            projected,
            null_space,
            vectors,
            properties,
            ends,
            scale,
            size,
            factors,
            #[cfg(feature = "lu")]
            row_scales,
            outside,
        }))
    }

    /// True if the matrix is the given one with other factors of its rows.
    pub fn has_scaled_rows(&self) -> bool {
        self.factors.is_some()
    }

    /// The properties of the matrix, as text for users.
    pub fn describe(&self) -> String {
        let rows = match (&self.rows, self.has_scaled_rows()) {
            (Rows::Even, _) => "",
            (Rows::Weighed(_), false) => ", residuals also judged with scaled rows",
            (Rows::Weighed(_), true) => ", equations scaled, residuals also judged with scaled rows",
            (Rows::Scaled(_), _) => ", rows scaled",
        };
        format!("{}{rows}", self.properties.describe())
    }

    /// The matrix as it was given.
    pub fn given(&self) -> &S::Matrix {
        self.given
    }

    /// The right-hand side as it was given: all factors are powers of two.
    pub fn given_rhs(&self, space: &mut S) -> Result<S::Vector, S::Error> {
        let mut values = space.host_vector(&self.rhs)?;
        values.iter_mut().for_each(|value| *value *= self.scale);
        if let Some(factors) = &self.factors {
            values.iter_mut().zip(space.host_vector(factors)?).for_each(|(value, factor)| *value /= factor);
        }
        space.vector(values)
    }

    /// The matrix.
    pub fn matrix(&self) -> &S::Matrix {
        self.replaced.as_ref().unwrap_or(self.given)
    }

    /// The scaled right-hand side in the range.
    pub fn b(&self) -> &S::Vector {
        self.projected.as_ref().unwrap_or(&self.rhs)
    }

    /// Weights of the second norm of residuals.
    pub fn weights(&self) -> Option<Weights<'_, S::Vector>> {
        self.weights.as_ref().map(|(weights, factor)| (&**weights, *factor))
    }

    /// The largest residual that a solution may have, in the unit of `size`.
    pub fn allowed(&self, options: &LinearOptions) -> f64 {
        options.tolerance * self.size + self.outside
    }

    /// The larger norm of `b - A x`, computed from `x` itself. The part of `b` outside the range,
    /// which [`check_balance`] has judged, counts in the first norm alone.
    pub fn residual_norm(&self, space: &mut S, x: &S::Vector) -> Result<f64, S::Error> {
        let first = self.norms(space, &self.rhs, x)?;
        match (&self.projected, &self.weights) {
            (Some(projected), Some(_)) => Ok(larger(first[0], self.norms(space, projected, x)?[1])),
            (Some(_) | None, _) => Ok(larger(first[0], first[1])),
        }
    }

    /// The larger norm of `b - A x` for the part of the right-hand side in the range.
    pub fn residual_norm_in_range(&self, space: &mut S, x: &S::Vector) -> Result<f64, S::Error> {
        let [first, second] = self.norms(space, self.b(), x)?;
        Ok(larger(first, second))
    }

    /// Both norms of `b - A x`; 0 for a second one that there is not.
    pub(super) fn norms(&self, space: &mut S, b: &S::Vector, x: &S::Vector) -> Result<[f64; 2], S::Error> {
        let mut r = space.zeros()?;
        space.residual(&mut r, b, self.matrix(), x);
        let norms = self.norms_of(space, &r);
        space.recycle(r);
        norms
    }

    /// Both norms of a residual; 0 for a second one that there is not.
    pub(super) fn norms_of(&self, space: &mut S, r: &S::Vector) -> Result<[f64; 2], S::Error> {
        let first = norm_of(space, r)?;
        let second = match self.weights() {
            Some((weights, weight)) => weight * weighted_norm(space, r, weights)?,
            None => 0.0,
        };
        Ok([first, second])
    }

    /// Returns the memory of vectors to the space.
    pub fn recycle(self, space: &mut S) {
        space.recycle(self.rhs);
        self.projected.into_iter().for_each(|projected| space.recycle(projected));
    }
}

/// Treatment of a system.
struct Treatment<V> {
    /// The treatment of the given rows.
    rows: Rows<V>,
    /// Factors of rows by which the system is multiplied.
    factors: Option<Rc<V>>,
    /// Weights of the rows of the product for the second norm.
    weights: Option<Rc<V>>,
}

impl<V> Treatment<V> {
    fn even() -> Self {
        Treatment { rows: Rows::Even, factors: None, weights: None }
    }

    fn weighed(weights: V) -> Self {
        let weights = Rc::new(weights);
        Treatment { rows: Rows::Weighed(Rc::clone(&weights)), factors: None, weights: Some(weights) }
    }

    fn scaled(factors: V) -> Self {
        let factors = Rc::new(factors);
        Treatment { rows: Rows::Scaled(Rc::clone(&factors)), factors: Some(factors), weights: None }
    }
}

/// Chooses the treatment of the rows of a matrix.
///
/// If a matrix is singular up to a constant, round-off in the balance of all rows remains in each
/// row, however small. Rows therefore get the weights with which they balance, which the left null
/// vector gives. If that vector is not known, or other rows do not agree with it, rows stay as they
/// are.
fn treatment<S: SystemSpace>(
    space: &mut S,
    (matrix, ends): (&S::Matrix, &[usize]),
    null_space: &NullSpace,
    properties: &MatrixProperties,
) -> Result<Treatment<S::Vector>, S::Error> {
    if !properties.has_uneven_rows() {
        return Ok(Treatment::even());
    }
    let scales = space.row_scales(matrix)?;
    let agree = space.rows_agree(matrix, ends)?;
    if null_space.is_empty() && (!agree || ends.len() == 1) {
        return Ok(if agree { Treatment::weighed(scales) } else { Treatment::scaled(scales) });
    }
    if !agree {
        return Ok(Treatment::even());
    }
    let mut weights = space.host_vector(&scales)?;
    if !null_space.is_known() {
        return Ok(Treatment::even());
    }
    let lefts: Vec<&LeftNullVector> = null_space.components.iter().filter_map(|component| component.left.as_ref()).collect();
    let units = |left: &LeftNullVector| -> Vec<(usize, f64)> {
        left.rows.iter().zip(&left.weights).map(|(&row, w)| (row, power_of_two_near(&[*w]).unwrap_or(1.0))).collect()
    };
    let least = |left: &&LeftNullVector| units(left).iter().fold(f64::INFINITY, |least: f64, (row, unit)| least.min(weights[*row] / unit));
    let mut shared: Vec<f64> = lefts.iter().map(least).collect();
    space.combine(Reduction::Min, &mut shared);
    for (left, shared) in lefts.iter().zip(shared) {
        units(left).iter().for_each(|(row, unit)| weights[*row] = shared * unit);
    }
    let Some(factors) = factors_of_equations(space, &weights, ends) else {
        let [least, greatest] = range(space, &weights);
        return Ok(if least < greatest { Treatment::weighed(space.vector(weights)?) } else { Treatment::even() });
    };
    let within: Vec<f64> = weights.iter().zip(&factors).map(|(weight, factor)| weight / factor).collect();
    let [least, greatest] = range(space, &within);
    let factors = space.vector(factors)?;
    if !are_uneven(least, greatest) {
        return Ok(Treatment::scaled(factors));
    }
    let rows = Rows::Weighed(Rc::new(space.vector(weights)?));
    Ok(Treatment { rows, factors: Some(Rc::new(factors)), weights: Some(Rc::new(space.vector(within)?)) })
}

/// The least and the greatest of positive numbers.
fn range<S: SystemSpace>(space: &mut S, numbers: &[f64]) -> [f64; 2] {
    let mut least = [numbers.iter().copied().fold(f64::INFINITY, f64::min)];
    let mut greatest = [numbers.iter().copied().fold(0.0, f64::max)];
    space.combine(Reduction::Min, &mut least);
    space.combine(Reduction::Max, &mut greatest);
    [least[0], greatest[0]]
}

/// A power of two for each equation of a system, the median of the scales of its rows, repeated for
/// these; `None` if all equations have about the same unit. `[rows]`
fn factors_of_equations<S: SystemSpace>(space: &mut S, scales: &[f64], ends: &[usize]) -> Option<Vec<f64>> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let equations: Vec<&[f64]> = starts.zip(ends).map(|(start, &end)| &scales[start..end]).collect();
    let medians: Vec<f64> = equations.iter().map(|scales| median_power(space, scales)).collect();
    let [least, greatest] = [f64::min, f64::max].map(|extreme| medians.iter().copied().fold(medians[0], extreme));
    are_uneven(least, greatest).then(|| equations.iter().zip(medians).flat_map(|(rows, median)| repeat_n(median, rows.len())).collect())
}

/// The median of powers of two; 1 if there are none.
fn median_power<S: SystemSpace>(space: &mut S, powers: &[f64]) -> f64 {
    let exponent = |power: &f64| (power.to_bits() >> 52) as usize;
    let mut counts = [0.0; 1 << 11];
    powers.iter().for_each(|power| counts[exponent(power)] += 1.0);
    space.combine(Reduction::Sum, &mut counts);
    let half = (0.5 * counts.iter().sum::<f64>()).floor();
    let mut seen = 0.0;
    let median = counts.iter().position(|count| {
        seen += count;
        seen > half
    });
    median.map_or(1.0, |exponent| f64::from_bits((exponent as u64) << 52))
}

/// `x_i = x_i s_i`
fn multiply_by<S: SystemSpace>(space: &mut S, x: &mut S::Vector, scales: &S::Vector) -> Result<(), S::Error> {
    let mut product = space.zeros()?;
    space.add_diagonal(&mut product, 0.0, 1.0, scales, x);
    space.copy(x, &product);
    space.recycle(product);
    Ok(())
}

/// 2-norm of a vector whose squares do not overflow.
pub(super) fn norm_of<S: SystemSpace>(space: &mut S, x: &S::Vector) -> Result<f64, S::Error> {
    let square = space.dot(x, x);
    let [square] = space.read([&square])?;
    Ok(square.sqrt())
}

/// 2-norm of the elements times their weights.
fn weighted_norm<S: SystemSpace>(space: &mut S, x: &S::Vector, weights: &S::Vector) -> Result<f64, S::Error> {
    let mut product = space.zeros()?;
    space.add_diagonal(&mut product, 0.0, 1.0, weights, x);
    let norm = norm_of(space, &product);
    space.recycle(product);
    norm
}

/// The larger number; NaN wins.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// The right-hand side of rows that balance.
#[derive(Clone, Copy)]
pub(super) struct Balanced<'a> {
    pub b: &'a [f64],
    /// Its 2-norm.
    pub size: f64,
    /// The divisor of it.
    pub scale: f64,
    /// Factors of the rows in the null space and in `b`.
    pub row_scales: Option<&'a [f64]>,
}

/// Refuses a right-hand side outside the range, as far as the left null vectors are known.
pub(super) fn check_balance<S: SystemSpace>(
    null_space: &NullSpace,
    rows: Balanced<'_>,
    options: &LinearOptions,
    space: &mut S,
) -> Result<(), MethodError> {
    let Balanced { b, size, scale, row_scales } = rows;
    let mut moments = null_space.moments(b);
    space.combine(Reduction::Sum, &mut moments);
    let Some(worst) = null_space.imbalance(&moments, NullSpace::allowed(size, options)) else { return Ok(()) };
    // In the unit of the row with the largest weight, as it was given.
    let heaviest = null_space.components[worst.component].left.as_ref().and_then(LeftNullVector::heaviest_row);
    let mut most = [heaviest.map_or(0.0, |(_, weight)| weight)];
    space.combine(Reduction::Max, &mut most);
    let heaviest = heaviest.filter(|(_, weight)| *weight == most[0]).map(|(row, _)| row);
    let number = heaviest.map_or(f64::INFINITY, |row| space.number(row) as f64);
    let unknowns = |index: usize| &null_space.components[index].unknowns;
    let first = unknowns(worst.component).first().map_or(f64::INFINITY, |&unknown| space.number(unknown) as f64);
    let mut firsts = [number, first];
    space.combine(Reduction::Min, &mut firsts);
    let row_scale = row_scales.zip(heaviest).filter(|_| number == firsts[0]).map_or(0.0, |(scales, row)| scales[row]);
    let mut sums: Vec<f64> = (0..null_space.components.len()).map(|index| unknowns(index).len() as f64).collect();
    sums.push(row_scale);
    space.combine(Reduction::Sum, &mut sums);
    let row_scale = sums.pop().filter(|scale| *scale != 0.0).unwrap_or(1.0);
    let (unit, count, first) = (scale / row_scale, sums[worst.component], firsts[1]);
    if count == 1.0 {
        let alone = sums.iter().filter(|count| **count == 1.0).count();
        let kind = LinearErrorKind::ZeroDerivative { count: alone, residual: (worst.sum * unit).abs() };
        return Err(MethodError { residual: Some(1.0), ..MethodError::new(kind, format!("it is largest for unknown number {first}")) });
    }
    let relative = worst.least_residual / size;
    let detail = format!("over {count} connected unknowns from number {first}; no solution has a relative residual below {relative:.1e}");
    Err(MethodError { residual: Some(1.0), ..MethodError::new(LinearErrorKind::Incompatible { imbalance: worst.sum * unit }, detail) })
}
