//! The order of statements without effects: what is to become one kernel comes together.
//!
//! A list scheduler (Graham, 1969): of the statements whose operands are there, what cannot be
//! merged goes first, then all that one launch can be merged with. The time is linear in the
//! statements but for logarithms.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::ir::{Stmt, ValueId};

/// A statement with what decides its place.
pub(super) struct Candidate<K> {
    pub statement: Stmt,
    /// The key of its group; `None` if it cannot be merged.
    pub key: Option<K>,
    /// The key of the group that a launch of extremes can join, if the group makes their values.
    pub extreme_key: Option<K>,
    /// True if it may be an error, which keeps its place among those that may.
    pub may_fail: bool,
    /// True if it makes values of elements, which others of its kernel can read.
    pub makes_elements: bool,
    /// True if it follows entities that a check before it has to find.
    pub follows_entities: bool,
    /// True if it checks entities and makes nothing.
    pub checks: bool,
    /// Values that it reads at other elements than its own.
    pub elsewhere: BTreeSet<ValueId>,
}

/// An element of the schedule.
pub(super) enum Scheduled<K> {
    /// A statement as it is.
    One(Stmt),
    /// Launches that become one.
    Group(K, Vec<Stmt>),
}

/// The order of the statements of a segment, which come in an order that is valid, too.
pub(super) fn schedule<K: Copy + Ord>(candidates: Vec<Candidate<K>>) -> Vec<Scheduled<K>> {
    let mut scheduler = Scheduler::new(candidates);
    let mut out = Vec::new();
    loop {
        if let Some(at) = scheduler.next_alone() {
            out.extend(scheduler.take(at).map(Scheduled::One));
            scheduler.made(&[at]);
        } else if let Some((first, key)) = scheduler.next_merged() {
            let group = scheduler.group(first, key);
            let mut statements: Vec<Stmt> = group.iter().filter_map(|&at| scheduler.take(at)).collect();
            scheduler.made(&group);
            out.extend(match statements.len() {
                1 => statements.pop().map(Scheduled::One),
                _ => Some(Scheduled::Group(key, statements)),
            });
        } else {
            // Statements in static single assignment are never in a circle: none is left.
            let rest = (0..scheduler.taken.len()).filter_map(|at| scheduler.take(at));
            out.extend(rest.map(Scheduled::One));
            return out;
        }
    }
}

struct Scheduler<K> {
    candidates: Vec<Candidate<K>>,
    /// The values that each statement reads, and how many of them are still to be made.
    reads: Vec<BTreeSet<ValueId>>,
    missing: Vec<usize>,
    /// The statements of the segment that read a value.
    readers: BTreeMap<ValueId, Vec<usize>>,
    /// Statements that are not taken, by what they are.
    failing: BTreeSet<usize>,
    checking: BTreeSet<usize>,
    /// Those whose operands are there: that cannot be merged, and by what they can be merged with.
    alone: BTreeSet<usize>,
    merged: BTreeMap<K, BTreeSet<usize>>,
    taken: Vec<bool>,
}

impl<K: Copy + Ord> Scheduler<K> {
    fn new(candidates: Vec<Candidate<K>>) -> Self {
        let defined: BTreeSet<ValueId> = candidates.iter().flat_map(|c| c.statement.defines().to_vec()).collect();
        let reads: Vec<BTreeSet<ValueId>> = candidates.iter().map(|c| c.statement.reads().into_iter().collect()).collect();
        let mut readers: BTreeMap<ValueId, Vec<usize>> = BTreeMap::new();
        let mut missing = vec![0; candidates.len()];
        for (at, reads) in reads.iter().enumerate() {
            for value in reads.intersection(&defined) {
                readers.entry(*value).or_default().push(at);
                missing[at] += 1;
            }
        }
        let numbers = |is: fn(&Candidate<K>) -> bool| candidates.iter().enumerate().filter(|(_, c)| is(c)).map(|(at, _)| at).collect();
        let (failing, checking) = (numbers(|c| c.may_fail), numbers(|c| c.checks));
        let taken = vec![false; candidates.len()];
        let mut scheduler =
            Scheduler { candidates, reads, missing, readers, failing, checking, alone: BTreeSet::new(), merged: BTreeMap::new(), taken };
        for at in 0..scheduler.missing.len() {
            scheduler.note_if_ready(at);
        }
        scheduler
    }

