//! Null spaces over all ranks: [`crate::linalg::null_space`] with connected components that cross
//! ranks. Each rank has the part of every component that is its own.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::joined::{Joined, NONE, joined};
use super::matrix::RankMatrix;
use super::mirrored::mirrored;
use super::space::RankSpace;
use crate::error::Error;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::null_space::coupled::blocks;
use crate::linalg::null_space::{Component, Groups, LeftNullVector, NullSpace, round_off, sum_vanishes};
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::operators::Reduction;
use crate::rank_id::RankId;
use crate::wire::Wire;

/// A null space with sums over all ranks.
pub struct RankNullVectors {
    null_space: Rc<NullSpace>,
    /// By component: number of its unknowns on all ranks.
    counts: Vec<f64>,
}

impl RankSpace<HostSpace> {
    /// The null space with sums over all ranks.
    pub(super) fn null_vectors_of(&mut self, null_space: &Rc<NullSpace>) -> RankNullVectors {
        let mut counts: Vec<f64> = null_space.components.iter().map(|component| component.unknowns.len() as f64).collect();
        if !counts.is_empty() {
            self.combine_all(Reduction::Sum, &mut counts);
        }
        RankNullVectors { null_space: Rc::clone(null_space), counts }
    }

    /// [`NullSpace::project_to_range`]
    pub(super) fn project_to_range(&mut self, vectors: &RankNullVectors, y: &mut [f64]) {
        let mut moments = vectors.null_space.moments(y);
        self.combine_all(Reduction::Sum, &mut moments);
        for (component, &[along, square]) in vectors.null_space.components.iter().zip(moments.as_chunks::<2>().0) {
            let Some(left) = component.left.as_ref().filter(|_| square != 0.0) else { continue };
            let factor = along / square;
            left.rows.iter().zip(&left.weights).for_each(|(&row, w)| y[row] -= factor * w);
        }
    }

    /// [`NullSpace::remove_mean`]
    pub(super) fn subtract_mean(&mut self, vectors: &RankNullVectors, x: &mut [f64]) {
        let components = &vectors.null_space.components;
        if components.is_empty() {
            return;
        }
        let mut sums: Vec<f64> = components.iter().map(|component| component.unknowns.iter().map(|&unknown| x[unknown]).sum()).collect();
        self.combine_all(Reduction::Sum, &mut sums);
        for ((component, sum), count) in components.iter().zip(sums).zip(&vectors.counts) {
            component.unknowns.iter().for_each(|&unknown| x[unknown] -= sum / count);
        }
    }

    /// [`NullSpace::restore`]
    pub(super) fn restored_matrix(&mut self, a: &RankMatrix<HostMatrix>, null_space: &NullSpace) -> Result<RankMatrix<HostMatrix>, Error> {
        let columns = a.columns();
        let mut part = vec![NONE; columns.n_own()];
        for (number, component) in (0..).zip(&null_space.components) {
            component.unknowns.iter().for_each(|&unknown| part[unknown] = number);
        }
        let beyond = columns.exchange(&self.ranks, |own| part[own])?;
        part.extend(beyond);
        let all = a.all_columns();
        let none = || Component { unknowns: Vec::new(), left: None };
        let mut extended = NullSpace { components: null_space.components.iter().map(|_| none()).collect() };
        for (unknown, &number) in part.iter().enumerate().filter(|(_, number)| **number != NONE) {
            extended.components[number as usize].unknowns.push(unknown);
        }
        let made = RankMatrix::from_all_columns(&extended.restore(&all), std::sync::Arc::clone(columns));
        a.parts().into_iter().for_each(|parts| made.set_parts(parts));
        Ok(made)
    }
}

/// [`NullSpace::find_in_blocks`] over all ranks.
pub(super) fn find_in_blocks(
    space: &mut RankSpace<HostSpace>,
    a: &RankMatrix<HostMatrix>,
    ends: &[usize],
    rounding: f64,
) -> Result<NullSpace, Error> {
    let finder = Finder { all: a.all_columns(), a, rounding };
    if ends.len() < 2 {
        return finder.find(space);
    }
    let mut components = Vec::new();
    for field in 0..ends.len() {
        components.extend(finder.open_parts(space, field, ends)?);
    }
    if components.is_empty() { finder.find(space) } else { Ok(NullSpace { components }) }
}

/// Looks for the null space of a matrix.
struct Finder<'a> {
    a: &'a RankMatrix<HostMatrix>,
    /// All columns, the own ones first.
    all: Csr,
    rounding: f64,
}

