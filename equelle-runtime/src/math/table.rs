//! Functions that data give: polynomials between the rows of a table.
//!
//! A piece is found by an index of buckets, its value by one formula of additions and
//! multiplications, each rounded once: the text for CUDA C++ ([`CUDA_TEXT`]) has the same
//! operations in the same order. Tables are in double precision, whatever collections are in.

use crate::real::Real;

/// Interpolation between the rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Along straight lines.
    #[default]
    Linear,
    /// Along cubics that are monotone where the values are (Fritsch and Carlson 1980,
    /// doi:10.1137/0717021).
    Monotone,
}

/// Values of a table before its first row and behind its last one.
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

/// Errors in the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// Less than two rows.
    TooFewRows,
    /// The argument of this row, from 0, is not above that before.
    NotAscending(usize),
    /// From this row to the next, the slope is beyond the range of numbers.
    TooSteep(usize),
}

/// As many buckets as an index has at most.
const MAX_BUCKETS: usize = 1 << 20;
/// Buckets a row: rows at equal distances have at most one each.
const BUCKETS: usize = 2;
/// The same where rows are so uneven that some would share a bucket.
const MORE_BUCKETS: usize = 16;

/// Numbers of a piece: where it begins, its value and coefficients there.
const PIECE: usize = 5;
/// Numbers before the arguments of rows.
const HEAD: usize = 3;

/// A table, ready to be evaluated. The arguments of rows, ascending, begin pieces 1 to n; piece 0
/// is before the first row.
#[derive(Clone, Debug)]
pub struct Table {
    /// n, the number of the last bucket, buckets per unit of the argument; the arguments and a NaN;
    /// of each piece `x`, `y`, `a`, `b`, `c`: at a distance d from x, where it begins (piece 0:
    /// ends), the value is `y + d (a + d (b + d c))`. At last whole numbers, as bits: for each
    /// bucket twice how many rows are in those before it, and 1 more where it has several; twice
    /// how many there are.
    numbers: Vec<f64>,
}

impl PartialEq for Table {
    /// By bits: some of the numbers are none.
    fn eq(&self, other: &Table) -> bool {
        self.numbers.iter().map(|number| number.to_bits()).eq(other.numbers.iter().map(|number| number.to_bits()))
    }
}

impl Table {
    /// Creates a table of rows with these arguments and values, as many of each.
    ///
    /// # Errors
    /// The first error in the rows.
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
            Outside::Error => [f64::NAN; PIECE - 1],
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
        let begins: Vec<f64> = arguments.iter().chain(&ends).copied().collect();
        let pieces = [outer(0)].into_iter().chain((0..n - 1).map(inner)).chain(last);
        Ok(Table::from_pieces(&begins, pieces))
    }

    fn from_pieces(begins: &[f64], pieces: impl Iterator<Item = [f64; PIECE - 1]>) -> Table {
        let n = begins.len();
        let most = (MORE_BUCKETS * n).min(MAX_BUCKETS);
        let mut buckets = (BUCKETS * n).clamp(1, MAX_BUCKETS);
        let mut index = Index::new(begins, buckets);
        while index.rows.iter().any(|&rows| rows > 1) && 2 * buckets <= most {
            buckets *= 2;
            index = Index::new(begins, buckets);
        }
        let mut numbers = vec![n as f64, index.last, index.scale];
        numbers.extend(begins);
        numbers.push(f64::NAN);
        for (piece, coefficients) in pieces.enumerate() {
            numbers.push(begins.get(piece.saturating_sub(1)).copied().unwrap_or(f64::NAN));
            numbers.extend(coefficients);
        }
        let mut before = 0;
        for rows in index.rows {
            numbers.push(f64::from_bits(2 * before + u64::from(rows > 1)));
            before += rows;
        }
        numbers.push(f64::from_bits(2 * before));
        Table { numbers }
    }

    /// Steps: a value for each piece, those before the first argument and behind the last one too.
    pub(super) fn steps(begins: &[f64], values: impl Iterator<Item = f64>) -> Table {
        Table::from_pieces(begins, values.map(|value| [value, 0.0, 0.0, 0.0]))
    }

    /// As kernels have it: [`interpolate`] and [`slope`] read it.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Its values, for [`evaluate`].
    pub fn values(&self) -> TableFunction<'_> {
        TableFunction { table: &self.numbers, of: TableValue::Value }
    }

    /// Its derivatives, for [`evaluate`].
    pub fn slopes(&self) -> TableFunction<'_> {
        TableFunction { table: &self.numbers, of: TableValue::Slope }
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

