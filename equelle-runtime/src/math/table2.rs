//! Functions of two arguments that data give: bilinear between the rows of a table.
//!
//! Such a table is eight tables of one argument. Two find the piece of each argument, and where it
//! begins; their numbers together name a piece of the plane, by which four more have its
//! coefficients. So back-ends, derivatives and passes know tables of one argument only.

use std::sync::Arc;

pub use equelle_core::TablePart;

use super::table::{Outside, Table};

/// A table of two arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Table2 {
    parts: [Arc<Table>; 8],
}

/// Most pieces: their numbers are exact in single precision.
const MAX_PIECES: usize = 1 << 24;

/// Errors in the rows of a table of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table2Error {
    /// An argument, 0 or 1, has less than two values.
    TooFewValues(usize),
    /// An argument, 0 or 1, does not ascend from a row before to this one.
    NotAscending(usize, usize),
    /// This row is not that of the next pair of arguments.
    OtherPair(usize),
    /// The last pairs have no rows.
    PairsMissing,
    /// A slope from this row is beyond the range of numbers.
    TooSteep(usize),
    /// More pairs than can be numbered.
    TooLarge,
}

/// A piece of an axis: values are those of a row and change as in a cell, the number of which is
/// that of the row where it begins.
#[derive(Clone, Copy)]
struct Piece {
    row: usize,
    cell: usize,
    is_sloped: bool,
}

/// The pieces of an argument; those beyond the rows may have no values.
struct Axis<'a> {
    rows: &'a [f64],
    begins: Vec<f64>,
    pieces: Vec<Option<Piece>>,
}

impl<'a> Axis<'a> {
    fn new(rows: &'a [f64], outside: Outside) -> Axis<'a> {
        let last = rows.len() - 1;
        let beyond = |row: usize, cell: usize| match outside {
            Outside::Constant => Some(Piece { row, cell, is_sloped: false }),
            Outside::Linear => Some(Piece { row, cell, is_sloped: true }),
            Outside::Error => None,
        };
        let mut pieces = vec![beyond(0, 0)];
        pieces.extend((0..last).map(|row| Some(Piece { row, cell: row, is_sloped: true })));
        let mut begins = rows.to_vec();
        if outside == Outside::Error {
            // The last row itself is inside: a piece that ends with the next number.
            pieces.push(Some(Piece { row: last, cell: last - 1, is_sloped: true }));
            begins.push(rows[last].next_up());
        }
        pieces.push(beyond(last, last - 1));
        Axis { rows, begins, pieces }
    }

    /// By argument, a number of each piece.
    fn steps(&self, of: impl Fn(usize, Piece) -> f64) -> Arc<Table> {
        let number = |(index, piece): (usize, &Option<Piece>)| piece.map_or(f64::NAN, |piece| of(index, piece));
        Arc::new(Table::steps(&self.begins, self.pieces.iter().enumerate().map(number)))
    }

    fn width(&self, cell: usize) -> f64 {
        self.rows[cell + 1] - self.rows[cell]
    }
}

impl Table2 {
    /// Creates a table of rows with these arguments and values, a row for each pair: the first
    /// argument or the second one is the same in rows that follow each other, while the other one
    /// ascends.
    ///
    /// # Errors
    /// The first error in the rows.
    ///
    /// # Panics
    /// If the columns are not equally long.
    pub fn new(arguments: [&[f64]; 2], values: &[f64], outside: Outside) -> Result<Table2, Table2Error> {
        let [first, second] = arguments;
        if first.len() < 2 {
            return Err(Table2Error::TooFewValues(0));
        }
        let slow = usize::from(first[0] != first[1] && second[0] == second[1]);
        let (slow_column, fast_column) = (arguments[slow], arguments[1 - slow]);
        let n_fast = slow_column.iter().take_while(|&&x| x == slow_column[0]).count();
        let fast = &fast_column[..n_fast];
        let starts = (0..slow_column.len()).step_by(n_fast);
        let slow_values: Vec<f64> = starts.map(|row| slow_column[row]).collect();
        if n_fast < 2 {
            return Err(Table2Error::TooFewValues(1 - slow));
        }
        if let Some(row) = (1..n_fast).find(|&row| !ascends(fast[row - 1], fast[row])) {
            return Err(Table2Error::NotAscending(1 - slow, row));
        }
        for row in n_fast..slow_column.len() {
            let (block, place) = (row / n_fast, row % n_fast);
            if place == 0 && !ascends(slow_values[block - 1], slow_values[block]) {
                return Err(Table2Error::NotAscending(slow, row));
            }
            if fast_column[row] != fast[place] || slow_column[row] != slow_values[block] {
                return Err(Table2Error::OtherPair(row));
            }
        }
        if slow_column.len() % n_fast != 0 {
            return Err(Table2Error::PairsMissing);
        }
        if slow_values.len() < 2 {
            return Err(Table2Error::TooFewValues(slow));
        }
        let (axes, row_of): ([&[f64]; 2], &dyn Fn(usize, usize) -> usize) =
            if slow == 0 { ([&slow_values, fast], &|i, j| i * n_fast + j) } else { ([fast, &slow_values], &|i, j| j * n_fast + i) };
        Self::from_axes(axes.map(|rows| Axis::new(rows, outside)), &|i, j| values[row_of(i, j)], row_of)
    }

