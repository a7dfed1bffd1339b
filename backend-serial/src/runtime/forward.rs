//! Derivatives at the operation level, forward mode: inside a Newton solve a collection has a
//! [`Jacobian`], and every operation propagates it.
//!
//! | operation | Jacobian of the result |
//! | --- | --- |
//! | `u + v`, `u - v` | `Ju + Jv`, `Ju - Jv` |
//! | `u * v` | `diag(v) Ju + diag(u) Jv` |
//! | `u / v` | `(Ju - diag(u/v) Jv) / diag(v)` |
//! | with a Scalar `s` | `Ju`, scaled by `s`, by `1/s`, or for `s / v` by `-(s/v)/v` |
//! | `-u`, `\|u\|`, `Sqrt(u)` | `-Ju`; by the sign of `u`, +1 at both zeros; by `0.5 / Sqrt(u)` |
//! | `Exp`, `Log`, `Sin`, `Cos`, `Tan`, `Min`, `Max`, `Pow` | see [`equelle_runtime::math`] |
//! | `On`, `Extend` | rows repeated or left out; rows without entries added |
//! | `Gradient`, `Divergence`, `FaceSum` | differences and sums of rows, in the order of the values |
//! | `FaceMax`, `FaceMin` | the row of the first extreme |
//! | `c ? u : v` | rows of the branch chosen |
//!
//! Comparisons, reductions, outputs and values copied to the host have no derivatives: a value that
//! depends on an unknown only through them counts as constant. Each component of a Vector has its
//! own derivatives.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::{Error, ErrorKind, Real};

use super::SerialRuntime;
use super::collections::ScalarCollection;
use super::jacobian::Jacobian;

impl<R: Real> SerialRuntime<R> {
    /// A collection as unknowns of a Newton solve: its values, with unit derivatives with respect
    /// to themselves. They are the unknowns from `offset` on, of `total`.
    ///
    /// # Errors
    /// `Backend` if it does not fit below `total`, or if columns cannot be numbered with 32 bits.
    pub fn unknown(&self, values: &ScalarCollection<R>, offset: usize, total: usize) -> Result<ScalarCollection<R>, Error> {
        let n = values.domain.len();
        let fits = offset.checked_add(n).is_some_and(|end| end <= total);
        if !fits || u32::try_from(total).is_err() {
            let message = if fits {
                format!("{total} unknowns in one Newton solve: at most {} can be numbered", u32::MAX)
            } else {
                format!("{n} unknowns from number {offset} on are more than the {total} of this Newton solve")
            };
            return self.located(Err(Error::new(ErrorKind::Backend, message)));
        }
        Ok(self.unknown_with(values, &Rc::new(Jacobian::identity(n, offset, total))))
    }

    /// [`SerialRuntime::unknown`] with existing derivatives.
    pub(super) fn unknown_with(&self, values: &ScalarCollection<R>, identity: &Rc<Jacobian<R>>) -> ScalarCollection<R> {
        // Never per axis, so that no kernel reads an unknown in that form.
        let mut unknown = ScalarCollection::new(&values.domain, self.values_of(values));
        unknown.jacobian = Some(Rc::clone(identity));
        unknown
    }

    /// Derivatives of a collection with respect to the unknowns of the current Newton solve; `None`
    /// if it does not depend on them.
    pub fn jacobian<'a>(&self, collection: &'a ScalarCollection<R>) -> Option<&'a Jacobian<R>> {
        collection.jacobian()
    }

    /// The values without derivatives, shared: for results of a Newton solve, and for variables
    /// assigned in a residual.
    #[must_use]
    pub fn without_derivatives(&self, collection: &ScalarCollection<R>) -> ScalarCollection<R> {
        ScalarCollection { domain: Arc::clone(&collection.domain), storage: collection.storage.clone(), jacobian: None }
    }

    /// Checks that no kernel, compiled or interpreted, has read values of a collection with
    /// derivatives since the last call: its results lack them. Residuals are evaluated at the
    /// operation level; this guards a Newton solve against one that is not.
    ///
    /// # Errors
    /// `Backend`, with the Equelle line of the first such kernel.
    pub fn check_derivatives_kept(&self) -> Result<(), Error> {
        match self.derivatives_lost.take() {
            None => Ok(()),
            Some(line) => {
                let message = "a kernel inside a residual reads an unknown, and kernels pass on no derivatives";
                Err(Error::new(ErrorKind::Backend, message).at(line))
            }
        }
    }
}