/// Rows by the bucket that they are in.
struct Index {
    last: f64,
    scale: f64,
    rows: Vec<u64>,
}

impl Index {
    fn new(begins: &[f64], buckets: usize) -> Index {
        let scale = match begins {
            [first, .., last] => buckets as f64 / (last - first),
            _ => 0.0,
        };
        let (last, mut rows) = ((buckets - 1) as f64, vec![0; buckets]);
        for row in begins {
            rows[bucket(row - begins[0], scale, last)] += 1;
        }
        Index { last, scale, rows }
    }
}

/// The bucket at this distance from the first row. It never falls as the distance grows, so that
/// the rows in other buckets are before or behind whatever is in this one.
#[inline(always)]
fn bucket(distance: f64, scale: f64, last: f64) -> usize {
    let at = distance * scale;
    let below = if at < last { at } else { last };
    let inside = if at > 0.0 { below } else { 0.0 };
    // Numbers of 32 bits are converted fastest.
    inside as u32 as usize
}

/// The parts of the numbers of a table.
#[derive(Clone, Copy)]
struct Parts<'a> {
    scale: f64,
    last: f64,
    /// Arguments of the rows, and a NaN.
    begins: &'a [f64],
    pieces: &'a [[f64; PIECE]],
    index: &'a [f64],
}

