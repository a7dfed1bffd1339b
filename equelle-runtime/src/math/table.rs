//! Functions that data give: polynomials between the rows of a table.
//!
//! A value is found by bisection, then by one formula of additions and multiplications, each
//! rounded once: the text for CUDA C++ ([`CUDA_TEXT`]) has the same operations in the same order.
//! Tables are in double precision, whatever collections are in.

use crate::real::Real;

/// How a table goes from row to row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Along straight lines.
    #[default]
    Linear,
    /// Along cubics that are monotone where the values are (Fritsch and Carlson 1980,
    /// doi:10.1137/0717021).
    Monotone,
}

/// What a table is before its first row and behind its last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outside {
    /// The value of the nearest row.
    #[default]
    Constant,
    /// The tangent of the nearest row.
    Linear,
    /// Not a number, which ends the run where it comes into an output, the state or a residual.
    Error,
}

/// What is wrong with the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// Less than two rows.
    TooFewRows,
    /// The argument of this row, from 0, is not above that before.
    NotAscending(usize),
    /// From this row to the next, the slope is beyond the range of numbers.
    TooSteep(usize),
}

/// Numbers of a piece: its value and coefficients where it begins.
const PIECE: usize = 4;

/// A table, ready to be evaluated. The arguments of rows, ascending, begin pieces 1 to n; piece 0
/// is before the first row.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// n, the arguments, then of each piece `y`, `a`, `b`, `c`: at a distance d from its begin (of
    /// piece 0: its end) the value is `y + d (a + d (b + d c))`.
    numbers: Vec<f64>,
}

impl Table {
    /// Of rows with these arguments and values, as many of each.
    ///
    /// # Errors
    /// The first thing that is wrong with the rows.
    ///
    /// # Panics
    /// If there are more arguments than values.
    pub fn new(arguments: &[f64], values: &[f64], interpolation: Interpolation, outside: Outside) -> Result<Table, TableError> {
        let n = arguments.len();
        if n < 2 {
            return Err(TableError::TooFewRows);
        }
        if let Some(row) = (1..n).find(|&row| arguments[row - 1].partial_cmp(&arguments[row]) != Some(std::cmp::Ordering::Less)) {
            return Err(TableError::NotAscending(row));
        }
        let widths: Vec<f64> = arguments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let secants: Vec<f64> = values.windows(2).zip(&widths).map(|(pair, width)| (pair[1] - pair[0]) / width).collect();
        let slopes = match interpolation {
            Interpolation::Linear => Vec::new(),
            Interpolation::Monotone => monotone_slopes(&widths, &secants),
        };
        let inner = |row: usize| {
            let secant = secants[row];
            match slopes.get(row..row + 2) {
                Some(&[from, to]) => {
                    let width = widths[row];
                    let b = (3.0 * secant - 2.0 * from - to) / width;
                    [values[row], from, b, (from + to - 2.0 * secant) / (width * width)]
                }
                _ => [values[row], secant, 0.0, 0.0],
            }
        };
        let slope_at = |row: usize| slopes.get(row).copied().unwrap_or(secants[row.min(n - 2)]);
        let outer = |row: usize| match outside {
            Outside::Constant => [values[row], 0.0, 0.0, 0.0],
            Outside::Linear => [values[row], slope_at(row), 0.0, 0.0],
            Outside::Error => [f64::NAN; PIECE],
        };
        if let Some(row) = (0..n - 1).find(|&row| !inner(row).iter().all(|number| number.is_finite())) {
            return Err(TableError::TooSteep(row));
        }
        let (mut ends, mut last) = (Vec::new(), vec![outer(n - 1)]);
        if outside == Outside::Error {
            // The last row itself is inside: a piece that ends with the next number.
            ends.push(arguments[n - 1].next_up());
            last.insert(0, [values[n - 1], slope_at(n - 1), 0.0, 0.0]);
        }
        let mut numbers = vec![(n + ends.len()) as f64];
        numbers.extend(arguments.iter().chain(&ends));
        let pieces = [outer(0)].into_iter().chain((0..n - 1).map(inner)).chain(last);
        numbers.extend(pieces.flatten());
        Ok(Table { numbers })
    }

    /// Steps: a value for each piece, those before the first argument and behind the last one too.
    pub(super) fn steps(begins: &[f64], values: impl Iterator<Item = f64>) -> Table {
        let mut numbers = vec![begins.len() as f64];
        numbers.extend(begins);
        numbers.extend(values.flat_map(|value| [value, 0.0, 0.0, 0.0]));
        Table { numbers }
    }

    /// As kernels have it: [`interpolate`] and [`slope`] read it.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }
}

