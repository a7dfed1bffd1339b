//! Audits of examples are sums of their outputs: the mass of shallow water, water between wells on
//! a deck, and both phases between an injector and a producer. `tests/audit/check.py` does the same
//! with NumPy.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{equellec, repository, scratch, stderr};

/// Two sums of some thousand numbers in different orders, of the content.
const TOLERANCE: f64 = 1e-12;

/// An example that is interpreted, in a folder of its own.
struct Run {
    name: &'static str,
    folder: PathBuf,
    audits: Vec<Value>,
}

impl Run {
    fn of(name: &'static str, words: &[&str]) -> Run {
        let folder = scratch(&format!("audit-{name}"));
        let path = |file: &str| repository(&format!("examples/{name}/{file}")).display().to_string();
        let output = equellec()
            .args(["--message-format", "json", "run", "--interpret"])
            .args([path(&format!("{name}.equelle")), path("case.param"), format!("output_dir={}", folder.display())])
            .args(["audit=yes", "output_format=npy,csv"])
            .args(words)
            .output()
            .expect("equellec starts");
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        let messages = stderr(&output);
        let events = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        Run { name, folder, audits: events.filter(|event| event["event"] == "audit").collect() }
    }

    /// A collection after each step, the first one before all.
    fn fields(&self, tag: &str) -> Vec<Vec<f64>> {
        let start = format!("{tag}-");
        let names = fs::read_dir(&self.folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let mut files: Vec<PathBuf> =
            names.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start))).collect();
        files.sort();
        files.iter().map(|file| numbers(file)).collect()
    }

    /// A number of each step from the first one on.
    fn column(&self, name: &str) -> Vec<f64> {
        let text = fs::read_to_string(self.folder.join(format!("{}.csv", self.name))).expect("a table");
        let at = text.lines().next().and_then(|head| head.split(',').position(|word| word == name)).expect("a column");
        let words = text.lines().skip(1).filter_map(|line| line.split(',').nth(at)).filter(|word| !word.is_empty());
        words.map(|word| word.parse().expect("a number")).collect()
    }

    /// Numbers of the last balance of a quantity.
    fn agrees(&self, quantity: &str, sums: &[(&str, f64)], scale: f64) {
        let event =
            self.audits.iter().rfind(|event| event["quantity"] == quantity).unwrap_or_else(|| panic!("{quantity}: {:?}", self.audits));
        for (key, sum) in sums {
            let told = event[*key].as_f64().expect("a number");
            assert!((told - sum).abs() <= TOLERANCE * scale, "{}: {quantity}: {key} is {told}, the sum {sum}", self.name);
        }
    }
}

/// Reads a file of NumPy, version 1: text whose length is in front, then numbers of 8 bytes.
fn numbers(file: &Path) -> Vec<f64> {
    let bytes = fs::read(file).expect("a file");
    assert!(bytes.starts_with(b"\x93NUMPY\x01"), "{}", file.display());
    let begin = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(String::from_utf8_lossy(&bytes[10..begin]).contains("'<f8'"));
    bytes[begin..].as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Walls let nothing through: the sum of depths in cells of 1 m2 stays.
#[test]
fn mass_of_shallow_water() {
    let run = Run::of("shallow_water", &["timesteps=5*0.05"]);
    let (levels, bottom) = (run.fields("q1"), &run.fields("bottom")[0]);
    let mass = |step: usize| levels[step].iter().zip(bottom).map(|(level, bottom)| level - bottom).sum::<f64>();
    assert!(levels.len() == 6 && levels[0] != levels[5]);
    let sums = [("content", levels[5].iter().sum()), ("change", mass(5) - mass(0)), ("boundary", 0.0), ("sources", 0.0), ("rest", 0.0)];
    run.agrees("q_0", &sums, mass(0));
}

/// Water in the pores, and rates of the wells.
#[test]
fn water_between_wells() {
    let run = Run::of("two_phase_wells", &[]);
    let grid = equelle_runtime::grid::io::read_file(&repository("grids/field.grdecl")).unwrap_or_else(|error| panic!("{error}"));
    let porosity = &grid.named().arrays().find(|array| array.name == "PORO").expect("PORO").values;
    let pores: Vec<f64> = grid.geometry().cell_volumes.iter().zip(porosity).map(|(volume, porosity)| volume * porosity).collect();
    let saturations = run.fields("saturation");
    let steps: Vec<f64> = run.column("time").windows(2).map(|pair| (pair[1] - pair[0]) / 86400.0).collect();
    let [injected, produced] = ["injection rate", "water rate"].map(|name| dot(&steps, &run.column(name)));
    let [first, last] = [&saturations[0], &saturations[20]].map(|saturation| dot(&pores, saturation));
    assert!(injected > 0.0 && produced > 0.0, "{injected} {produced}");
    run.agrees("s0", &[("content", last), ("change", last - first), ("boundary", 0.0), ("sources", injected - produced)], last);
}

/// 1e-4 m3/s of water go in, and what is in cell 11 comes out; pores of 20 m3 in each of 12 cells.
#[test]
fn water_and_oil_between_an_injector_and_a_producer() {
    let (dt, rate) = (2e5, 1e-4);
    let run = Run::of("two_phase_conservation", &["timesteps=5*2e5"]);
    let saturations = run.fields("saturation");
    let content = |step: usize| 20.0 * saturations[step].iter().sum::<f64>();
    let oil_out: f64 = saturations[1..]
        .iter()
        .map(|field| {
            let (water, oil) = (field[11] / 0.0005, (1.0 - field[11]) / 0.005);
            dt * rate * (oil / (water + oil))
        })
        .sum();
    // Water that goes in is oil that comes out, until water arrives.
    assert!(saturations[5][11] > 0.1 && oil_out < 5.0 * dt * rate - 1.0, "{oil_out}");
    let change = content(5) - content(0);
    run.agrees("s0 in water_balance", &[("content", content(5)), ("change", change), ("boundary", 0.0), ("sources", oil_out)], content(5));
    run.agrees("s0 in oil_balance", &[("content", -content(5)), ("change", -change), ("boundary", 0.0), ("sources", -oil_out)], content(5));
}
