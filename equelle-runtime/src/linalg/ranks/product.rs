//! Transposes and products of matrices on ranks, for the levels of multigrid. Rows that a product
//! reads of other ranks are fetched; sums are in the order of columns, own ones first.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::columns::HaloColumns;
use super::matrix::RankMatrix;
use super::space::RankSpace;
use crate::error::Error;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::rank_id::RankId;

/// An unknown by its rank and its number there.
type Unknown = (RankId, u32);

/// Entries of a row that travel: rank and number of the column, and the value.
type Entry = ((u32, u32), f64);

impl RankSpace<HostSpace> {
    /// The transpose: rows of the columns that this rank owns.
    pub(super) fn transposed(&mut self, a: &RankMatrix<HostMatrix>) -> Result<RankMatrix<HostMatrix>, Error> {
        let (columns, n_rows) = (a.columns(), a.n_rows());
        let arrived = columns.send_entries_back(&self.ranks, a.rim(), |row, number, value| ((number, row as u32), value))?;
        let mut entries: Vec<(u32, Unknown, f64)> = arrived
            .into_iter()
            .flat_map(|(rank, list)| list.into_iter().map(move |((row, column), value)| (row, (rank, column), value)))
            .collect();
        entries.sort_unstable_by_key(|&(row, column, _)| (row, column));
        let mut halo: Vec<Unknown> = entries.iter().map(|(_, column, _)| *column).collect();
        halo.sort_unstable();
        halo.dedup();
        let own = a.own().rows().transpose();
        let mut row_ptr = vec![0; own.n_rows() + 1];
        entries.iter().for_each(|(row, ..)| row_ptr[*row as usize + 1] += 1);
        (0..own.n_rows()).for_each(|row| row_ptr[row + 1] += row_ptr[row]);
        // Every column is in the list that was made of them.
        let col_idx = entries.iter().map(|(_, column, _)| halo.partition_point(|other| other < column) as u32).collect();
        let values = entries.iter().map(|(.., value)| *value).collect();
        let beyond = Csr::from_valid(own.n_rows(), halo.len(), row_ptr, col_idx, values);
        let columns = Arc::new(HaloColumns::new(&self.ranks, n_rows, &halo)?);
        let made = RankMatrix::new(own.into(), beyond, columns);
        self.tell_parts(&made)?;
        Ok(made)
    }

    /// `a b`. The halo of the product begins with that of `b`.
    pub(super) fn product(&mut self, a: &RankMatrix<HostMatrix>, b: &RankMatrix<HostMatrix>) -> Result<RankMatrix<HostMatrix>, Error> {
        let (rows, halo) = self.with_fetched_rows(a.columns(), b)?;
        let columns = Arc::new(HaloColumns::new(&self.ranks, b.columns().n_own(), &halo)?);
        let made = RankMatrix::from_all_columns(&a.all_columns().product(&rows), columns);
        self.tell_parts(&made)?;
        Ok(made)
    }

    /// The rows of `b` for all columns of a matrix, own ones first, and the halo of their columns.
    fn with_fetched_rows(&mut self, columns: &HaloColumns, b: &RankMatrix<HostMatrix>) -> Result<(Csr, Vec<Unknown>), Error> {
        let own_rank = self.ranks.rank();
        let (own, n_own) = (b.all_columns(), b.columns().n_own());
        let counts = columns.exchange(&self.ranks, |row| (own.row_ptr()[row + 1] - own.row_ptr()[row]) as u32)?;
        let unknown = |column: usize| if column < n_own { (own_rank, column as u32) } else { b.columns().halo()[column - n_own] };
        let arrived = columns.send_lists(&self.ranks, |row, list: &mut Vec<Entry>| {
            list.extend(own.row(row).map(|(column, value)| {
                let (owner, number) = unknown(column);
                ((owner.0, number), value)
            }));
        })?;
        let mut halo = b.columns().halo().to_vec();
        let mut further: BTreeMap<Unknown, usize> = BTreeMap::new();
        let mut fetched: Vec<Vec<(u32, f64)>> = vec![Vec::new(); columns.halo().len()];
        for ((_, places), list) in columns.received().iter().zip(arrived) {
            let mut left = &list[..];
            for &place in places {
                let (row, rest) = left.split_at((counts[place as usize] as usize).min(left.len()));
                left = rest;
                let column = |&((owner, number), value): &Entry| {
                    let unknown = (RankId(owner), number);
                    let at = match b.columns().place(unknown.0, number) {
                        _ if unknown.0 == own_rank => number as usize,
                        Some(place) => n_own + place as usize,
                        None => *further.entry(unknown).or_insert_with(|| {
                            halo.push(unknown);
                            n_own + halo.len() - 1
                        }),
                    };
                    (at as u32, value)
                };
                let mut row: Vec<(u32, f64)> = row.iter().map(column).collect();
                row.sort_unstable_by_key(|(column, _)| *column);
                fetched[place as usize] = row;
            }
        }
        let mut row_ptr = own.row_ptr().to_vec();
        let (mut col_idx, mut values) = (own.col_idx().to_vec(), own.values().to_vec());
        for row in &fetched {
            col_idx.extend(row.iter().map(|(column, _)| *column));
            values.extend(row.iter().map(|(_, value)| *value));
            row_ptr.push(col_idx.len());
        }
        let n_rows = own.n_rows() + fetched.len();
        Ok((Csr::from_valid(n_rows, n_own + halo.len(), row_ptr, col_idx, values), halo))
    }

    /// A matrix without the columns of the halo that have no entry.
    pub(super) fn pruned(&mut self, a: &RankMatrix<HostMatrix>) -> Result<RankMatrix<HostMatrix>, Error> {
        let (columns, entries) = (a.columns(), a.rim().entries());
        let mut is_used = vec![false; columns.halo().len()];
        entries.col_idx().iter().for_each(|&place| is_used[place as usize] = true);
        let kept: Vec<usize> = (0..is_used.len()).filter(|&place| is_used[place]).collect();
        let mut new_place = vec![0u32; is_used.len()];
        (0..).zip(&kept).for_each(|(new, &old)| new_place[old] = new);
        let halo: Vec<Unknown> = kept.iter().map(|&place| columns.halo()[place]).collect();
        let fewer = Arc::new(HaloColumns::new(&self.ranks, columns.n_own(), &halo)?);
        let made = RankMatrix::from_rim(a.own().clone(), a.rim().renumbered(&new_place, halo.len()), fewer);
        a.parts().into_iter().for_each(|parts| made.set_parts(parts));
        Ok(made)
    }
}