/// Slopes at the rows: those of parabolas through three rows, made smaller where a cubic would not
/// be monotone.
fn monotone_slopes(widths: &[f64], secants: &[f64]) -> Vec<f64> {
    let pieces = secants.len();
    let end = |near: usize, next: usize| {
        let (h, k) = (widths[near], widths[next]);
        let slope = ((2.0 * h + k) * secants[near] - h * secants[next]) / (h + k);
        if slope * secants[near] > 0.0 { slope } else { 0.0 }
    };
    let mut slopes: Vec<f64> = (0..=pieces)
        .map(|row| match row {
            _ if pieces == 1 => secants[0],
            0 => end(0, 1),
            row if row == pieces => end(pieces - 1, pieces - 2),
            row if secants[row - 1] * secants[row] <= 0.0 => 0.0,
            row => (widths[row] * secants[row - 1] + widths[row - 1] * secants[row]) / (widths[row - 1] + widths[row]),
        })
        .collect();
    for (piece, &secant) in secants.iter().enumerate() {
        if secant == 0.0 {
            (slopes[piece], slopes[piece + 1]) = (0.0, 0.0);
            continue;
        }
        let (from, to) = (slopes[piece] / secant, slopes[piece + 1] / secant);
        let size = from * from + to * to;
        if size > 9.0 {
            let factor = 3.0 / size.sqrt();
            (slopes[piece], slopes[piece + 1]) = (factor * from * secant, factor * to * secant);
        }
    }
    slopes
}

