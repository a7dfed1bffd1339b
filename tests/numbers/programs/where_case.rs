//! Data for `where.equelle`, whose grid has no order: 60 triangles of the unit square.

use std::fs;
use std::path::Path;

use crate::triangles::{Order, triangles};

/// Temperature of a cell, between -1 and 1.
pub fn temperature(cell: usize) -> f64 {
    (12.9898 * (cell as f64 + 1.0)).sin()
}

/// Writes grid and data; the parameters of a run.
pub fn where_words(folder: &Path) -> Vec<String> {
    let file = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let all: Vec<f64> = (0..60).map(temperature).collect();
    let hot = all.iter().filter(|p| **p > 0.2).count();
    let lines = |values: Vec<String>| values.join("\n");
    vec![
        format!("grid_filename={}", file("where.grid", triangles(6, 5, Order::Shuffled))),
        format!("p_filename={}", file("p.txt", lines(all.iter().map(|p| format!("{p:?}")).collect()))),
        format!("q_filename={}", file("q.txt", lines((1..=hot).map(|k| k.to_string()).collect()))),
    ]
}
