//! Programs that say the same in other words: `tests/wording/GROUP_WORDS.equelle`. Those of a group
//! give the same numbers, and their kernels do the same work, however they are written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::support::{Dimensions, How, run_with};
use equelle::registry::BACKENDS;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::cost::CostModel;
use equelle_front::lower;
use equelle_front::passes::{OptLevel, Options, optimise_by};
use equelle_front::report::{Cartesian, KernelItem, Report, Traffic};
use equelle_front::source::SourceMap;

/// The groups, and whether they run on triangles.
const GROUPS: [(&str, bool); 10] = [
    ("heat", true),
    ("extend", true),
    ("upwind", true),
    // Normals must be along axes.
    ("shallow", false),
    ("two_phase", true),
    ("names", true),
    ("arrays", true),
    ("numbers", true),
    ("updates", true),
    ("cfl", true),
];

/// How much more than the best of its group a program may do.
const ALLOWED: f64 = 1.05;

/// Bounds that are not met: a program, and the ratio to the best of its group that it has today. A
/// smaller one belongs here as soon as it is reached.
///
/// * `extend_never` has two sums over the faces, with a rounding between them.
/// * `shallow` on any grid: the flux of the other direction is multiplied by a component of the
///   normal, which may be any number. Cartesian forms have a body for each axis.
const NOT_MET: [(&str, &str, f64); 4] = [
    ("extend_never", "Cartesian, operations", 1.07),
    ("extend_never", "any grid, operations", 1.07),
    ("shallow_by_direction", "any grid, operations", 1.40),
    ("shallow_by_rotation", "any grid, operations", 1.40),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wording")
}

/// Programs of a group by name.
fn programs(group: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder()).expect("the folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if name.strip_prefix(group).is_some_and(|rest| rest.starts_with('_')) {
            found.push((name, fs::read_to_string(&path).expect("a program")));
        }
    }
    found.sort();
    assert!(found.len() >= 2, "{group}: {} programs say nothing of one another", found.len());
    found
}

#[test]
fn every_program_is_in_a_group() {
    let in_groups: usize = GROUPS.iter().map(|(group, _)| programs(group).len()).sum();
    assert_eq!(in_groups, fs::read_dir(folder()).expect("the folder").count());
}

/// Widths are no powers of two: roundings differ where operations come in another order.
#[test]
fn programs_of_a_group_give_the_same_numbers() {
    const CARTESIAN: [&str; 5] = ["grid_dim=2", "nx=7", "ny=6", "lx=1", "ly=1"];
    let triangles = format!("grid_filename={}", Path::new(env!("CARGO_MANIFEST_DIR")).join("grids/triangles-6x5.grid").display());
    let data = [
        "timesteps=4*0.0005",
        "u_initial_expression=1 + x*y - y^2",
        "h_initial_expression=1 + 0.2*x + 0.1*y*y",
        "s_initial_expression=0.3 + 0.4*x*y",
        "k_expression=0.5 + 0.25*x",
        "abs_res_tol=1e-13",
    ];
    for (group, on_triangles) in GROUPS {
        let grids = [Some(CARTESIAN.to_vec()), on_triangles.then(|| vec![triangles.as_str()])];
        for grid in grids.into_iter().flatten() {
            let mut first = None;
            for (name, text) in programs(group) {
                let used = data.iter().filter(|word| word.split('=').next().is_some_and(|key| is_read(&text, key)));
                let words: Vec<&str> = grid.iter().copied().chain(used.copied()).collect();
                for how in [How::Interpreted0, How::Interpreted2] {
                    let found = run_with(how, Dimensions::Unchecked, &format!("tests/wording/{name}.equelle"), &words);
                    let expected = first.get_or_insert_with(|| found.clone());
                    for (tag, fields) in &expected.collections {
                        let (found, expected) = (found.last(tag), fields.last().expect("one"));
                        let scale = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
                        assert!(scale > 1e-3 && found.len() == expected.len(), "{name} {tag}");
                        let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                        // Some hundred operations a step, each rounded by 1.1e-16 at most.
                        assert!(off <= 1e-12 * scale, "{name} {how:?}, {}: `{tag}` is {off:e} off", grid[0]);
                    }
                }
            }
        }
    }
}