/// The number of the piece that an argument is in: how many rows are not above it.
#[inline(always)]
fn piece(table: &[f64], x: f64) -> usize {
    let (mut low, mut high) = (0, table[0] as usize);
    while low < high {
        let middle = (low + high) / 2;
        if table[1 + middle] <= x {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Distance from where a piece begins, and where its numbers are.
#[inline(always)]
fn distance(table: &[f64], x: f64) -> (f64, usize) {
    let piece = piece(table, x);
    (x - table[piece.max(1)], 1 + table[0] as usize + PIECE * piece)
}

/// The value of a table at an argument; NaN at NaN.
///
/// # Panics
/// If these are not the [`Table::numbers`] of a table.
#[inline]
pub fn interpolate<R: Real>(table: &[f64], x: R) -> R {
    let (d, at) = distance(table, x.to_f64());
    R::from_f64(table[at] + d * (table[at + 1] + d * (table[at + 2] + d * table[at + 3])))
}

/// The derivative there; at a row that of the piece that begins there.
///
/// # Panics
/// As [`interpolate`].
#[inline]
pub fn slope<R: Real>(table: &[f64], x: R) -> R {
    let (d, at) = distance(table, x.to_f64());
    R::from_f64(table[at + 1] + d * (2.0 * table[at + 2] + d * (3.0 * table[at + 3])))
}

/// [`interpolate`] and [`slope`] in CUDA C++, for the prelude of kernels. It needs `EQ_FUNCTION`.
pub const CUDA_TEXT: &str = "\
EQ_FUNCTION unsigned int eq_table_piece(const double* table, double x) {
  unsigned int low = 0, high = (unsigned int)table[0];
  while (low < high) {
    const unsigned int middle = (low + high) / 2;
    if (table[1 + middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}
EQ_FUNCTION double eq_interpolate(const double* table, double x) {
  const unsigned int piece = eq_table_piece(table, x);
  const double d = x - table[piece == 0 ? 1 : piece];
  const double* at = table + 1 + (unsigned int)table[0] + 4 * piece;
  return at[0] + d * (at[1] + d * (at[2] + d * at[3]));
}
EQ_FUNCTION double eq_slope(const double* table, double x) {
  const unsigned int piece = eq_table_piece(table, x);
  const double d = x - table[piece == 0 ? 1 : piece];
  const double* at = table + 1 + (unsigned int)table[0] + 4 * piece;
  return at[1] + d * (2.0 * at[2] + d * (3.0 * at[3]));
}
";

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(f64, f64)], interpolation: Interpolation, outside: Outside) -> Result<Table, TableError> {
        let (arguments, values): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
        Table::new(&arguments, &values, interpolation, outside)
    }

    /// Two pieces of slopes 2 and -4: values and slopes between, at and beyond the rows are exact.
    #[test]
    fn straight_lines_and_what_is_beyond() {
        let rows = [(0.0, 1.0), (1.0, 3.0), (1.5, 1.0)];
        let at = |outside, x: f64| {
            let table = table(&rows, Interpolation::Linear, outside).unwrap();
            (interpolate(table.numbers(), x), slope(table.numbers(), x))
        };
        for outside in [Outside::Constant, Outside::Linear, Outside::Error] {
            for (x, expected) in [(0.0, (1.0, 2.0)), (0.25, (1.5, 2.0)), (1.0, (3.0, -4.0)), (1.25, (2.0, -4.0))] {
                assert_eq!(at(outside, x), expected, "{outside:?} {x}");
            }
        }
        assert_eq!([at(Outside::Constant, -2.0), at(Outside::Constant, 9.0)], [(1.0, 0.0), (1.0, 0.0)]);
        assert_eq!(at(Outside::Constant, 1.5), (1.0, 0.0), "the piece above is that beyond the rows");
        assert_eq!([at(Outside::Linear, -2.0), at(Outside::Linear, 2.0)], [(-3.0, 2.0), (-1.0, -4.0)]);
        assert_eq!(at(Outside::Error, 1.5).0, 1.0);
        assert!([-1e-9, 1.6, f64::NAN].iter().all(|&x| at(Outside::Error, x).0.is_nan()), "{:?}", at(Outside::Error, 1.6));
        assert!(at(Outside::Constant, f64::NAN).0.is_nan());
        let single = table(&rows, Interpolation::Linear, Outside::Constant).unwrap();
        assert_eq!(interpolate(single.numbers(), 0.25_f32), 1.5_f32);
    }

    /// Rows of a function at 0, 1/n, ... 1.
    fn of(f: impl Fn(f64) -> f64, n: usize, interpolation: Interpolation) -> Table {
        let arguments: Vec<f64> = (0..=n).map(|row| row as f64 / n as f64).collect();
        let values: Vec<f64> = arguments.iter().map(|&x| f(x)).collect();
        Table::new(&arguments, &values, interpolation, Outside::Constant).unwrap()
    }

    /// Twice the rows: an eighth of the error of cubics or less, a quarter of that of straight
    /// lines.
    #[test]
    fn errors_fall_with_the_distance_of_rows() {
        let largest = |n: usize, interpolation| {
            let table = of(f64::exp, n, interpolation);
            let errors = (0..=1000).map(|k| f64::from(k) / 1000.0).map(|x| (interpolate(table.numbers(), x) - x.exp()).abs());
            errors.fold(0.0, f64::max)
        };
        for (interpolation, order) in [(Interpolation::Linear, 1.95), (Interpolation::Monotone, 2.9)] {
            let (coarse, fine) = (largest(20, interpolation), largest(40, interpolation));
            assert!((coarse / fine).log2() > order, "{interpolation:?}: {coarse:e} {fine:e}");
        }
        // A line between two rows is off by at most h^2/8 times the second derivative.
        assert!(largest(20, Interpolation::Linear) <= 1f64.exp() / 400.0 / 8.0);
    }

    /// Within a piece the remainder of Taylor's formula of first order falls with the square of the
    /// distance: it would fall with the distance itself were the slope wrong.
    #[test]
    fn the_slope_is_the_derivative() {
        for interpolation in [Interpolation::Linear, Interpolation::Monotone] {
            let table = of(|x| x * x * x + 0.5 * x, 8, interpolation);
            for x in [0.03, 0.3, 0.52, 0.9] {
                let remainder = |h: f64| {
                    let numbers = table.numbers();
                    (interpolate(numbers, x + h) - interpolate(numbers, x) - h * slope(numbers, x)).abs()
                };
                let (far, near) = (remainder(0.016), remainder(0.008));
                match interpolation {
                    // Roundings of numbers up to 2.
                    Interpolation::Linear => assert!(far < 1e-15 && near < 1e-15, "{x}: {far:e} {near:e}"),
                    Interpolation::Monotone => assert!((far / near).log2() > 1.8, "{x}: {far:e} {near:e}"),
                }
            }
        }
    }

    /// Rows of Fritsch and Carlson's kind: flat, steep, flat. A cubic through them by parabolas
    /// overshoots; this one never falls, and its slope has no jump.
    #[test]
    fn monotone_rows_give_a_monotone_function() {
        let rows = [(0.0, 0.0), (1.0, 0.0), (1.5, 0.01), (2.0, 9.0), (5.0, 9.5), (6.0, 9.5), (7.0, 10.0)];
        let table = table(&rows, Interpolation::Monotone, Outside::Linear).unwrap();
        let numbers = table.numbers();
        let values: Vec<f64> = (0..=7000).map(|k| interpolate(numbers, f64::from(k) / 1000.0)).collect();
        // Roundings of numbers up to 10.
        assert!(values.is_sorted_by(|a, b| *b >= a - 1e-14), "{values:?}");
        for (x, y) in rows {
            assert_eq!(interpolate(numbers, x), y);
            let (below, above) = (slope(numbers, x - 1e-9), slope(numbers, x + 1e-9));
            assert!((below - above).abs() < 1e-6, "{x}: {below} {above}");
        }
    }

    #[test]
    fn rows_that_make_no_table() {
        let made = |rows: &[(f64, f64)]| table(rows, Interpolation::Linear, Outside::Constant).map(|_| ());
        assert_eq!(made(&[]), Err(TableError::TooFewRows));
        assert_eq!(made(&[(0.0, 1.0)]), Err(TableError::TooFewRows));
        assert_eq!(made(&[(0.0, 1.0), (1.0, 1.0), (1.0, 2.0)]), Err(TableError::NotAscending(2)));
        assert_eq!(made(&[(0.0, 1.0), (f64::NAN, 1.0)]), Err(TableError::NotAscending(1)));
        assert_eq!(made(&[(0.0, 0.0), (1e-300, 1e300)]), Err(TableError::TooSteep(0)));
    }
}
