//! Properties of a matrix in compressed rows, from one pass over its entries on several threads.

use crate::linalg::driver::choose::{Diagonal, MatrixProperties, SYMMETRY, fields};
use crate::linalg::matrix::csr::{Csr, Symmetry};
use crate::linalg::matrix::rim::Rim;
use crate::linalg::null_space::round_off;
use crate::threads::{BLOCK, PerBlock, Threads};

/// Properties that follow from the entries alone.
pub(in crate::linalg) struct Entries {
    /// True if a row sums to zero up to round-off, as all do where there is a null space.
    pub vanishes: bool,
    /// True if mirrored entries have the same bits; false where that is not known.
    pub is_mirrored: bool,
    pub properties: MatrixProperties,
}

/// The part of some rows.
#[derive(Clone, Copy)]
struct Part {
    is_finite: bool,
    vanishes: bool,
    dominance: f64,
    size: f64,
    least_row: f64,
    positive: bool,
    negative: bool,
    is_mirrored: bool,
    /// Row and column of the first entry that differs from its mirrored one.
    differs: Option<(usize, usize)>,
}

impl Part {
    const NOTHING: Part = Part {
        is_finite: true,
        vanishes: false,
        dominance: f64::INFINITY,
        size: 0.0,
        least_row: f64::INFINITY,
        positive: true,
        negative: true,
        is_mirrored: true,
        differs: None,
    };

    /// Both, of which `self` comes first.
    fn and(self, other: Part) -> Part {
        Part {
            is_finite: self.is_finite && other.is_finite,
            vanishes: self.vanishes || other.vanishes,
            dominance: self.dominance.min(other.dominance),
            size: self.size.max(other.size),
            least_row: self.least_row.min(other.least_row),
            positive: self.positive && other.positive,
            negative: self.negative && other.negative,
            is_mirrored: self.is_mirrored && other.is_mirrored,
            differs: self.differs.or(other.differs),
        }
    }
}

impl Entries {
    /// Entries in columns beyond those of the matrix, in `rim`, count in all but its symmetry.
    /// `None` if an entry is not finite. Cost: one pass, and one more where the pattern is not
    /// symmetric or seen for the first time.
    pub fn new(threads: &Threads, (a, rim): (&Csr, &Rim), ends: &[usize], rounding: f64) -> Option<Entries> {
        let n = a.n_rows();
        let mirror = a.pattern().mirror();
        let mut parts = vec![Part::NOTHING; n.div_ceil(BLOCK)];
        threads.each(n, PerBlock(&mut parts), |range, PerBlock(parts)| {
            for (start, part) in range.clone().step_by(BLOCK).zip(parts) {
                let mirrored = mirror.map_or(&[][..], |mirror| mirror.from(start));
                *part = inspect_rows((a, rim), start..range.end.min(start + BLOCK), mirrored, round_off(rounding));
            }
        });
        let whole = parts.into_iter().fold(Part::NOTHING, Part::and);
        let Part { is_finite, vanishes, dominance, size, least_row, positive, negative, is_mirrored, differs } = whole;
        if !is_finite {
            return None;
        }
        let diagonal = match (positive, negative) {
            (true, _) => Diagonal::Positive,
            (false, true) => Diagonal::Negative,
            (false, false) => Diagonal::Mixed,
        };
        let symmetry = match (mirror, differs) {
            (None, _) => a.symmetry(SYMMETRY),
            (Some(_), None) => Symmetry::Symmetric,
            (Some(_), Some((row, column))) => Symmetry::Numerical { row, column },
        };
        let is_mirrored = mirror.is_some() && is_mirrored;
        let properties =
            MatrixProperties { unknowns: n, fields: fields(ends), symmetry, diagonal, dominance, size, least_row, is_range_unknown: false };
        Some(Entries { vanishes, is_mirrored, properties })
    }
}

