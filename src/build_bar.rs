//! The progress of a build: a bar with the time left on a terminal, else a line for each crate.

use std::io::IsTerminal;
use std::time::Instant;

use equelle_runtime::report::seconds;

use equelle::emitter::BuildProgress;

use crate::console::{Console, MessageFormat};

/// Crates that take long, and how long, in units of a small one; measured by
/// `cargo build --timings` of a generated package on two cores.
const LONG: [(&str, f64); 12] = [
    ("equelle_runtime", 60.0),
    ("faer", 40.0),
    ("backend_cuda", 20.0),
    ("backend_serial", 9.0),
    ("gemm_common", 5.0),
    ("private_gemm_x86", 8.0),
    ("syn", 8.0),
    ("serde_core", 8.0),
    ("nom", 7.0),
    ("serde_json", 5.0),
    ("rayon_core", 4.0),
    ("cudarc", 8.0),
];
/// The simulator itself, its library and its program.
const SIMULATOR: f64 = 4.0;

const WIDTH: usize = 30;

/// The progress of a build.
pub struct BuildBar {
    console: Console,
    on_terminal: bool,
    is_open: bool,
    started: Instant,
    /// Number of units that cargo compiles or knows.
    units: usize,
    /// Units that are made, and how long they take.
    made: usize,
    work: f64,
    /// The part of the work that was there before.
    fresh: f64,
    /// Long ones that are not made.
    to_come: Vec<&'static str>,
    /// The last action that cargo has begun.
    what: String,
}

fn weight(name: &str) -> f64 {
    LONG.iter().find(|(long, _)| *long == name).map_or(1.0, |(_, weight)| *weight)
}

impl BuildBar {
    /// The build of a package with this manifest begins.
    pub fn new(console: &Console, manifest: &str) -> BuildBar {
        let on_terminal = console.format == MessageFormat::Human && std::io::stderr().is_terminal();
        // The direct solver is a feature, the others are dependencies.
        let is_wanted = |name: &str| match name {
            "faer" | "gemm_common" | "private_gemm_x86" => manifest.contains("\"lu\""),
            "cudarc" => manifest.contains("backend-cuda"),
            name if name.starts_with("backend_") => manifest.contains(&name.replace('_', "-")),
            _ => true,
        };
        let to_come = LONG.iter().map(|(name, _)| *name).filter(|name| is_wanted(name)).collect();
        let (started, what) = (Instant::now(), String::new());
        BuildBar { console: *console, on_terminal, is_open: false, started, units: 0, made: 0, work: 0.0, fresh: 0.0, to_come, what }
    }

    /// The work of all units, those to come included.
    fn all(&self) -> f64 {
        let left = self.units.saturating_sub(self.made) as f64;
        self.work + left + self.to_come.iter().map(|name| weight(name) - 1.0).sum::<f64>() + SIMULATOR
    }

    fn draw(&mut self) {
        if self.on_terminal && self.units > 0 {
            self.is_open = true;
            self.console.bar(&self.text(self.started.elapsed().as_secs_f64()));
        }
    }

    fn text(&self, elapsed: f64) -> String {
        let (all, done) = (self.all(), self.work - self.fresh);
        let part = self.work / all;
        let filled = (WIDTH as f64 * part) as usize;
        let left = if done > 0.0 { format!(", about {} left", seconds(elapsed / done * (all - self.work))) } else { String::new() };
        format!("[{}{}] {}/{}{left}: {}", "#".repeat(filled), " ".repeat(WIDTH - filled), self.made, self.units, self.what)
    }
}

impl BuildProgress for BuildBar {
    fn begins(&mut self, verb: &str, what: &str) {
        if self.on_terminal {
            self.what = format!("{verb} {what}");
            self.draw();
        } else {
            let line = format!("  {verb} {what}");
            self.console.progress(&line);
        }
    }

    fn is_made(&mut self, name: &str, is_fresh: bool) {
        let weight = weight(name);
        self.made += 1;
        self.to_come.retain(|long| *long != name);
        self.work += weight;
        self.fresh += if is_fresh { weight } else { 0.0 };
        self.draw();
    }

    fn units(&mut self, units: usize) {
        self.units = units;
        self.draw();
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.console.bar("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_work_done() {
        let console = Console { format: MessageFormat::Human, color: false };
        let manifest = "equelle-runtime = { path = \"x\" }\nbackend-serial = { path = \"y\" }\n";
        let mut bar = BuildBar::new(&console, manifest);
        assert!(bar.to_come.contains(&"backend_serial") && !bar.to_come.contains(&"faer") && !bar.to_come.contains(&"backend_cuda"));
        bar.units = 20;
        for name in ["libc", "serde_core", "nom", "syn", "serde_json", "rayon_core"] {
            bar.is_made(name, false);
        }
        let (before, done) = (bar.all(), bar.work);
        assert_eq!(bar.made, 6);
        assert!(bar.text(10.0).starts_with("[########") && bar.text(10.0).contains("] 6/20, about "), "{}", bar.text(10.0));
        // A crate that was to come changes nothing of the sum, one that was there nothing of the
        // rate.
        bar.is_made("equelle_runtime", true);
        assert_eq!((bar.all(), bar.work - bar.fresh), (before, done));
    }
}
