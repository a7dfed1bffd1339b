//! Files that ranks write, compared with those of one process byte for byte.

mod checkpoints;

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

/// Cells that lead one further in each round.
const WALKING: &str = "i = StencilI()
around = Halo(AllCells(), Periodic(i))
right = around(i+1)
at : Mutable Collection Of Cell On AllCells() = right
For k In Range(0, 3) {
    at = right On at
}
Output(\"x\", Centroid(at)[0])
";

/// Flow on corner-point grids by transmissibilities, with fields and a fault of the deck, lengths
/// of edges and positions of vertices.
const DECK: &str = "Import \"equelle:boundaries\" (transmissibility)
k = InputCollectionOfScalar(\"k\", AllCells())
pores = InputCollectionOfScalar(\"poro\", AllCells()) * |AllCells()|
t = transmissibility(k)
rate = 0.1 / MaxReduce(Divergence(t * Gradient(Centroid(AllCells())[0]) Extend AllFaces()) / pores + 1)
p : Mutable Collection Of Scalar On AllCells() = Centroid(AllCells())[2] + Centroid(AllCells())[0]
For step In Range(0, 3) {
    p = p + rate * Divergence(t * Gradient(p)) / pores
    Output(\"p\", p)
    Output(\"flow\", t * Gradient(p))
    Output(\"mean\", SumReduce(p * pores) / SumReduce(pores))
}
fault = InputDomainSubsetOf(\"MIDDLE\", AllFaces())
Output(\"fault\", |fault|)
Output(\"apart\", (Centroid(SecondCell(InteriorFaces())) - Centroid(FirstCell(InteriorFaces())))[2])
Output(\"edges\", |AllEdges()|)
Output(\"outer\", Centroid(BoundaryVertices()))
Output(\"inner\", SumReduce(Centroid(InteriorVertices())) + SumReduce(Centroid(BoundaryEdges())))
";

/// Files of a run in an empty folder and what it prints, by name.
fn written(folder: &Path, words: &[String]) -> BTreeMap<String, Vec<u8>> {
    let _ = std::fs::remove_dir_all(folder);
    left(folder, words)
}

/// Files in a folder after a run and what it prints, by name.
fn left(folder: &Path, words: &[String]) -> BTreeMap<String, Vec<u8>> {
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
        ("periodic", words(&["nx=11", "ny=7", "dx=0.1", "dy=0.3", "grid_periodic=x-:x+", "inflow_set=y-"])),
        ("periodic arrays", words(&["nx=11", "ny=7", "dx=0.1", "grid_periodic=x-:x+", "grid_layout=unstructured", "inflow_set=y-"])),
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

/// Decks with faults, gaps and connections without geometry: their fields, sets, edges and vertices
/// do not know the number of ranks.
#[test]
fn decks_with_faults_are_those_of_one_process() {
    let folder = scratch("ranks_decks");
    let program = folder.join("deck.equelle");
    // Connections without geometry have no area and no centroid.
    let plain: Vec<&str> = DECK.lines().filter(|line| !line.contains("fault") && !line.contains("apart")).collect();
    for (deck, own) in [
        ("grids/field.grdecl", ["k_property=PERMX", "poro_property=PORO", "output_format=vtu,npy"].as_slice()),
        ("grids/field.grdecl", &["k_property=PERMZ", "poro_property=PORO", "renumber=yes", "output_to_file=false"]),
        ("tests/run/gaps.grdecl", &["k_property=PERMZ", "poro=0.2", "MIDDLE_set=z-", "output_to_file=false"]),
        ("tests/run/nnc.grdecl", &["k=2", "poro=0.2", "output_format=npy"]),
    ] {
        std::fs::write(&program, if deck.contains("nnc") { plain.join("\n") } else { DECK.to_owned() }).expect("a program");
        let words = |ranks: Option<u32>| {
            let mut words = ["run", "--interpret", "--nondimensional", "-q"].map(str::to_owned).to_vec();
            words.extend([program.display().to_string(), format!("grid_filename={}", repository(deck).display())]);
            words.extend(ranks.map(|ranks| format!("--ranks-threads={ranks}")));
            words.extend(own.iter().map(ToString::to_string));
            words
        };
        let expected = written(&folder.join("one"), &words(None));
        let most = if deck.starts_with("grids") { 7 } else { 3 };
        for n_ranks in 1..=most {
            let found = written(&folder.join("ranks"), &words(Some(n_ranks)));
            assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{deck} {n_ranks}");
            let different: Vec<_> = expected.iter().filter(|(file, bytes)| found[*file] != **bytes).map(|(file, _)| file).collect();
            assert!(different.is_empty(), "{deck} on {n_ranks} ranks: {different:?} differ");
        }
    }
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

/// In a box that goes around joined sides a face of the halo may come before the first of its own
/// that fails.
#[test]
fn errors_in_a_halo_hide_none_of_a_rank() {
    let folder = scratch("ranks_inner_cells");
    let (program, faces) = (folder.join("inner.equelle"), folder.join("some.txt"));
    let text = "some : Collection Of Face Subset Of AllFaces() = InputDomainSubsetOf(\"some\", AllFaces())\n\
        Output(\"volume\", |AllCells()| On InnerCell(some))\n";
    std::fs::write(&program, text).expect("a program");
    std::fs::write(&faces, "0 2 5 6 7 8 10 12 13 14 16 17 20 21 22 23 24 25 28 30 32 34").expect("a set");
    let set = format!("some_filename={}", faces.display());
    for (level, kernels) in [("-O0", "--interpret=elements"), ("-O2", "--interpret=elements"), ("-O2", "--interpret")] {
        let run = |ranks: &[&str]| {
            let words = ["-q", "nx=3", "ny=2", "nz=3", "grid_dim=3", "grid_periodic=y-:y+,z+:z-", "output_to_file=false", &set];
            let output =
                equellec().arg("run").arg(&program).args([level, kernels]).args(ranks).args(words).output().expect("equellec runs");
            (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
        };
        let expected = run(&[]);
        assert_eq!(expected.0, Some(3), "{}", expected.2);
        for n_ranks in [2, 3, 6] {
            assert_eq!(run(&[&format!("--ranks-threads={n_ranks}")]), expected, "{level} {kernels} on {n_ranks} ranks");
        }
    }
}

/// The change of a round is that of the elements of all ranks: they stop in the round of one
/// process.
#[test]
fn ranks_stop_in_the_round_of_one_process() {
    let folder = scratch("ranks_steady");
    let program = folder.join("steady.equelle");
    let text = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
        v : Mutable Collection Of Vector On AllCells() = 0 * Centroid(AllCells())\n\
        For i In Range(0, 200) {\n    u = u + 0.2 * Divergence(Gradient(u) Extend AllFaces())\n\
        v = 0.5 * (v + u * Centroid(AllCells()))\n    Output(\"i\", i)\n}\nOutput(\"u\", u)\n";
    std::fs::write(&program, text).expect("a program");
    let run = |ranks: &[String], largest: &str| {
        let words = ["--nondimensional", "nx=7", "ny=4", "u_expression=x*x-y", "output_to_file=false", largest];
        let output = equellec().arg("run").arg(&program).arg("--interpret").args(ranks).args(words).output().expect("equellec runs");
        assert!(output.status.success(), "{}", stderr(&output));
        let note = stderr(&output).lines().filter(|line| line.contains("steady state")).map(str::to_owned).collect::<Vec<_>>();
        (String::from_utf8_lossy(&output.stdout).into_owned(), note)
    };
    let mut rounds = Vec::new();
    for largest in ["stop_when_change=0.1", "stop_when_change=1e-4"] {
        let expected = run(&[], largest);
        assert_eq!(expected.1.len(), 1, "it stops");
        rounds.push(expected.0.matches("i = ").count());
        for n_ranks in 1..=7 {
            assert_eq!(run(&[format!("--ranks-threads={n_ranks}")], largest), expected, "{n_ranks} ranks");
        }
    }
    assert!(rounds[0] < rounds[1] && rounds[1] < 200, "{rounds:?}");
}

/// An element of one rank has an error in a long step: all ranks give the step up and take it in
/// parts, as one process does. Without `timestep_cuts` it is the error of the run.
#[test]
fn steps_that_fail_on_one_rank_are_taken_again_by_all() {
    let folder = scratch("ranks_rescue");
    let program = folder.join("rescue.equelle");
    let text = "u0 : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
        q = InputCollectionOfScalar(\"q\", AllCells())\nsteps = InputSequenceOfScalar(\"steps\")\nb = BoundaryFaces()\n\
        inner = InnerCell(b)\nouter = IsEmpty(FirstCell(b)) ? FirstCell(b) : SecondCell(b)\nFor dt In steps {\n\
        r(u) = {\n    e = ((dt * q) On inner) > 0.5 ? outer : inner\n    s = u On e\n\
        -> u - u0 - dt * q - dt * 0.01 * Divergence(Gradient(u) Extend AllFaces()) + 0.1 * dt * FaceSum(s, s)\n}\n\
        u0 = NewtonSolve(r, u0)\n    Output(\"most\", MaxReduce(u0))\n}\n";
    std::fs::write(&program, text).expect("a program");
    let run = |own: &[String]| {
        let words = ["--nondimensional", "grid_dim=2", "nx=6", "ny=5", "u_expression=0.1", "q_expression=x>5?1.5:0.1", "steps=0.4,0.1,0.4"];
        let output = equellec().arg("run").arg(&program).args(["--interpret", "output_to_file=false"]).args(words).args(own).output();
        let output = output.expect("equellec runs");
        let told = ["error", "warning", "line 7"];
        let told = stderr(&output).lines().filter(|line| told.iter().any(|word| line.starts_with(word))).map(str::to_owned).collect();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), told)
    };
    type Ended = (Option<i32>, String, Vec<String>);
    for (level, cuts, code, n_told) in [("0", 3, 0, 4), ("2", 3, 0, 4), ("2", 0, 3, 1)] {
        let own = |ranks: &[String]| [ranks, &[format!("-O{level}"), format!("timestep_cuts={cuts}")]].concat();
        let expected: Ended = run(&own(&[]));
        assert_eq!((expected.0, expected.2.len()), (Some(code), n_told), "{expected:?}");
        for n_ranks in 2..=5 {
            assert_eq!(run(&own(&[format!("--ranks-threads={n_ranks}")])), expected, "-O{level}, {cuts} cuts, {n_ranks} ranks");
        }
    }
}

/// A partition from a file has the bits of arrays whatever it is; that of boxes is written, and one
/// that does not fit is refused.
#[test]
fn partitions_are_read_and_written() {
    let folder = scratch("ranks_partition");
    let program = folder.join("upwind.equelle");
    std::fs::write(&program, PROGRAM).expect("a program");
    let (parts, copy) = (folder.join("parts.txt"), folder.join("copy.txt"));
    let run = |own: &[&str]| {
        let case = ["-q", "--nondimensional", "nx=5", "ny=4", "dx=0.1", "u_expression=1+x*y", "inflow_set=x-", "output_to_file=false"];
        let output = equellec().arg("run").arg(&program).arg("--interpret").args(case).args(own).output().expect("equellec runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
    };
    let (read, write) = (format!("partition_file={}", parts.display()), format!("partition_write={}", copy.display()));
    let scattered: String = (0..20).map(|cell| format!("{}\n", (cell * 7 + cell / 5) % 3)).collect();
    std::fs::write(&parts, &scattered).expect("a partition");
    let expected = run(&["grid_layout=unstructured"]);
    assert_eq!(expected.0, Some(0), "{}", expected.2);
    assert_eq!(run(&["--ranks-threads=3", &read, &write]), expected);
    assert_eq!(std::fs::read_to_string(&copy).expect("a partition"), scattered);
    // Two boxes of 5 x 2 cells send least.
    assert_eq!(run(&["--ranks-threads=2", &write]).0, Some(0));
    assert_eq!(std::fs::read_to_string(&copy).expect("a partition"), "0\n".repeat(10) + &"1\n".repeat(10));
    for (text, ranks, message) in [
        (&scattered[..38], "3", "19 numbers of ranks for 20 cells"),
        (&scattered[..], "4", "has the cells of 3 ranks, and the run has 4"),
        (&scattered.replace('1', "3"), "4", "rank 1 of 4 has no cell"),
        (&scattered.replace('1', "one"), "3", "line 2: `one` is not the number of a rank"),
    ] {
        std::fs::write(&parts, text).expect("a partition");
        let (code, _, error) = run(&["--ranks-threads", ranks, &read]);
        assert_eq!(code, Some(4), "{error}");
        assert!(error.contains(message) && error.contains("parts.txt"), "{error}");
    }
    let (code, _, warning) = run(&[&read]);
    assert_eq!(code, Some(0));
    assert!(warning.contains("parameter `partition_file` (command line) has no effect: the run has one process"), "{warning}");
}

/// Programs whose entities lead ever further, and parameters that need more than there is, are
/// refused by name.
#[test]
fn programs_and_parameters_that_ranks_do_not_take_are_refused() {
    let folder = scratch("ranks_refused");
    let refused = |program: &Path, words: &[&str]| {
        let output =
            equellec().arg("run").arg(program).args(["--interpret", "--ranks-threads=2", "-q"]).args(words).output().expect("runs");
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let program = folder.join("walking.equelle");
    std::fs::write(&program, WALKING).expect("a program");
    let message = refused(&program, &["nx=8"]);
    assert!(message.contains("does not run on several ranks: it has a variable of entities that leads further"), "{message}");
    let program = folder.join("plain.equelle");
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
    std::fs::write(&program, WALKING).expect("a program");
    let refused = plan(&program, &["--ranks=2", "nx=8"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = stderr(&refused);
    assert!(message.contains("leads further in each round") && message.contains(".equelle:6: at = right On at"), "{message}");
}