    fn from_axes(
        [first, second]: [Axis<'_>; 2],
        value: &dyn Fn(usize, usize) -> f64,
        row_of: &dyn Fn(usize, usize) -> usize,
    ) -> Result<Table2, Table2Error> {
        let columns = second.pieces.len();
        if first.pieces.len().saturating_mul(columns) > MAX_PIECES {
            return Err(Table2Error::TooLarge);
        }
        let mut coefficients: [Vec<f64>; 4] = Default::default();
        for piece in &first.pieces {
            for other in &second.pieces {
                let (Some(p), Some(q)) = (piece, other) else {
                    coefficients.iter_mut().for_each(|all| all.push(f64::NAN));
                    continue;
                };
                let along_first = |j: usize| (value(p.cell + 1, j) - value(p.cell, j)) / first.width(p.cell);
                let along_second = (value(p.row, q.cell + 1) - value(p.row, q.cell)) / second.width(q.cell);
                let twist = (along_first(q.cell + 1) - along_first(q.cell)) / second.width(q.cell);
                let of_piece = [
                    value(p.row, q.row),
                    if p.is_sloped { along_first(q.row) } else { 0.0 },
                    if q.is_sloped { along_second } else { 0.0 },
                    if p.is_sloped && q.is_sloped { twist } else { 0.0 },
                ];
                if of_piece.iter().any(|number| !number.is_finite()) {
                    return Err(Table2Error::TooSteep(row_of(p.row, q.row)));
                }
                coefficients.iter_mut().zip(of_piece).for_each(|(all, number)| all.push(number));
            }
        }
        let numbers: Vec<f64> = (1..coefficients[0].len()).map(|piece| piece as f64).collect();
        let [a, b, c, d] = coefficients.map(|all| Arc::new(Table::steps(&numbers, all.into_iter())));
        let parts = [
            first.steps(|index, _| (index * columns) as f64),
            second.steps(|index, _| index as f64),
            first.steps(|_, piece| first.rows[piece.row]),
            second.steps(|_, piece| second.rows[piece.row]),
            a,
            b,
            c,
            d,
        ];
        Ok(Table2 { parts })
    }

    /// One of the tables that it consists of.
    pub fn part(&self, part: TablePart) -> &Arc<Table> {
        &self.parts[part as usize]
    }

    /// All of them.
    pub fn parts(&self) -> &[Arc<Table>] {
        &self.parts
    }
}

fn ascends(from: f64, to: f64) -> bool {
    from.partial_cmp(&to) == Some(std::cmp::Ordering::Less)
}

#[cfg(test)]
mod tests {
    use super::super::table::interpolate;
    use super::*;

    /// As programs evaluate it.
    fn at(table: &Table2, x: f64, y: f64) -> f64 {
        let part = |part, x: f64| interpolate(table.part(part).numbers(), x);
        let piece = part(TablePart::First, x) + part(TablePart::Second, y);
        let (d, e) = (x - part(TablePart::FirstOrigin, x), y - part(TablePart::SecondOrigin, y));
        let at_row = part(TablePart::Value, piece) + d * part(TablePart::FirstSlope, piece);
        at_row + e * (part(TablePart::SecondSlope, piece) + d * part(TablePart::Twist, piece))
    }