/// True if a program has the input of a parameter.
fn is_read(text: &str, key: &str) -> bool {
    let input = key.strip_suffix("_expression").unwrap_or(key);
    text.contains(&format!("\"{input}\"")) || (key == "abs_res_tol" && text.contains("NewtonSolve"))
}

/// Work of the kernels of a step, and of an evaluation of its equations, for each element.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    loads: u64,
    bytes: f64,
    flops: u64,
}

impl Work {
    fn add(&mut self, traffic: &Traffic) {
        self.loads += traffic.own + traffic.neighbours + traffic.faces + traffic.elsewhere + traffic.indices + traffic.stores;
        self.bytes += traffic.bytes;
        self.flops += traffic.flops;
    }

    fn measures(self) -> [(&'static str, f64); 3] {
        [("loads", self.loads as f64), ("bytes", self.bytes), ("operations", self.flops as f64)]
    }
}

/// Work in two dimensions, on any grid and on a Cartesian one.
fn work(name: &str, text: &str, costs: CostModel) -> [(&'static str, Work); 2] {
    let checked = check_text(text, &CheckOptions { nondimensional: true });
    let program = checked.program.unwrap_or_else(|| panic!("{name}: {:?}", checked.diagnostics.first()));
    let module = lower::lower(&program, &SourceMap::new(format!("{name}.equelle"), text), name);
    let (module, notes) = optimise_by(module, &Options { level: OptLevel::O2, costs, ..Options::default() }, &mut |_, _| {});
    let report = Report::of(&module, &notes);
    let dimension =
        |traffic: &[Traffic]| traffic[if traffic.len() == 1 { 0 } else { report.dimensions.iter().position(|&d| d == 2).expect("2D") }];
    let general = |kernel: &KernelItem| dimension(&kernel.general);
    let cartesian = |kernel: &KernelItem| match &kernel.cartesian {
        Cartesian::General => dimension(&kernel.general),
        Cartesian::PerAxis => Traffic::default(),
        Cartesian::Full(traffic) => dimension(traffic),
    };
    let (mut any, mut uniform) = (Work::default(), Work::default());
    for kernel in report.steps().chain(report.evaluations()).flat_map(|part| part.kernels()) {
        any.add(&general(kernel));
        uniform.add(&cartesian(kernel));
    }
    [("any grid", any), ("Cartesian", uniform)]
}

/// The back-end whose costs decide, the grid, and the measure.
type Measured<'a> = (&'a str, &'a str, &'a str);

#[test]
fn programs_of_a_group_do_the_same_work() {
    let mut wrong = Vec::new();
    for (group, _) in GROUPS {
        let mut found: BTreeMap<Measured<'_>, Vec<(String, f64)>> = BTreeMap::new();
        for (name, text) in programs(group) {
            // The limits hold for the costs of every back-end, and the table for all of them.
            for back_end in BACKENDS {
                for (grid, work) in work(&name, &text, back_end.costs()) {
                    for (measure, amount) in work.measures() {
                        found.entry((back_end.name(), grid, measure)).or_default().push((name.clone(), amount));
                    }
                }
            }
        }
        for ((back_end, grid, measure), amounts) in found {
            let best = amounts.iter().map(|(_, amount)| *amount).fold(f64::INFINITY, f64::min);
            for (name, amount) in amounts {
                let ratio = amount / best;
                let known = NOT_MET.iter().find(|(known, what, _)| *known == name && *what == format!("{grid}, {measure}"));
                let limit = known.map_or(ALLOWED, |(_, _, ratio)| *ratio);
                let better = known.is_some() && ratio < limit - 5e-3;
                if ratio > limit + 5e-3 || better {
                    wrong.push(format!("(\"{name}\", \"{grid}, {measure}\", {ratio:.2}), // {amount} of {best}, {back_end}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "more than {ALLOWED} of the best of the group, or not what the table of unmet ones says:\n{}",
        wrong.join("\n")
    );
}