/// The part of some rows; `mirrored` has the positions of the mirrored entries of those right of
/// the diagonal, or nothing.
fn inspect_rows((a, rim): (&Csr, &Rim), rows: std::ops::Range<usize>, mirrored: &[u32], round_off: f64) -> Part {
    let mut part = Part::NOTHING;
    let values = a.values();
    let mut beyond = rim.first_from(rows.start);
    let mut mirrored = mirrored.iter();
    for row in rows {
        let own = a.row_ptr()[row]..a.row_ptr()[row + 1];
        let (mut diagonal, mut others, mut sum, mut magnitudes, mut largest) = (0.0f64, 0.0f64, 0.0f64, 0.0f64, 0.0f64);
        for (&column, &value) in a.col_idx()[own.clone()].iter().zip(&values[own]) {
            let column = column as usize;
            let magnitude = value.abs();
            if column == row {
                diagonal = value;
            } else {
                others += magnitude;
            }
            (sum, magnitudes) = (sum + value, magnitudes + magnitude);
            largest = largest.max(magnitude);
            part.is_finite &= value.is_finite();
            if column > row
                && let Some(&at) = mirrored.next()
                && value.to_bits() != values[at as usize].to_bits()
            {
                part.is_mirrored = false;
                if part.differs.is_none() && !are_near(a, [row, column], value, values[at as usize]) {
                    part.differs = Some((row, column));
                }
            }
        }
        if rim.rows().get(beyond).is_some_and(|&other| other as usize == row) {
            for (_, value) in rim.entries().row(beyond) {
                others += value.abs();
                (sum, magnitudes) = (sum + value, magnitudes + value.abs());
                largest = largest.max(value.abs());
                part.is_finite &= value.is_finite();
            }
            beyond += 1;
        }
        part.size = part.size.max(largest);
        part.vanishes |= magnitudes.is_finite() && sum.abs() <= round_off * magnitudes;
        if diagonal == 0.0 && others == 0.0 {
            continue;
        }
        part.least_row = part.least_row.min(largest);
        part.positive &= diagonal > 0.0;
        part.negative &= diagonal < 0.0;
        if others > 0.0 {
            part.dominance = part.dominance.min(diagonal.abs() / others);
        }
    }
    part
}

/// True if mirrored entries differ by round-off of the largest one in their rows.
fn are_near(a: &Csr, rows: [usize; 2], value: f64, other: f64) -> bool {
    let largest = |row| a.row(row).fold(0.0, |most: f64, (_, value)| most.max(value.abs()));
    (value - other).abs() <= SYMMETRY * largest(rows[0]).max(largest(rows[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of a ring with a chord for each row, changed by `change(row, column, value)`.
    fn ring(n: usize, change: impl Fn(usize, usize, f64) -> f64) -> Csr {
        let mut entries = Vec::new();
        for row in 0..n {
            entries.push((row, row, 4.5));
            for step in [1, 30] {
                let other = (row + step) % n;
                entries.extend([(row, other, -1.0 / step as f64), (other, row, -1.0 / step as f64)]);
            }
        }
        let entries: Vec<_> = entries.into_iter().map(|(row, column, value)| (row, column, change(row, column, value))).collect();
        Csr::from_triplets(n, n, &entries).expect("legal")
    }

    /// One pass finds what separate passes find.
    #[test]
    fn one_pass_finds_what_separate_ones_do() {
        let n = 5000;
        let cases: [(&str, Csr); 7] = [
            ("symmetric", ring(n, |_, _, value| value)),
            ("rounded", ring(n, |row, column, value| value * (1.0 + 1e-13 * ((row * 7 + column) % 5) as f64))),
            ("upwind", ring(n, |row, column, value| if row == 4100 && column > row { 2.0 * value } else { value })),
            ("negative", ring(n, |_, _, value| -value)),
            ("both signs", ring(n, |row, column, value| if row == column && row % 2 == 0 { -value } else { value })),
            ("singular", ring(n, |row, column, value| if row == column { 2.0 + 2.0 / 30.0 } else { value })),
            ("another pattern", {
                let entries: Vec<_> = (0..n).flat_map(|row| [(row, row, 2.0), (row, (row + 1) % n, -1.0)]).collect();
                Csr::from_triplets(n, n, &entries).expect("legal")
            }),
        ];
        for (name, a) in cases {
            let expected = MatrixProperties::new(&a, &[n], false);
            for threads in [1, 3] {
                let found = Entries::new(&Threads::new(threads), (&a, &Rim::default()), &[n], f64::EPSILON).expect("finite");
                assert_eq!(found.properties, expected, "{name}");
                assert_eq!(found.vanishes, name == "singular", "{name}");
                assert_eq!(found.is_mirrored, !matches!(name, "rounded" | "upwind" | "another pattern"), "{name}");
            }
        }
        let infinite = ring(n, |row, column, value| if row == 3000 && column == 3001 { f64::INFINITY } else { value });
        assert!(Entries::new(&Threads::one(), (&infinite, &Rim::default()), &[n], f64::EPSILON).is_none());
    }
}