    const FIRST: [f64; 3] = [0.0, 1.0, 3.0];
    const SECOND: [f64; 2] = [-1.0, 1.0];
    /// By the first argument, then by the second one.
    const VALUES: [[f64; 2]; 3] = [[1.0, 2.0], [3.0, 8.0], [-1.0, 0.0]];

    fn table(outside: Outside, is_second_slow: bool) -> Table2 {
        let mut rows: Vec<(f64, f64, f64)> = (0..6).map(|row| (FIRST[row / 2], SECOND[row % 2], VALUES[row / 2][row % 2])).collect();
        if is_second_slow {
            rows.sort_by(|a, b| (a.1, a.0).partial_cmp(&(b.1, b.0)).unwrap());
        }
        let column = |of: fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).collect::<Vec<_>>();
        Table2::new([&column(|r| r.0), &column(|r| r.1)], &column(|r| r.2), outside).unwrap()
    }

    #[test]
    fn bilinear_between_rows_and_beyond() {
        for outside in [Outside::Constant, Outside::Linear, Outside::Error] {
            for is_second_slow in [false, true] {
                let table = table(outside, is_second_slow);
                for (i, &x) in FIRST.iter().enumerate() {
                    for (j, &y) in SECOND.iter().enumerate() {
                        assert_eq!(at(&table, x, y), VALUES[i][j], "{outside:?} {x} {y}");
                    }
                }
                // Means of the corners: (1 + 2 + 3 + 8) / 4 and (3 + 8 - 1 + 0) / 4.
                assert_eq!([at(&table, 0.5, 0.0), at(&table, 2.0, 0.0)], [3.5, 2.5]);
                // A quarter of the way: 3/4 (3/4 + 2/4) + ...: 0.75 * 1.25 + 0.25 * 4.25.
                assert_eq!(at(&table, 0.25, -0.5), 2.0);
            }
        }
        let constant = table(Outside::Constant, false);
        assert_eq!([at(&constant, -5.0, 0.0), at(&constant, 9.0, 4.0), at(&constant, 0.5, -7.0)], [1.5, 0.0, 2.0]);
        // Beyond: along the tangents, 1 + 2 (-1) at y = -1; both at once by the twist of the cell.
        let linear = table(Outside::Linear, false);
        assert_eq!([at(&linear, -1.0, -1.0), at(&linear, 0.0, 3.0), at(&linear, -1.0, 3.0)], [-1.0, 3.0, -7.0]);
        let error = table(Outside::Error, false);
        let beyond = [(-1e-9, 0.0), (3.1, 0.0), (1.0, 1.1), (1.0, -2.0), (f64::NAN, 0.0), (0.5, f64::NAN)];
        assert!(beyond.iter().all(|&(x, y)| at(&error, x, y).is_nan()));
    }

    #[test]
    fn rows_that_make_no_table() {
        let made = |rows: &[(f64, f64)]| {
            let (first, second): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
            Table2::new([&first, &second], &vec![1.0; rows.len()], Outside::Constant).map(|_| ())
        };
        assert_eq!(made(&[(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]), Ok(()));
        assert_eq!(made(&[(0.0, 0.0)]), Err(Table2Error::TooFewValues(0)));
        assert_eq!(made(&[(0.0, 0.0), (1.0, 1.0)]), Err(Table2Error::TooFewValues(1)));
        assert_eq!(made(&[(0.0, 0.0), (0.0, 1.0)]), Err(Table2Error::TooFewValues(0)));
        assert_eq!(made(&[(0.0, 0.0), (0.0, 0.0), (1.0, 0.0)]), Err(Table2Error::NotAscending(1, 1)));
        assert_eq!(made(&[(1.0, 0.0), (1.0, 1.0), (0.0, 0.0), (0.0, 1.0)]), Err(Table2Error::NotAscending(0, 2)));
        assert_eq!(made(&[(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 2.0)]), Err(Table2Error::OtherPair(3)));
        assert_eq!(made(&[(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]), Err(Table2Error::PairsMissing));
        assert_eq!(made(&[(0.0, f64::NAN), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]), Err(Table2Error::NotAscending(1, 1)));
    }
}