    fn note_if_ready(&mut self, at: usize) {
        if self.missing[at] == 0 && !self.taken[at] {
            match self.candidates[at].key {
                None => self.alone.insert(at),
                Some(key) => self.merged.entry(key).or_default().insert(at),
            };
        }
    }

    /// The first statement that cannot be merged and may go now.
    fn next_alone(&self) -> Option<usize> {
        let first_that_fails = self.failing.first();
        let waits = |at: usize| self.candidates[at].may_fail && first_that_fails != Some(&at);
        self.alone.iter().copied().find(|&at| !waits(at) && !self.is_held_back(at))
    }

    /// The first launch that may go now, and what it can be merged with.
    fn next_merged(&self) -> Option<(usize, K)> {
        let first_of = |(key, ready): (&K, &BTreeSet<usize>)| Some((ready.iter().copied().find(|&at| !self.is_held_back(at))?, *key));
        self.merged.iter().filter_map(first_of).min_by_key(|(at, _)| *at)
    }

    /// True if a check that is still to come stands before a statement that relies on it.
    fn is_held_back(&self, at: usize) -> bool {
        self.checking.range(..at).any(|&check| self.candidates[at].follows_entities || !self.reads[check].is_disjoint(&self.reads[at]))
    }

    /// The group of a launch, in the order of the text: statements with its key whose operands are
    /// there, or made by the group for the same element.
    fn group(&self, first: usize, key: K) -> Vec<usize> {
        let ready = self.merged.get(&key).into_iter().flatten().copied().filter(|&at| at >= first);
        let mut next: BinaryHeap<Reverse<usize>> = ready.map(Reverse).collect();
        // Values of elements: an extreme is known when all of them are done.
        let (mut elements, mut made): (BTreeSet<ValueId>, BTreeSet<ValueId>) = Default::default();
        let mut group: Vec<usize> = Vec::new();
        while let Some(Reverse(at)) = next.pop() {
            let candidate = &self.candidates[at];
            let is_alike = candidate.key == Some(key) || (candidate.extreme_key == Some(key) && !self.reads[at].is_disjoint(&elements));
            let inside = self.reads[at].intersection(&made).count();
            let may_join = inside == self.missing[at]
                && self.reads[at].intersection(&made).all(|value| elements.contains(value) && !candidate.elsewhere.contains(value));
            if group.last() == Some(&at) || !is_alike || !may_join || self.is_held_back(at) {
                continue;
            }
            group.push(at);
            for value in candidate.statement.defines() {
                made.insert(*value);
                if candidate.makes_elements {
                    elements.insert(*value);
                }
                next.extend(self.readers.get(value).into_iter().flatten().copied().map(Reverse));
            }
        }
        group
    }

    fn take(&mut self, at: usize) -> Option<Stmt> {
        let candidate = &mut self.candidates[at];
        if std::mem::replace(&mut self.taken[at], true) {
            return None;
        }
        self.failing.remove(&at);
        self.checking.remove(&at);
        match candidate.key {
            None => self.alone.remove(&at),
            Some(key) => self.merged.get_mut(&key).is_some_and(|ready| ready.remove(&at)),
        };
        Some(candidate.statement.clone())
    }

