//! Files that ranks write, compared with those of one process byte for byte.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{equellec, repository, scratch, stderr};

/// Upwind transport with a source, a set by condition, a loop that a condition ends, reductions,
/// Bools, Vectors and entities.
const PROGRAM: &str = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())
speed = Vector(1, 0.5)
faces = InteriorFaces()
rate = Dot(Normal(faces), speed) * |faces|
upwind = rate > 0 ? FirstCell(faces) : SecondCell(faces)
inflow = InputDomainSubsetOf(\"inflow\", BoundaryFaces())
high = Where(AllCells(), Centroid(AllCells())[0] > 0.5)
time : Mutable Scalar = 0
While time < 0.3 {
    dt = Min(0.05, 0.3 - time)
    flux = (rate * (u On upwind)) Extend AllFaces()
    u = Max(u - dt * Divergence(flux) / |AllCells()| + dt * ((0.5 Extend high) Extend AllCells()), 0.1)
    time = time + dt
    Output(\"u\", u)
    Output(\"high\", u > 1.5)
    Output(\"sum\", SumReduce(u * |AllCells()|))
    Output(\"most\", MaxReduce(u On upwind))
}
Output(\"upwind\", upwind)
Output(\"centre\", u * Centroid(AllCells()))
Output(\"inflow\", |inflow|)
";

/// Reads around one axis, and sums over cells away from the ends of both.
const PERIODIC: &str = "i = StencilI()
j = StencilJ()
u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())
For step In Range(0, 3) {
    p = Halo(u, Periodic(i), Mirror(j))
    u = 0.25 * (p(i-1) + p(i+1) + p(j-2) + p(j+1))
}
Output(\"inner\", SumReduce(u On InteriorCells()))
Output(\"u\", u)
";

/// Files of a run and what it prints, by name.
fn written(folder: &Path, words: &[String]) -> BTreeMap<String, Vec<u8>> {
    let _ = std::fs::remove_dir_all(folder);
    let output = equellec().args(words).arg(format!("output_dir={}", folder.display())).output().expect("equellec runs");
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    let mut files = BTreeMap::from([("standard output".to_owned(), output.stdout)]);
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        // The record of a run has its times.
        if path.is_file() && !name.ends_with(".json") && !name.starts_with('.') {
            files.insert(name, std::fs::read(&path).expect("a file"));
        }
    }
    files
}

#[test]
fn files_do_not_know_how_many_ranks_wrote_them() {
    let folder = scratch("ranks");
    let program = folder.join("upwind.equelle");
    std::fs::write(&program, PROGRAM).expect("a program");
    let mesh = |name: &str| format!("grid_filename={}", repository("grids").join(name).display());
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let grids = [
        ("boxes", words(&["grid_dim=2", "nx=11", "ny=7", "dx=0.1", "dy=0.3", "inflow_set=x-"])),
        ("arrays", words(&["nx=11", "ny=7", "dx=0.1", "dy=0.3", "grid_layout=unstructured", "inflow_set=x-"])),
        ("periodic", words(&["nx=11", "ny=7", "dx=0.1", "grid_periodic=x-:x+", "grid_layout=unstructured", "inflow_set=y-"])),
        ("triangles", vec![mesh("triangles-6x5.grid"), "inflow_set=x-".to_owned()]),
        ("Gmsh", vec![mesh("plate.msh"), "inflow_set=x-".to_owned()]),
    ];
    let formats = ["output_format=vtu,npy", "output_format=text,csv", "output_to_file=false"];
    let mut compared = 0;
    for (number, (name, grid)) in grids.iter().enumerate() {
        for (level, kernels) in [("-O0", "--interpret=elements"), ("-O2", "--interpret")] {
            let given =
                [program.display().to_string(), level.to_owned(), kernels.to_owned(), "--nondimensional".to_owned(), "-q".to_owned()];
            let format = formats[(number + usize::from(level == "-O2")) % formats.len()];
            let more = [format.to_owned(), "u_expression=1 + Sin(3*x)*y".to_owned()];
            let of = |ranks: &[String]| [&["run".to_owned()], &given[..], ranks, &grid[..], &more[..]].concat();
            let expected = written(&folder.join("one"), &of(&[]));
            assert!(expected.len() > 1 || format == "output_to_file=false");
            for n_ranks in [1, 2, 3, 7] {
                let found = written(&folder.join("ranks"), &of(&[format!("--ranks-threads={n_ranks}")]));
                assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{name} {level} {n_ranks}");
                for (file, bytes) in &expected {
                    assert!(found[file] == *bytes, "{name} {format} {level}, {n_ranks} ranks: `{file}` differs");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 200, "{compared} files compared");
}

/// An axis around which a program reads is not cut where the program sees its ends too: a cell
/// beyond the last one would be at both ends.
#[test]
fn ends_of_an_axis_that_is_read_around_are_those_of_the_grid() {
    let folder = scratch("ranks_ends");
    let program = folder.join("around.equelle");
    std::fs::write(&program, PERIODIC).expect("a program");
    let run = |ranks: &[&str], level: &str| {
        let words = ["-q", "--nondimensional", "grid_dim=2", "nx=9", "ny=6", "u_expression=x*x-y", "output_to_file=false"];
        let output =
            equellec().arg("run").arg(&program).args(["--interpret", level]).args(ranks).args(words).output().expect("equellec runs");
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for level in ["-O0", "-O2"] {
        let expected = run(&[], level);
        for n_ranks in ["--ranks-threads=2", "--ranks-threads=3", "--ranks-threads=6"] {
            assert_eq!(run(&[n_ranks], level), expected, "{level} {n_ranks}");
        }
    }
}

/// The error of one process, with its line, element and exit code; what came before it is printed,
/// what comes after is not.
#[test]
fn the_error_is_that_of_one_process() {
    let folder = scratch("ranks_error");
    let program = folder.join("failing.equelle");
    let text = "u = InputCollectionOfScalar(\"u\", AllCells())\nOutput(\"before\", SumReduce(u))\n\
        behind = IsEmpty(SecondCell(AllFaces())) ? FirstCell(AllFaces()) : SecondCell(AllFaces())\n\
        chosen = (u On behind) > 8 ? SecondCell(AllFaces()) : FirstCell(AllFaces())\n\
        Output(\"between\", MaxReduce(u))\nOutput(\"chosen\", u On chosen)\nOutput(\"after\", MinReduce(u))\n";
    std::fs::write(&program, text).expect("a program");
    for kernels in ["--interpret", "--interpret=elements"] {
        let run = |ranks: &[&str]| {
            let words = ["-q", "grid_dim=2", "nx=9", "ny=5", "u_expression=x", "output_to_file=false"];
            let output = equellec().arg("run").arg(&program).arg(kernels).args(ranks).args(words).output().expect("equellec runs");
            (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
        };
        let expected = run(&[]);
        assert_eq!(expected.0, Some(3), "{}", expected.2);
        assert!(expected.1.contains("between") && !expected.1.contains("after"), "{}", expected.1);
        for n_ranks in 1..=6 {
            assert_eq!(run(&[&format!("--ranks-threads={n_ranks}")]), expected, "{kernels} on {n_ranks} ranks");
        }
    }
}

/// Programs with solves, and parameters that need more than there is, are refused by name.
#[test]
fn programs_and_parameters_that_ranks_do_not_take_are_refused() {
    let folder = scratch("ranks_refused");
    let refused = |program: &Path, words: &[&str]| {
        let output =
            equellec().arg("run").arg(program).args(["--interpret", "--ranks-threads=2", "-q"]).args(words).output().expect("runs");
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let heat = repository("examples/heat_implicit_2d/heat_implicit_2d.equelle");
    let case = repository("examples/heat_implicit_2d/case.param").display().to_string();
    let message = refused(&heat, &[&case]);
    assert!(message.contains("does not run on several ranks: it has a solve by Newton's method"), "{message}");
    let program = folder.join("plain.equelle");
    std::fs::write(&program, "Output(\"n\", SumReduce(1 Extend AllCells()))\n").expect("a program");
    let message = refused(&program, &["checkpoint_every=2"]);
    assert!(message.contains("parameter `checkpoint_every` does not go with several ranks yet"), "{message}");
    std::fs::write(&program, PERIODIC.replace("Periodic(i), Mirror(j)", "Periodic(i, j)")).expect("a program");
    let words = ["--nondimensional", "grid_dim=2", "nx=9", "ny=6", "u=1"];
    let output = equellec().arg("run").arg(&program).args(["--interpret", "--ranks-threads=2", "-q"]).args(words).output().expect("runs");
    assert_eq!(output.status.code(), Some(4));
    let message = stderr(&output);
    assert!(message.contains("9 x 6 cells cannot be cut into boxes for 2 ranks"), "{message}");
    assert!(message.contains("not along x and y, around which the program reads, and whose ends it sees"), "{message}");
}

/// Heat conduction, one exchange a round.
const PLANNED: &str = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())
For step In Range(0, 3) {
    u = u + Divergence(Gradient(u) Extend AllFaces())
}
Output(\"u\", u)
";

/// A thousand million cells: 400 MB of addresses, threads included, hold no array of the grid.
#[test]
fn a_plan_allocates_nothing_as_large_as_the_grid() {
    let folder = scratch("ranks_plan");
    let program = folder.join("plan.equelle");
    std::fs::write(&program, PLANNED).expect("a program");
    let command = format!(
        "ulimit -v 400000; exec {} run {} --nondimensional --dry-run --ranks 4096 grid_dim=3 nx=1000 ny=1000 nz=1000 u=1",
        env!("CARGO_BIN_EXE_equellec"),
        program.display()
    );
    let started = std::time::Instant::now();
    let output = std::process::Command::new("sh").args(["-c", &command]).output().expect("a shell");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(started.elapsed().as_secs() < 10);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // 1000 = 8 * 63 + 8 * 62; a box inside has 26 neighbours, and 64^3 - 62^3 cells around 62^3.
    for line in [
        "1000 x 1000 x 1000 cells for 4096 ranks, in 16 x 16 x 16 boxes",
        "cells of a rank   238328 to 250047, at most 1.024 of the mean",
        "halo              1 layer: at most 24578 cells, 10.0 % of a rank's own",
        "neighbours        at most 26",
        "exchanged         in each round, line 2",
        "`u` on AllCells(), 1 layer: 26 messages and 197 kB of a rank at most, 93240 and 741.8 MB in all",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// Axes that are not cut say why, and a program that does not run on ranks has its line.
#[test]
fn plans_say_what_ranks_cannot_do() {
    let folder = scratch("ranks_plan_refused");
    let program = folder.join("around.equelle");
    std::fs::write(&program, PERIODIC).expect("a program");
    let plan = |program: &Path, words: &[&str]| {
        equellec().args(["run", "--dry-run", "--nondimensional"]).arg(program).args(words).output().expect("equellec runs")
    };
    let words = ["--ranks=3", "grid_dim=2", "nx=9", "ny=6", "u=1"];
    let text = String::from_utf8_lossy(&plan(&program, &words).stdout).into_owned();
    assert!(text.contains("in 1 x 3 boxes"), "{text}");
    assert!(text.contains("not along x: the program reads around it, and sees its ends"), "{text}");
    let json = plan(&program, &[&words[..], &["--message-format=json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["not_cut"], serde_json::json!([{ "axis": "x", "why": "has_ends" }]));
    assert_eq!(json["cells"], serde_json::json!([18, 18, 18]));
    let alone = String::from_utf8_lossy(&plan(&program, &["--ranks=1", "grid_dim=2", "nx=9", "ny=6", "u=1"]).stdout).into_owned();
    assert!(alone.contains("for 1 rank, in 1 x 1 boxes") && alone.contains("0 messages and 0 bytes"), "{alone}");
    let heat = repository("examples/heat_implicit_2d/heat_implicit_2d.equelle");
    let refused = plan(&heat, &["--ranks=2", &repository("examples/heat_implicit_2d/case.param").display().to_string()]);
    assert_eq!(refused.status.code(), Some(2));
    let message = stderr(&refused);
    assert!(message.contains("it has a solve by Newton's method") && message.contains("heat_implicit_2d.equelle:44"), "{message}");
}