/// `f` of each element. `derivative`, of the element, the value of `f` and an entry of the
/// element's row, is the entry of the result.
pub(super) fn map<R: Real>(
    rt: &SerialRuntime<R>,
    a: &ScalarCollection<R>,
    f: impl Fn(R) -> R,
    derivative: impl Fn(R, R, R) -> R,
) -> ScalarCollection<R> {
    let values = rt.values_of(a);
    let mut out = rt.take_buffer(values.len());
    for (out, &a) in out.iter_mut().zip(values.iter()) {
        *out = f(a);
    }
    let mut out = rt.scalar_collection_from(&a.domain, out);
    if let Some(jacobian) = &a.jacobian {
        let results = rt.values_of(&out);
        out.jacobian = Some(Rc::new(jacobian.map(|row, d| derivative(values[row], results[row], d))));
    }
    out
}

/// `f` of each pair of elements. The derivatives by the first and by the second number, of both
/// numbers, the value of `f`, and an entry of the row of one, are added to the result's row.
pub(super) fn zip<R: Real>(
    rt: &SerialRuntime<R>,
    a: &ScalarCollection<R>,
    b: &ScalarCollection<R>,
    f: impl Fn(R, R) -> R,
    by_first: impl Fn(R, R, R, R) -> R,
    by_second: impl Fn(R, R, R, R) -> R,
) -> Result<ScalarCollection<R>, Error> {
    debug_assert!(a.domain.same_elements(&b.domain));
    let (left, right) = (rt.values_of(a), rt.values_of(b));
    let mut out = rt.take_buffer(left.len());
    for ((out, &a), &b) in out.iter_mut().zip(left.iter()).zip(right.iter()) {
        *out = f(a, b);
    }
    let mut out = rt.scalar_collection_from(&a.domain, out);
    if a.jacobian.is_none() && b.jacobian.is_none() {
        return Ok(out);
    }
    same_unknowns(a, b)?;
    let results = rt.values_of(&out);
    let first = |row: usize, d: R| by_first(left[row], right[row], results[row], d);
    let second = |row: usize, d: R| by_second(left[row], right[row], results[row], d);
    out.jacobian = match (a.jacobian(), b.jacobian()) {
        (Some(a), Some(b)) => Some(Jacobian::merge(a, b, first, second)),
        (Some(a), None) => Some(a.map(first)),
        (None, Some(b)) => Some(b.map(second)),
        (None, None) => None,
    }
    .map(Rc::new);
    Ok(out)
}

/// Derivative of `|a|`: the sign of `a`, +1 at both zeros, NaN at NaN.
pub(super) fn by_sign<R: Real>(a: R, magnitude: R, d: R) -> R {
    if a < R::ZERO {
        -d
    } else if a >= R::ZERO {
        d
    } else {
        magnitude * d
    }
}

/// The derivatives of a ternary, given its values: the rows of the chosen branch, whatever the
/// other contains.
pub(super) fn select<R: Real>(
    mut out: ScalarCollection<R>,
    condition: &[bool],
    a: &ScalarCollection<R>,
    b: &ScalarCollection<R>,
) -> Result<ScalarCollection<R>, Error> {
    same_unknowns(a, b)?;
    out.jacobian = Jacobian::select(condition, a.jacobian(), b.jacobian()).map(Rc::new);
    Ok(out)
}

/// The sum of Jacobians made of those of `a` and `b`.
pub(super) fn sum_of_rows<R: Real>(
    a: &ScalarCollection<R>,
    b: &ScalarCollection<R>,
    of_a: Option<Jacobian<R>>,
    of_b: Option<Jacobian<R>>,
) -> Result<Option<Jacobian<R>>, Error> {
    same_unknowns(a, b)?;
    Ok(match (of_a, of_b) {
        (Some(a), Some(b)) => Some(Jacobian::merge(&a, &b, |_, d| d, |_, d| d)),
        (a, b) => a.or(b),
    })
}

/// Checks that two collections with derivatives belong to one Newton solve.
fn same_unknowns<R: Real>(a: &ScalarCollection<R>, b: &ScalarCollection<R>) -> Result<(), Error> {
    match (a.jacobian(), b.jacobian()) {
        (Some(a), Some(b)) if a.n_cols() != b.n_cols() => {
            let message =
                format!("operands with derivatives by {} and by {} unknowns: they are of different Newton solves", a.n_cols(), b.n_cols());
            Err(Error::new(ErrorKind::Backend, message))
        }
        _ => Ok(()),
    }
}
