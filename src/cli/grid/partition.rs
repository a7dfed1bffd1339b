//! `equellec grid partition`: the parts of a grid for the ranks of a run, and what they exchange.

use std::fmt::Write as _;
use std::path::Path;

use equelle_runtime::error::ErrorKind;
use equelle_runtime::ranks::{Boxes, CellGraph, HaloCounts, Partition, bisection, partition_file};
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};
use serde_json::json;

use super::super::args::PartitionArgs;
use super::super::{
    halo_counts::{self, list, size},
    print,
};
use super::files;
use crate::console::{Console, MessageFormat};
use equelle::failure::Failure;

/// Cuts a grid, prints what the parts cost, and writes them if that is wanted.
pub(super) fn partition(args: &PartitionArgs, console: &Console) -> Result<(), Failure> {
    let n_ranks = args.ranks.unwrap_or(1);
    let (parts, counts) = match (&args.file, &args.cells) {
        (Some(file), _) => {
            let grid = files::read(file, &args.deck)?;
            let graph = CellGraph::of(&grid);
            let (partition, method) = match &args.parts {
                Some(parts) => (read(parts, grid.n_cells())?, format!("as `{}` says", parts.display())),
                None => (bisection::partition(&graph, grid.centroids(EntityKind::Cell), n_ranks)?, "by bisection".to_owned()),
            };
            let counts = HaloCounts::of(&graph, &partition, args.layers.into());
            (Parts::Listed { grid: file.display().to_string(), partition, method }, counts)
        }
        (None, cells) => {
            let boxes = boxes(cells.as_deref().unwrap_or_default(), n_ranks, args.layers)?;
            let counts = boxes.halo_counts(3, ALL_CELLS, args.layers.into())?;
            (Parts::Boxes(boxes), counts)
        }
    };
    match console.format {
        MessageFormat::Json => print(&format!("{}\n", json(&parts, &counts))),
        MessageFormat::Human | MessageFormat::Short => print(&text(&parts, &counts, args.layers)),
    }?;
    let Some(out) = &args.output else { return Ok(()) };
    files::save(out, console, |file| match &parts {
        Parts::Listed { partition, .. } => partition_file::write(partition.owners().iter().copied(), file),
        Parts::Boxes(boxes) => partition_file::write(boxes.owners(), file),
    })
}

/// The parts of a grid.
enum Parts {
    /// One for each cell of a file.
    Listed { grid: String, partition: Partition, method: String },
    /// Boxes of a Cartesian grid.
    Boxes(Boxes),
}

fn boxes(cells: &[u64], n_ranks: u32, layers: u8) -> Result<Boxes, Failure> {
    if !(1..=3).contains(&cells.len()) || cells.contains(&0) {
        return Err(Failure::usage("`--cells` takes one to three numbers above zero".to_owned()));
    }
    if cells.iter().try_fold(1_u64, |product, &n| product.checked_mul(n)).is_none() {
        return Err(Failure::usage("`--cells`: the product of these is beyond 64 bits".to_owned()));
    }
    let n = std::array::from_fn(|axis| cells.get(axis).copied().unwrap_or(1));
    Ok(Boxes::new(n, [false; 3], n_ranks, [[layers; 2]; 3])?)
}

/// Reads the parts of a grid.
fn read(file: &Path, n_cells: usize) -> Result<Partition, Error> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| Error::new(ErrorKind::Data, format!("`{}` cannot be read: {error}", file.display())))?;
    partition_file::parse_file(file, &text, n_cells)
}

/// The cells of a grid.
const ALL_CELLS: CanonicalSet = CanonicalSet::new(EntityKind::Cell, Extent::All);

/// Bytes of a number.
const BYTES: u64 = 8;

fn text(parts: &Parts, counts: &HaloCounts, layers: u8) -> String {
    let n_ranks = counts.ranks.len();
    let n_cells = counts.total(|rank| rank.owned);
    let ranks = format!("{n_ranks} rank{}", if n_ranks == 1 { "" } else { "s" });
    let mut text = match parts {
        Parts::Listed { grid, method, .. } => format!("{grid}: {n_cells} cells for {ranks}, {method}\n"),
        Parts::Boxes(boxes) => {
            let by = boxes.ranks().map(|n| n.to_string()).join(" x ");
            format!("{n_cells} cells for {ranks}, in {by} boxes\n")
        }
    };
    text.push_str(&halo_counts::text(counts, layers.into()));
    let [most, total] = [counts.most(|rank| rank.sent), counts.total(|rank| rank.sent)];
    let bytes = [most, total].map(|sent| size(sent * BYTES));
    // Writing to a String cannot fail, hence the dropped result.
    let _ = writeln!(text, "{:18}at most {most} cells, {total} in all: {} and {} for doubles", "sent", bytes[0], bytes[1]);
    text
}

fn json(parts: &Parts, counts: &HaloCounts) -> serde_json::Value {
    let (grid, method, boxes) = match parts {
        Parts::Listed { grid, method, .. } => (Some(grid), method.clone(), None),
        Parts::Boxes(boxes) => (None, "boxes".to_owned(), Some(boxes.ranks())),
    };
    json!({
        "file": grid,
        "method": method,
        "boxes": boxes,
        "ranks": counts.ranks.len(),
        "imbalance": counts.imbalance(),
        "cells": list(counts, |rank| rank.owned),
        "halo": list(counts, |rank| rank.halo),
        "neighbours": list(counts, |rank| rank.neighbours),
        "sent": list(counts, |rank| rank.sent),
    })
}