/// A candidate for a left null vector: own rows and their weights.
type Candidate = Option<(Vec<usize>, Vec<f64>)>;

/// A coupling of groups on two ranks: the group here, the rank and the group of the other, and the
/// factor of the scale there over that here.
type Edge = ((u32, u32), (u32, f64));

impl Finder<'_> {
    fn exchange<T: Wire>(&self, space: &RankSpace<HostSpace>, value: impl Fn(usize) -> T) -> Result<Vec<T>, Error> {
        self.a.columns().exchange(&space.ranks, value)
    }

    /// [`NullSpace::find`]
    fn find(&self, space: &mut RankSpace<HostSpace>) -> Result<NullSpace, Error> {
        let (n, columns) = (self.all.n_rows(), self.a.columns());
        let mut groups = Groups::new(columns.n_all());
        let mut fixed = vec![false; columns.n_all()];
        for (row, fixed) in fixed.iter_mut().enumerate().take(n) {
            *fixed = !sum_vanishes(self.all.row(row).map(|(_, value)| value), self.rounding);
            for (column, value) in self.all.row(row) {
                if value != 0.0 && column != row {
                    groups.join(row, column);
                }
            }
        }
        let Joined { part, count } = joined(&space.ranks, columns, &mut groups, fixed)?;
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); count];
        (0..n).filter(|&row| part[row] != NONE).for_each(|row| parts[part[row] as usize].push(row));
        let ones = |rows: &Vec<usize>| Some((rows.clone(), vec![1.0; rows.len()]));
        let mut left = self.vanishing(space, parts.iter().map(ones).collect(), round_off(self.rounding))?;
        if left.iter().any(Option::is_none) {
            let mut candidates = self.balance(space, &part, count)?;
            candidates.iter_mut().zip(&left).filter(|(_, left)| left.is_some()).for_each(|(candidate, _)| *candidate = None);
            // Each weight is a chain of quotients; their round-off accumulates.
            let balanced = self.vanishing(space, candidates, round_off(self.rounding) * 8.0)?;
            left.iter_mut().zip(balanced).for_each(|(left, balanced)| *left = left.take().or(balanced));
        }
        let components = parts.into_iter().zip(left).map(|(unknowns, left)| Component { unknowns, left }).collect();
        Ok(NullSpace { components })
    }

    /// The candidates that are left null vectors: the weighted sum of every column is zero.
    fn vanishing(
        &self,
        space: &mut RankSpace<HostSpace>,
        candidates: Vec<Candidate>,
        tolerance: f64,
    ) -> Result<Vec<Option<LeftNullVector>>, Error> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let (columns, n_own) = (self.a.columns(), self.a.columns().n_own());
        // By column: its sum, and the sum of its magnitudes.
        let mut sums = vec![(0.0, 0.0); columns.n_all()];
        for (rows, weights) in candidates.iter().flatten() {
            for (&row, w) in rows.iter().zip(weights) {
                for (column, value) in self.all.row(row) {
                    let (sum, size): &mut (f64, f64) = &mut sums[column];
                    (*sum, *size) = (*sum + w * value, *size + (w * value).abs());
                }
            }
        }
        let beyond = sums.split_off(n_own);
        columns.send_back(&space.ranks, &beyond, |own, (sum, size): (f64, f64)| sums[own] = (sums[own].0 + sum, sums[own].1 + size))?;
        let mut vanishes: Vec<bool> = sums.iter().map(|(sum, size)| sum.abs() <= tolerance * size).collect();
        let beyond = self.exchange(space, |own| vanishes[own])?;
        vanishes.extend(beyond);
        let is_null = |rows: &Vec<usize>| rows.iter().all(|&row| self.all.row(row).all(|(column, value)| value == 0.0 || vanishes[column]));
        let flags = |candidate: &Candidate| if candidate.as_ref().is_some_and(|(rows, _)| is_null(rows)) { 1.0 } else { 0.0 };
        let mut found: Vec<f64> = candidates.iter().map(flags).collect();
        space.combine_all(Reduction::Min, &mut found);
        space.checked()?;
        let take = |(candidate, found): (Candidate, f64)| {
            candidate.filter(|_| found == 1.0).map(|(rows, weights)| LeftNullVector { rows, weights })
        };
        Ok(candidates.into_iter().zip(found).map(take).collect())
    }

    /// Weights by detailed balance: along own couplings from an unknown of each connected group,
    /// then along one coupling for each pair of groups on different ranks. `None` where the pattern
    /// is not symmetric or a weight is not finite.
    fn balance(&self, space: &mut RankSpace<HostSpace>, part: &[u32], count: usize) -> Result<Vec<Candidate>, Error> {
        let (n_own, columns) = (self.a.columns().n_own(), self.a.columns());
        let (group, weights, n_groups) = self.balance_here(part);
        let beyond = self.exchange(space, |own| (group[own], weights[own]))?;
        let mirror = mirrored(&space.ranks, self.a)?.values;
        let mut seen = std::collections::BTreeSet::new();
        let mut edges: Vec<Edge> = Vec::new();
        for (row, at, place, value) in self.a.rim().each() {
            let ((other, weight), owner) = (beyond[place], columns.halo()[place].0);
            if group[row] != NONE && value != 0.0 && mirror[at] != 0.0 && other != NONE && seen.insert((group[row], owner, other)) {
                edges.push(((group[row], owner.0), (other, weights[row] * value / (weight * mirror[at]))));
            }
        }
        let all = space.ranks.lists(&edges)?;
        let counts = space.ranks.lists(&[n_groups])?;
        let mut starts = vec![0usize];
        counts.iter().for_each(|count| starts.push(starts[starts.len() - 1] + count[0] as usize));
        let scales = scales(&starts, &all);
        let start = starts[space.ranks.rank().index()];
        let mut whole: Vec<f64> =
            (0..n_own).map(|own| if group[own] == NONE { 0.0 } else { weights[own] * scales[start + group[own] as usize] }).collect();
        // The largest magnitude with the sign of the first of that size becomes 1.
        let mut largest = vec![0.0f64; count];
        let mut usable = vec![1.0; count];
        for own in (0..n_own).filter(|&own| part[own] != NONE) {
            let (number, w) = (part[own] as usize, whole[own]);
            if w == 0.0 || !w.is_finite() {
                usable[number] = 0.0;
            } else if w.abs() > largest[number].abs() {
                largest[number] = w;
            }
        }
        space.combine_all(Reduction::Min, &mut usable);
        let magnitudes = space.ranks.lists(&largest)?;
        let larger =
            |number: usize| magnitudes.iter().fold(0.0, |most: f64, all| if all[number].abs() > most.abs() { all[number] } else { most });
        let largest: Vec<f64> = (0..count).map(larger).collect();
        let mut candidates: Vec<Candidate> = usable.iter().map(|usable| (*usable == 1.0).then(|| (Vec::new(), Vec::new()))).collect();
        for own in (0..n_own).filter(|&own| part[own] != NONE) {
            let number = part[own] as usize;
            whole[own] /= largest[number];
            if let Some((rows, weights)) = &mut candidates[number] {
                rows.push(own);
                weights.push(whole[own]);
            }
        }
        Ok(candidates)
    }

    /// Own groups of connected unknowns, each with weights from 1 at its first one, and their
    /// number.
    fn balance_here(&self, part: &[u32]) -> (Vec<u32>, Vec<f64>, u32) {
        let n_own = self.a.columns().n_own();
        let (mut group, mut weights, mut n_groups) = (vec![NONE; n_own], vec![0.0; n_own], 0);
        for first in 0..n_own {
            if part[first] == NONE || group[first] != NONE {
                continue;
            }
            (group[first], weights[first]) = (n_groups, 1.0);
            let mut queue = vec![first];
            let mut next = 0;
            while let Some(&row) = queue.get(next) {
                next += 1;
                for (column, value) in self.all.row(row).filter(|(column, value)| *value != 0.0 && *column < n_own) {
                    let back = self.all.entry(column, row);
                    if back != 0.0 && group[column] == NONE {
                        (group[column], weights[column]) = (n_groups, weights[row] * (value / back));
                        queue.push(column);
                    }
                }
            }
            n_groups += 1;
        }
        (group, weights, n_groups)
    }

    /// The singular components of one field: its columns in the rows of all equations.
    fn open_parts(&self, space: &mut RankSpace<HostSpace>, field: usize, ends: &[usize]) -> Result<Vec<Component>, Error> {
        let (columns, numbering) = (self.a.columns(), &space.numbering);
        let rank = space.ranks.rank().index();
        let own = 0..columns.n_own();
        let halo = columns.halo().iter().map(|&(RankId(owner), unknown)| numbering.field(owner as usize, unknown as usize) == field);
        let is_in: Vec<bool> = own.map(|unknown| numbering.field(rank, unknown) == field).chain(halo).collect();
        let mut groups = Groups::new(columns.n_all());
        let mut fixed: Vec<bool> = is_in.iter().map(|is_in| !is_in).collect();
        // The first unknown of the field in each row.
        let mut first: Vec<Option<usize>> = vec![None; self.all.n_rows()];
        for (row, first) in first.iter_mut().enumerate() {
            let of_field = || self.all.row(row).filter(|(column, _)| is_in[*column]);
            for (column, _) in of_field().filter(|(_, value)| *value != 0.0) {
                match *first {
                    None => *first = Some(column),
                    Some(other) => groups.join(other, column),
                }
            }
            if let Some(first) = *first {
                fixed[first] |= !sum_vanishes(of_field().map(|(_, value)| value), self.rounding);
            }
        }
        let Joined { part, count } = joined(&space.ranks, columns, &mut groups, fixed)?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut unknowns: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); count];
        (0..columns.n_own()).filter(|&own| part[own] != NONE).for_each(|own| unknowns[part[own] as usize].push(own));
        for (row, first) in first.iter().enumerate() {
            let number = first.map_or(NONE, |first| part[first]);
            if number != NONE {
                rows[number as usize].push(row);
            }
        }
        // Rows of each equation, and rows of zeros of unknowns that no row has.
        let equations = blocks(ends);
        let is_zero = |row: usize| self.all.row(row).all(|(_, value)| value == 0.0);
        let mut counts: Vec<f64> = Vec::with_capacity(count * (equations.len() + 1));
        for (unknowns, rows) in unknowns.iter().zip(&rows) {
            counts.extend(equations.iter().map(|equation| rows.iter().filter(|row| equation.contains(row)).count() as f64));
            counts.push(if unknowns.first().is_some_and(|&unknown| is_zero(unknown)) { 1.0 } else { 0.0 });
        }
        space.combine_all(Reduction::Sum, &mut counts);
        space.checked()?;
        let counts: Vec<&[f64]> = counts.chunks_exact(equations.len() + 1).collect();
        let has_rows = |number: usize| counts[number][..equations.len()].iter().any(|count| *count > 0.0);
        let is_kept = |number: &usize| has_rows(*number) || counts[*number][equations.len()] > 0.0;
        let kept: Vec<usize> = (0..count).filter(is_kept).collect();

        let mut left: BTreeMap<usize, LeftNullVector> = BTreeMap::new();
        for (at, equation) in equations.iter().enumerate() {
            let candidate = |number: &usize| -> Candidate {
                let candidates = if has_rows(*number) { &rows[*number] } else { &unknowns[*number] };
                let is_there = if has_rows(*number) { counts[*number][at] > 0.0 } else { at == field };
                let own: Vec<usize> = candidates.iter().copied().filter(|row| equation.contains(row)).collect();
                let weights = vec![1.0; own.len()];
                (is_there && !left.contains_key(number)).then_some((own, weights))
            };
            let found = self.vanishing(space, kept.iter().map(candidate).collect(), round_off(self.rounding))?;
            left.extend(kept.iter().zip(found).filter_map(|(&number, found)| Some((number, found?))));
        }
        let component = |number: usize| Component { unknowns: std::mem::take(&mut unknowns[number]), left: left.remove(&number) };
        Ok(kept.into_iter().map(component).collect())
    }
}

/// Scales of groups, from 1 at the first of those that are connected, by the couplings that each
/// rank has told.
fn scales(starts: &[usize], all: &[Vec<Edge>]) -> Vec<f64> {
    let n_groups = starts.last().copied().unwrap_or(0);
    let mut beside: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n_groups];
    for (rank, edges) in all.iter().enumerate() {
        for &((own, owner), (other, factor)) in edges {
            beside[starts[rank] + own as usize].push((starts[owner as usize] + other as usize, factor));
        }
    }
    let mut scales = vec![0.0; n_groups];
    for first in 0..n_groups {
        if scales[first] != 0.0 {
            continue;
        }
        scales[first] = 1.0;
        let mut queue = vec![first];
        while let Some(group) = queue.pop() {
            for &(other, factor) in &beside[group] {
                if scales[other] == 0.0 {
                    scales[other] = scales[group] * factor;
                    queue.push(other);
                }
            }
        }
    }
    scales
}
