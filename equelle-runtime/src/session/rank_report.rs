//! A report of all ranks of a run, gathered on rank 0 at its end.

use std::collections::BTreeSet;

use super::Session;
use crate::entity::EntityKind;
use crate::rank_id::RankId;
use crate::ranks::RankWork;
use crate::report::event::{RankReport, RanksReport};
use crate::report::{bytes, seconds};

/// The report of all ranks, on rank 0; all call it together. None where another rank has ended,
/// whose error is that of the run, and on one process.
pub(super) fn ranks_report(session: &Session) -> Option<RanksReport> {
    let context = session.rank()?;
    let own = own_report(session, context.rank());
    let numbers = [own.cells, own.halo_cells, own.neighbours, own.exchanges, own.messages, own.bytes].map(|number| number as f64);
    let times = [own.seconds, own.waiting, own.exchanging, own.reducing];
    let ranks = context.lists(&[&numbers[..], &times].concat()).ok()?;
    let ranks = ranks.iter().map(|of| {
        let number = |index: usize| of.get(index).copied().unwrap_or(0.0);
        let count = |index: usize| number(index) as u64;
        RankReport {
            cells: count(0),
            halo_cells: count(1),
            neighbours: count(2),
            exchanges: count(3),
            messages: count(4),
            bytes: count(5),
            seconds: number(6),
            waiting: number(7),
            exchanging: number(8),
            reducing: number(9),
        }
    });
    let place = context.progress().work().surroundings().filter(|_| context.is_root())?;
    Some(RanksReport { by: place.by.clone(), nodes: place.n_nodes as u64, ranks: ranks.collect() })
}

/// The report of this rank.
fn own_report(session: &Session, rank: RankId) -> RankReport {
    let grid = session.grid.grid();
    let (mut cells, mut neighbours) = (0, BTreeSet::new());
    for cell in 0..grid.n_cells() as u32 {
        if grid.is_own(EntityKind::Cell, cell) {
            cells += 1;
        } else {
            neighbours.extend(grid.part().and_then(|part| part.owner(EntityKind::Cell, cell)));
        }
    }
    neighbours.remove(&rank);
    let (exchanges, sent, waited, exchanging, reducing) = session.rank.as_ref().map_or_else(Default::default, |of| {
        let progress = of.context.progress();
        let spent = |work: RankWork| progress.work().spent(work).as_secs_f64();
        let times = (of.waited().as_secs_f64(), spent(RankWork::Exchange), spent(RankWork::Reduce));
        (progress.exchanges(), progress.exchanged(), times.0, times.1, times.2)
    });
    RankReport {
        cells,
        halo_cells: grid.n_cells() as u64 - cells,
        neighbours: neighbours.len() as u64,
        exchanges,
        messages: sent.messages,
        bytes: sent.bytes,
        seconds: session.run.progress.elapsed().as_secs_f64(),
        waiting: waited,
        exchanging,
        reducing,
    }
}

impl RanksReport {
    /// As lines for users, after so many steps.
    pub(super) fn lines(&self, steps: usize, has_profile: bool) -> Vec<String> {
        let all = |of: fn(&RankReport) -> u64| self.ranks.iter().map(of).sum::<u64>();
        let most = |of: fn(&RankReport) -> u64| self.ranks.iter().map(of).max().unwrap_or(0);
        let n_ranks = self.ranks.len().max(1);
        let cells = all(|rank| rank.cells) as f64 / n_ranks as f64;
        let nodes = if self.nodes > 1 { format!(" on {} nodes", self.nodes) } else { String::new() };
        let halo = 100.0 * all(|rank| rank.halo_cells) as f64 / all(|rank| rank.cells).max(1) as f64;
        let excess = 100.0 * (most(|rank| rank.cells) as f64 / cells.max(1.0) - 1.0);
        let per_step = |number: u64| number as f64 / steps.max(1) as f64;
        let (exchanges, sent) = (per_step(most(|rank| rank.exchanges)), per_step(most(|rank| rank.bytes)));
        let of_time = |rank: &RankReport| 100.0 * rank.waiting / rank.seconds.max(f64::MIN_POSITIVE);
        let waiting = self.ranks.iter().map(of_time).sum::<f64>() / n_ranks as f64;
        let (longest, share) = self
            .ranks
            .iter()
            .map(of_time)
            .enumerate()
            .fold((0, 0.0), |best, (rank, share)| if share > best.1 { (rank, share) } else { best });
        let of = if steps > 0 { " a step" } else { "" };
        let mut lines = vec![format!(
            "{n_ranks} ranks{nodes} ({}): {cells:.0} cells a rank (at most {excess:+.1} %), halo {halo:.1} %, at most {} neighbours; \
             exchanges {exchanges:.1}{of}, at most {} a rank; waiting {waiting:.0} % (most: rank {longest}, {share:.0} %)",
            self.by,
            most(|rank| rank.neighbours),
            bytes(sent as u64),
        )];
        if has_profile {
            lines.push(format!(
                "{:<8} {:>12} {:>12} {:>12} {:>12} {:>12}",
                "rank", "cells", "computing", "exchanging", "reducing", "waiting"
            ));
            lines.extend(self.ranks.iter().enumerate().map(|(number, rank)| {
                let computing = (rank.seconds - rank.exchanging - rank.reducing - rank.waiting).max(0.0);
                let [computing, exchanging, reducing, waiting] = [computing, rank.exchanging, rank.reducing, rank.waiting].map(seconds);
                format!("{number:<8} {:>12} {computing:>12} {exchanging:>12} {reducing:>12} {waiting:>12}", rank.cells)
            }));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ranks of 90 and 110 cells, one of which waits for a tenth of its time.
    #[test]
    fn lines_tell_imbalance_halo_and_waits() {
        let rank = |cells: u64, waiting: f64| RankReport {
            cells,
            halo_cells: 10,
            neighbours: 1,
            exchanges: 20,
            messages: 20,
            bytes: 160_000,
            seconds: 2.0,
            waiting,
            exchanging: 0.1,
            reducing: 0.0,
        };
        let report = RanksReport { by: "MPICH 4.0.2".into(), nodes: 2, ranks: vec![rank(90, 0.2), rank(110, 0.0)] };
        let lines = report.lines(10, true);
        assert_eq!(
            lines[0],
            "2 ranks on 2 nodes (MPICH 4.0.2): 100 cells a rank (at most +10.0 %), halo 10.0 %, at most 1 neighbours; \
             exchanges 2.0 a step, at most 16 kB a rank; waiting 5 % (most: rank 0, 10 %)"
        );
        assert_eq!(lines.len(), 4);
        assert!(lines[2].contains("1.7 s") && lines[2].contains("100.0 ms") && lines[2].contains("200.0 ms"), "{}", lines[2]);
    }
}