    /// The values of statements that were taken are there.
    fn made(&mut self, taken: &[usize]) {
        for &at in taken {
            for value in self.candidates[at].statement.defines().to_vec() {
                for reader in self.readers.remove(&value).unwrap_or_default() {
                    self.missing[reader] -= 1;
                    self.note_if_ready(reader);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::ir::{KernelId, StmtKind};
    use crate::source::Span;

    fn launch(kernel: u32, args: &[u32], results: &[u32]) -> Stmt {
        let values = |numbers: &[u32]| numbers.iter().map(|&number| ValueId(number)).collect();
        Stmt { kind: StmtKind::Launch { kernel: KernelId(kernel), args: values(args), results: values(results) }, span: Span::default() }
    }

    /// A launch that can be merged with those of its key.
    fn keyed(key: u8, args: &[u32], results: &[u32]) -> Candidate<u8> {
        Candidate {
            statement: launch(u32::from(key), args, results),
            key: Some(key),
            extreme_key: None,
            may_fail: false,
            makes_elements: true,
            follows_entities: false,
            checks: false,
            elsewhere: BTreeSet::new(),
        }
    }

    /// The values that each scheduled statement makes, those of a group in one list.
    fn order(candidates: Vec<Candidate<u8>>) -> Vec<Vec<u32>> {
        let made =
            |statements: &[Stmt]| statements.iter().flat_map(|s| s.defines().iter().map(|value| value.0).collect::<Vec<_>>()).collect();
        let scheduled = schedule(candidates);
        scheduled
            .iter()
            .map(|scheduled| match scheduled {
                Scheduled::One(statement) => made(std::slice::from_ref(statement)),
                Scheduled::Group(_, statements) => made(statements),
            })
            .collect()
    }

    #[test]
    fn launches_of_a_key_come_together() {
        // Values 0 and 1 are there; 3 is of another key, and 4 reads it.
        let two = [keyed(1, &[0], &[2]), keyed(2, &[1], &[3]), keyed(1, &[3], &[4]), keyed(1, &[2], &[5])];
        assert_eq!(order(two.into()), [vec![2, 5], vec![3], vec![4]]);
        // A value that is read at other elements is made before.
        let neighbour = Candidate { elsewhere: BTreeSet::from([ValueId(2)]), ..keyed(1, &[2], &[3]) };
        assert_eq!(order(vec![keyed(1, &[0], &[2]), neighbour]), [[2], [3]]);
        // A statement that cannot be merged goes first.
        let alone = Candidate { key: None, ..keyed(3, &[0], &[4]) };
        assert_eq!(order(vec![keyed(1, &[0], &[2]), alone]), [[4], [2]]);
    }

    #[test]
    fn errors_keep_their_order() {
        let failing = |args: &[u32], results: &[u32]| Candidate { key: None, may_fail: true, ..keyed(0, args, results) };
        // The first waits for a launch, and the second for the first.
        let statements = vec![keyed(1, &[0], &[1]), failing(&[1], &[2]), failing(&[0], &[3])];
        assert_eq!(order(statements), [[1], [2], [3]]);
    }

    /// Nothing that relies on a check comes before it, even where all else that is there relies on
    /// it.
    #[test]
    fn checks_hold_back_what_relies_on_them() {
        let check = Candidate { key: None, may_fail: true, checks: true, ..keyed(0, &[2], &[]) };
        let reads = Candidate { key: None, ..keyed(0, &[0, 2], &[3]) };
        let follows = Candidate { follows_entities: true, ..keyed(1, &[0], &[4]) };
        let statements = vec![keyed(2, &[0], &[2]), check, reads, follows];
        assert_eq!(order(statements), [vec![2], vec![], vec![3], vec![4]]);
    }

    /// Eight times as many statements take far less than 64 times as long: an order that is looked
    /// for anew at each statement takes that.
    #[test]
    fn time_is_linear() {
        let best = |n: u32| {
            let once = || {
                // Two keys in turn, each reading the one before: no launch can be merged.
                let chain = (0..n).map(|i| Candidate { elsewhere: BTreeSet::from([ValueId(i)]), ..keyed((i % 2) as u8, &[i], &[i + 1]) });
                let chain: Vec<_> = chain.collect();
                let begin = Instant::now();
                assert_eq!(schedule(chain).len(), n as usize);
                begin.elapsed()
            };
            (0..3).map(|_| once()).min().unwrap_or(Duration::MAX)
        };
        let (few, many) = (best(2000), best(16_000));
        assert!(many < 24 * few, "{many:?} for 16,000 statements, {few:?} for 2,000");
    }
}
