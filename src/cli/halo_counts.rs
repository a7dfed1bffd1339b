//! Cells of ranks and of their halos, as text and as numbers of JSON.

use std::fmt::Write as _;

use equelle_runtime::ranks::{HaloCounts, RankHalo};
use equelle_runtime::report::bytes;

/// Lines with cells, halos and neighbours of ranks.
pub(super) fn text(counts: &HaloCounts, layers: u32) -> String {
    let fewest = counts.ranks.iter().map(|rank| rank.owned).min().unwrap_or(0);
    let share = counts.ranks.iter().map(|rank| rank.halo as f64 / rank.owned as f64).fold(0.0, f64::max);
    let depth = format!("{layers} layer{}", if layers == 1 { "" } else { "s" });
    let mut text = String::new();
    // Writing to a String cannot fail, hence the dropped results.
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:18}{value}");
    };
    line("cells of a rank", format!("{fewest} to {}, at most {:.3} of the mean", counts.most(|rank| rank.owned), counts.imbalance()));
    line("halo", format!("{depth}: at most {} cells, {:.1} % of a rank's own", counts.most(|rank| rank.halo), 100.0 * share));
    line("neighbours", format!("at most {}", counts.most(|rank| rank.neighbours)));
    text
}

/// A number of each rank. `[n_ranks]`
pub(super) fn list(counts: &HaloCounts, value: fn(&RankHalo) -> u64) -> Vec<u64> {
    counts.ranks.iter().map(value).collect()
}

/// A number of bytes, exact where it is small.
pub(super) fn size(value: u64) -> String {
    if value < 10_000 { format!("{value} bytes") } else { bytes(value) }
}