impl<'a> Parts<'a> {
    #[inline(always)]
    fn of(table: &'a [f64]) -> Parts<'a> {
        let pieces = table[0] as u32 as usize + 1;
        let (begins, rest) = table[HEAD..].split_at(pieces);
        let (numbers, index) = rest.split_at(PIECE * pieces);
        Parts { scale: table[2], last: table[1], begins, pieces: numbers.as_chunks().0, index }
    }

    /// The number of the piece that an argument is in: how many rows are not above it.
    #[inline(always)]
    fn piece(self, x: f64) -> usize {
        let bucket = bucket(x - self.begins[0], self.scale, self.last);
        let entry = self.index[bucket].to_bits() as usize;
        let low = entry / 2;
        if entry.is_multiple_of(2) {
            return low + usize::from(self.begins[low] <= x);
        }
        bisected(self.begins, x, low, self.index[bucket + 1].to_bits() as usize / 2)
    }

    /// The value at an argument in a piece.
    #[inline(always)]
    fn value(self, x: f64, piece: usize) -> f64 {
        let [begin, y, a, b, c] = self.pieces[piece];
        let d = x - begin;
        y + d * (a + d * (b + d * c))
    }

    #[inline(always)]
    fn slope(self, x: f64, piece: usize) -> f64 {
        let [begin, _, a, b, c] = self.pieces[piece];
        let d = x - begin;
        a + d * (2.0 * b + d * (3.0 * c))
    }
}

/// How many rows are not above an argument, where it is between these numbers.
#[inline(never)]
fn bisected(begins: &[f64], x: f64, mut low: usize, mut high: usize) -> usize {
    while low < high {
        let middle = (low + high) / 2;
        if begins[middle] <= x {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The value of a table at an argument; NaN at NaN.
///
/// # Panics
/// If these are not the [`Table::numbers`] of a table.
#[inline]
pub fn interpolate<R: Real>(table: &[f64], x: R) -> R {
    let (table, x) = (Parts::of(table), x.to_f64());
    R::from_f64(table.value(x, table.piece(x)))
}

/// The derivative there; at a row that of the piece that begins there.
///
/// # Panics
/// As [`interpolate`].
#[inline]
pub fn slope<R: Real>(table: &[f64], x: R) -> R {
    let (table, x) = (Parts::of(table), x.to_f64());
    R::from_f64(table.slope(x, table.piece(x)))
}

/// Values or slopes of a table at arguments: [`Table::values`] or [`Table::slopes`].
#[derive(Clone, Copy, Debug)]
pub struct TableFunction<'a> {
    table: &'a [f64],
    of: TableValue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableValue {
    Value,
    Slope,
}

/// Tells functions of tables that are alive apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableKey {
    table: *const f64,
    of: TableValue,
}

impl TableFunction<'_> {
    /// The same for the same function of the same table.
    pub fn key(&self) -> TableKey {
        TableKey { table: self.table.as_ptr(), of: self.of }
    }

    /// True if pieces of another table begin where those of this one do.
    fn has_pieces_of(&self, other: &TableFunction) -> bool {
        let rows = |table: &TableFunction<'_>| table.table[0] as usize;
        let begins = |table: &TableFunction<'_>| HEAD..HEAD + rows(table);
        std::ptr::eq(self.table, other.table) || rows(self) == rows(other) && self.table[begins(self)] == other.table[begins(other)]
    }
}

/// Arguments that are evaluated together.
const STRIP: usize = 256;

/// Evaluates several tables at the arguments `argument(0)`, `argument(1)`, ...; tables with the
/// same arguments of rows are searched once. Gives the same bits as [`interpolate`] and [`slope`].
///
/// # Panics
/// If an output is shorter than the first one.
#[inline(never)]
pub fn evaluate<R: Real, const N: usize>(functions: &[TableFunction<'_>; N], outputs: &mut [&mut [R]; N], argument: impl Fn(usize) -> R) {
    let Some(len) = outputs.first().map(|out| out.len()) else { return };
    let (mut arguments, mut pieces) = ([0.0; STRIP], [0; STRIP]);
    for start in (0..len).step_by(STRIP) {
        let arguments = &mut arguments[..STRIP.min(len - start)];
        for (k, x) in arguments.iter_mut().enumerate() {
            *x = argument(start + k).to_f64();
        }
        let pieces = &mut pieces[..arguments.len()];
        let mut searched: Option<TableFunction> = None;
        for (function, out) in functions.iter().zip(outputs.iter_mut()) {
            let table = Parts::of(function.table);
            if !searched.is_some_and(|before| before.has_pieces_of(function)) {
                for (piece, x) in pieces.iter_mut().zip(&*arguments) {
                    *piece = table.piece(*x);
                }
                searched = Some(*function);
            }
            let out = out[start..][..pieces.len()].iter_mut().zip(arguments.iter().zip(&*pieces));
            match function.of {
                TableValue::Value => out.for_each(|(out, (&x, &piece))| *out = R::from_f64(table.value(x, piece))),
                TableValue::Slope => out.for_each(|(out, (&x, &piece))| *out = R::from_f64(table.slope(x, piece))),
            }
        }
    }
}

/// [`interpolate`] and [`slope`] in CUDA C++, for the prelude of kernels. It needs `EQ_FUNCTION`
/// and `eq_double::bits`.
pub const CUDA_TEXT: &str = "\
EQ_FUNCTION const double* eq_table_piece(const double* table, double x) {
  const unsigned int pieces = (unsigned int)table[0] + 1;
  const double* begins = table + 3;
  const double* numbers = begins + pieces;
  const double* index = numbers + 5 * pieces;
  const double position = (x - begins[0]) * table[2];
  const double below = position < table[1] ? position : table[1];
  const unsigned int bucket = position > 0.0 ? (unsigned int)below : 0;
  const unsigned int entry = (unsigned int)eq_double::bits(index[bucket]);
  unsigned int low = entry / 2;
  if (entry % 2 == 0) return numbers + 5 * (low + (begins[low] <= x ? 1 : 0));
  unsigned int high = (unsigned int)eq_double::bits(index[bucket + 1]) / 2;
  while (low < high) {
    const unsigned int middle = (low + high) / 2;
    if (begins[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return numbers + 5 * low;
}
EQ_FUNCTION double eq_interpolate(const double* table, double x) {
  const double* at = eq_table_piece(table, x);
  const double d = x - at[0];
  return at[1] + d * (at[2] + d * (at[3] + d * at[4]));
}
EQ_FUNCTION double eq_slope(const double* table, double x) {
  const double* at = eq_table_piece(table, x);
  const double d = x - at[0];
  return at[2] + d * (2.0 * at[3] + d * (3.0 * at[4]));
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

    /// Rows at equal distances, at powers, in clusters, and two: at rows, next to them, between,
    /// beyond and nowhere the index finds how many rows are not above.
    #[test]
    fn the_index_finds_every_piece() {
        let spaced = |f: &dyn Fn(f64) -> f64, n: i32| (0..n).map(|row| f(f64::from(row))).collect::<Vec<f64>>();
        let all = [
            spaced(&|k| k / 99.0, 100),
            spaced(&|k| 0.1 * k - 3.7, 64),
            spaced(&|k| 2f64.powf(k - 40.0), 80),
            spaced(&|k| (k / 10.0).floor() + 1e-9 * (k % 10.0), 90),
            vec![-1e308, 1e308],
            vec![0.0, 5e-324],
        ];
        // Distances of all sizes, so that some rows share a bucket whatever their number.
        let mut random = fastrand::Rng::with_seed(3);
        let uneven = (0..40).map(|of| {
            let (mut at, least) = (random.f64() - 0.5, -of);
            (0..2 + random.usize(..60)).map(|_| (at, at += (0.1 + random.f64()) * 2f64.powi(random.i32(least..=0))).0).collect::<Vec<f64>>()
        });
        for rows in all.into_iter().chain(uneven) {
            let table = Table::steps(&rows, (0..=rows.len()).map(|piece| piece as f64));
            let near = rows.iter().flat_map(|&x| [x, x.next_up(), x.next_down(), x + 1e-3, x * 1.37]);
            for x in near.chain([f64::NEG_INFINITY, f64::INFINITY, f64::NAN, f64::MAX, f64::MIN]) {
                assert_eq!(Parts::of(table.numbers()).piece(x), rows.iter().filter(|&&row| row <= x).count(), "{x} in {rows:?}");
            }
        }
    }

    /// Two tables with the same rows, one with others; more arguments than a strip has.
    #[test]
    fn evaluated_together_and_alone() {
        let squares = of(|x| x * x, 20, Interpolation::Linear);
        let (cubes, exponentials) = (of(|x| x * x * x, 20, Interpolation::Monotone), of(f64::exp, 7, Interpolation::Monotone));
        let x = |k: usize| (k as f64 * 0.37).sin();
        let mut outputs = [const { [0.0; 700] }; 5];
        let functions = [squares.values(), squares.slopes(), cubes.slopes(), exponentials.values(), cubes.values()];
        evaluate(&functions, &mut outputs.each_mut().map(|output| &mut output[..]), x);
        for k in 0..700 {
            let [a, b, c] = [&squares, &cubes, &exponentials].map(Table::numbers);
            let alone = [interpolate(a, x(k)), slope(a, x(k)), slope(b, x(k)), interpolate(c, x(k)), interpolate(b, x(k))];
            assert_eq!(outputs.map(|output| output[k].to_bits()), alone.map(f64::to_bits), "{k}");
        }
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
