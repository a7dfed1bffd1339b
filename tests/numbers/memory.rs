//! Memory: what the compiler foresees, what a run takes, and what is refused.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Dimensions, built_with, repository, scratch, stderr};
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::ir::{Module, Precision};
use equelle_front::lower;
use equelle_front::memory::{Buffers, Needs};
use equelle_front::passes::{OptLevel, optimise};
use equelle_front::source::SourceMap;

fn needs(text: &str, level: OptLevel) -> (Needs, Vec<String>) {
    let module = optimised(text, level);
    let needs = Needs::of(&module);
    let names = needs.sets.iter().map(|entry| module.sets.get(entry.set).name.clone()).collect();
    (needs, names)
}

/// Numbers on a set, on any grid and on Cartesian ones, of three dimensions.
fn numbers(text: &str, level: OptLevel, set: &str) -> (u32, u32) {
    let (needs, names) = needs(text, level);
    let entry = names.iter().position(|name| name == set).map(|index| needs.sets[index]);
    entry.map_or((0, 0), |entry| (entry.general.numbers[2], entry.cartesian.numbers[2]))
}

const HEAD: &str = "u_in = InputCollectionOfScalar(\"u\", AllCells())\ntimesteps = InputSequenceOfScalar(\"timesteps\")\n";
const CELLS: &str = "AllCells()";

#[test]
fn a_step_needs_the_old_and_the_new_field() {
    let text = format!(
        "{HEAD}u : Mutable Collection Of Scalar On AllCells()\nu = u_in\nFor dt In timesteps {{\n    u = u + dt * Divergence(Gradient(u))\n}}\n"
    );
    assert_eq!(numbers(&text, OptLevel::O2, CELLS), (2, 2));
    // Operation by operation: the input, which nothing reads any more, has given its array to u.
    // Then the Divergence, its product and the sum beside u.
    assert_eq!(numbers(&text, OptLevel::O0, CELLS), (4, 4));
    assert_eq!(numbers(&text, OptLevel::O0, "InteriorFaces()"), (1, 1));
}

/// Lanes need what a compiled program does. The evaluator of elements has rows and copies while a
/// kernel runs: with one result and the argument u, 3 + 4 + 1 numbers.
#[test]
fn the_interpreter_needs_more() {
    let text = format!(
        "{HEAD}a = u_in * u_in\nb = a * a\nOutput(\"b\", b)\nu : Mutable Collection Of Scalar On AllCells()\nu = u_in\nFor dt In timesteps {{\n    u = u + dt * u\n}}\n"
    );
    let module = |level| optimised(&text, level);
    let numbers = |needs: &Needs| needs.sets[0].general.numbers[2];
    let plain = module(OptLevel::O0);
    assert_eq!((numbers(&Needs::of(&plain)), numbers(&Needs::by_lanes(&plain)), numbers(&Needs::by_elements(&plain))), (3, 3, 3));
    // By kernels: u and what a kernel makes of it, with its row and a copy.
    let fused = module(OptLevel::O2);
    assert_eq!(numbers(&Needs::of(&fused)), 2);
    assert_eq!(numbers(&Needs::by_lanes(&fused)), 2);
    assert_eq!(numbers(&Needs::by_elements(&fused)), 2 + 3 + 4 + 1);
    assert_eq!(Needs::by_elements(&fused).sets[0].general, Needs::by_elements(&fused).sets[0].cartesian);
    // In single precision rows and copies are of doubles, which take the memory of two numbers.
    let mut single = fused;
    single.numbers.precision = Precision::Single;
    assert_eq!(numbers(&Needs::by_lanes(&single)), 2);
    assert_eq!(numbers(&Needs::by_elements(&single)), 2 + 2 * (3 + 4 + 1));
}

/// In single precision lanes round the volumes that a kernel reads, for the time of its launch.
#[test]
fn rounded_volumes_need_memory() {
    let text = format!(
        "{HEAD}u : Mutable Collection Of Scalar On AllCells()\nu = u_in\nFor dt In timesteps {{\n    u = u + dt * u / |AllCells()|\n}}\n"
    );
    let mut module = optimised(&text, OptLevel::O2);
    let numbers = |module: &Module| Needs::by_lanes(module).sets[0].general.numbers[2];
    let double = numbers(&module);
    module.numbers.precision = Precision::Single;
    assert_eq!(numbers(&module), double + 1);
}

fn optimised(text: &str, level: OptLevel) -> Module {
    let checked = check_text(text, &CheckOptions { nondimensional: true });
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics.first()));
    optimise(lower::lower(&program, &SourceMap::new("program.equelle", text), "program"), level)
}

/// A run that cannot fit is refused before an input is read, here one that has no number.
#[test]
fn the_interpreter_refuses_what_cannot_fit() {
    let folder = scratch("memory-interpreted");
    fs::write(folder.join("sum.equelle"), "u = InputCollectionOfScalar(\"u\", AllCells())\nOutput(\"sum\", SumReduce(u * u))\n")
        .expect("written");
    let run = |words: &[&str]| {
        let mut command = crate::support::equellec();
        command.args(["run", "--interpret"]).arg(folder.join("sum.equelle")).args(["nx=1000", "ny=1000"]).args(words);
        let output = command.output().expect("equellec starts");
        (output.status.code(), stderr(&output))
    };
    let file = folder.join("words.txt");
    fs::write(&file, "no number\n").expect("written");
    let (code, messages) = run(&["memory_limit=10MB", &format!("u_filename={}", file.display())]);
    assert_eq!(code, Some(4), "{messages}");
    assert!(messages.contains("are allowed by memory_limit") && messages.contains("collections on AllCells()"), "{messages}");
    let (code, messages) = run(&["memory_limit=1GB", "u=2"]);
    assert_eq!(code, Some(0), "{messages}");
    fs::remove_dir_all(&folder).expect("removed");
}

/// `u0 = u` gives a second handle to the same array.
#[test]
fn an_assignment_of_a_field_copies_nothing() {
    let head = format!(
        "{HEAD}u : Mutable Collection Of Scalar On AllCells()\nu0 : Mutable Collection Of Scalar On AllCells()\nu = u_in\nu0 = u\n"
    );
    let with = format!(
        "{head}For dt In timesteps {{\n    u0 = u\n    u = u0 + dt * Divergence(Gradient(u0))\n    Output(\"change\", u - u0)\n}}\n"
    );
    // Old, new, and their difference.
    assert_eq!(numbers(&with, OptLevel::O2, CELLS), (3, 3));
    let text = generated(&with, OptLevel::O2);
    // Comments have the lines of the program.
    let assigns = |line: &str| line.contains("u0 =") && !line.trim_start().starts_with("//");
    assert!(!text.lines().any(|line| assigns(line) && !line.contains("u0 = u.clone();")), "a clone of a collection is a handle: {text}");
}

/// The second of three stages takes the memory of the state, the third that of the first: two
/// arrays a field, as in the example of magnetohydrodynamics.
#[test]
fn stages_live_in_two_arrays_a_field() {
    // Too expensive to be computed again at the cells where it is read.
    let terms: Vec<String> = (1..=4).flat_map(|n| [format!("Exp(p(i+{n}))"), format!("Sin(p(i-{n}))")]).collect();
    let rates = format!("i = StencilI()\nr(f) = {{\n    p = Halo(f, Periodic(i))\n    -> {}\n}}\n", terms.join(" - "));
    let stages = "    a = u + dt * r(u)\n    b = u + a + dt * r(a)\n    u = b + a - dt * r(b)\n";
    let text = |more: &str| {
        format!(
            "{rates}{HEAD}u : Mutable Collection Of Scalar On AllCells()\nu = u_in\nFor dt In timesteps {{\n{stages}{more}}}\nOutput(\"u\", u)\n"
        )
    };
    assert_eq!(numbers(&text(""), OptLevel::O2, CELLS), (2, 2));
    // Somebody reads the first stage again.
    assert_eq!(numbers(&text("    Output(\"a\", a)\n"), OptLevel::O2, CELLS), (3, 3));
    let mhd = fs::read_to_string(repository("examples/mhd/mhd.equelle")).expect("the example");
    assert_eq!(numbers(&mhd, OptLevel::O2, CELLS), (16, 16));
    let generated = generated(&text(""), OptLevel::O2);
    assert!(generated.contains("pub u: R::ScalarCollection") && generated.contains("pub a: R::ScalarCollection"), "{generated}");
}

#[test]
fn what_is_dead_before_a_loop_takes_nothing_in_it() {
    let body = "u : Mutable Collection Of Scalar On AllCells()\nu = a * b * c\nFor dt In timesteps {\n    w = u * u\n    Output(\"w\", w)\n    u = Sqrt(w) * dt\n}\n";
    let text = format!(
        "a = InputCollectionOfScalar(\"a\", AllCells())\nb = InputCollectionOfScalar(\"b\", AllCells())\nc = InputCollectionOfScalar(\"c\", AllCells())\ntimesteps = InputSequenceOfScalar(\"timesteps\")\n{body}"
    );
    // Three inputs and their product; in the loop no more than u, w and the new u.
    assert_eq!(numbers(&text, OptLevel::O2, CELLS), (4, 4));
    let generated = generated(&text, OptLevel::O2);
    for name in ["a", "b", "c"] {
        assert!(generated.contains(&format!("    drop({name});\n")), "{generated}");
    }
    let drops = generated.find("drop(a);").expect("dropped");
    assert!(drops < generated.find("begin_loop").expect("a loop"), "{generated}");
}

#[test]
fn what_is_kept_per_axis_costs_nothing() {
    let text = format!(
        "{HEAD}area = |InteriorFaces()| * 2\nu : Mutable Collection Of Scalar On AllCells()\nu = u_in\nFor dt In timesteps {{\n    u = u + dt * Divergence(area * area * area * Gradient(u))\n}}\n"
    );
    assert_eq!(numbers(&text, OptLevel::O2, "InteriorFaces()"), (1, 0));
}

#[test]
fn functions_count_where_they_are_called() {
    let text = format!("f(x) = {{\n    a = x * x\n    b = a * a\n    -> b * a\n}}\n{HEAD}Output(\"y\", f(u_in))\n");
    // The argument, a, b and the result.
    assert_eq!(numbers(&text, OptLevel::O0, CELLS), (4, 4));
}

/// Each function calls the one before it twice: 2^40 calls.
#[test]
fn functions_are_run_once() {
    let mut text = "f0(x) = {\n    -> x * x\n}\n".to_owned();
    for i in 1..=40 {
        text.push_str(&format!("f{i}(x) = {{\n    -> f{0}(x) + f{0}(x * x)\n}}\n", i - 1));
    }
    text.push_str(&format!("{HEAD}Output(\"y\", f40(u_in))\n"));
    let (general, _) = numbers(&text, OptLevel::O0, CELLS);
    // f1 has two results, an argument and their sum; each level above keeps the first result and
    // the argument while the second call runs. And the input.
    assert_eq!(general, 4 + 2 * 39 + 1);
}

#[test]
fn loops_in_loops_end() {
    let depth = 60;
    let mut text = format!("{HEAD}u : Mutable Collection Of Scalar On AllCells()\nu = u_in\n");
    for i in 0..depth {
        text.push_str(&format!("For t{i} In timesteps {{\n"));
    }
    text.push_str(&format!("u = u * t0\n{}", "}\n".repeat(depth)));
    assert_eq!(numbers(&text, OptLevel::O0, CELLS), (2, 2));
}

#[test]
fn vectors_have_as_many_numbers_as_dimensions() {
    let (needs, names) = needs("Output(\"c\", Centroid(AllCells()))\n", OptLevel::O0);
    assert_eq!(names, [CELLS]);
    assert_eq!(needs.sets[0].general, Buffers { numbers: [1, 2, 3], truths: 0, entities: 1 });
    assert!(needs.geometry && !needs.topology);
}

#[test]
fn rows_of_jacobians() {
    let text = format!("{HEAD}r(x) = {{\n    -> x - u_in - Divergence(Gradient(x))\n}}\nOutput(\"x\", NewtonSolve(r, u_in))\n");
    let (needs, _) = needs(&text, OptLevel::O2);
    assert_eq!((needs.solves.len(), needs.solves[0].entries.clone()), (1, vec![[3, 5, 7]]));
}

fn generated(text: &str, level: OptLevel) -> String {
    let folder = scratch(&format!("memory-text-{level:?}-{}", text.len()));
    let file = folder.join("program.equelle");
    fs::write(&file, text).expect("written");
    let level = if level == OptLevel::O0 { "-O0" } else { "-O2" };
    let output = crate::support::equellec().args(["emit", "rust", "--nondimensional", level]).arg(&file).output().expect("equellec starts");
    assert!(output.status.success(), "{}", stderr(&output));
    fs::remove_dir_all(&folder).expect("removed");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs a simulator in a folder of its own.
fn simulate(program: &Path, words: &[&str]) -> Output {
    static COUNTER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let folder = scratch(&format!("memory-{}", COUNTER.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
    let output = Command::new(program).args(words).args(["output_to_file=true", &format!("output_dir={}", folder.display())]).output();
    let output = output.expect("a simulator that was built starts");
    fs::remove_dir_all(&folder).expect("removed");
    output
}

/// Buffers taken from the system, their bytes, and the bytes that were foreseen.
fn buffers(output: &Output) -> (u64, u64, u64) {
    assert!(output.status.success(), "{}", stderr(output));
    let text = stderr(output);
    let line = text.lines().find(|line| line.starts_with("buffers: ")).unwrap_or_else(|| panic!("{text}"));
    let before = |what: &str| {
        let end = line.find(what).unwrap_or_else(|| panic!("{line}"));
        line[..end].trim().rsplit([' ', '(']).next().and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
    };
    (before("allocated"), before("bytes,"), before("bytes planned"))
}

/// Programs that other tests build as well, with their levels, and bytes that two solves share
/// because their Jacobians happen to be as long as each other, which nothing foresees: of two_phase
/// five entries a row in 150 cells. Where derivatives are followed operation by operation, they are
/// not in buffers.
const PROGRAMS: [(&str, &[&str], u64); 6] = [
    ("heat_explicit_2d", &["-O0", "-O2"], 0),
    ("heat_explicit_3d", &["-O0", "-O2"], 0),
    ("heat_implicit_3d", &["-O2"], 0),
    ("shallow_water", &["-O0", "-O2"], 0),
    ("two_phase", &["-O2"], 8 * 5 * 150),
    // A system of blocks: nothing is copied.
    ("two_phase_implicit", &["-O2"], 0),
];

/// The foreseen memory bounds that of a run, and not by much: programs whose loops run do all that
/// the compiler saw.
#[test]
fn runs_take_what_was_foreseen() {
    for (name, levels, shared) in PROGRAMS {
        let program = format!("examples/{name}/{name}.equelle");
        let param = repository(&format!("examples/{name}/case.param"));
        for level in levels {
            for layout in ["grid_layout=auto", "grid_layout=unstructured"] {
                let dimensions = if name == "two_phase_implicit" { Dimensions::Unchecked } else { Dimensions::Checked };
                let built = built_with(level, dimensions, &program);
                let output = simulate(&built, &["--compiled-in", "0.5", "--profile", &param.to_string_lossy(), layout]);
                assert!(stderr(&output).contains(&format!("{:<32} {:>12}", "compile", "500.0 ms")), "{}", stderr(&output));
                let (_, taken, foreseen) = buffers(&output);
                assert!(taken <= foreseen, "{name} {level} {layout}: {taken} bytes, foreseen {foreseen}");
                let most = 1.25 * taken as f64 + (shared + 100) as f64;
                assert!(foreseen as f64 <= most, "{name} {level} {layout}: {taken} bytes, foreseen {foreseen}");
                // Rows at the boundary are shorter than what is foreseen for all.
                let line = "patterns of Jacobians: ";
                let (taken, foreseen) = (noted(&output, line, " bytes,"), noted(&output, line, " bytes planned"));
                assert!(taken <= foreseen && foreseen as f64 <= 1.25 * taken as f64, "{name} {layout}: {taken} bytes, foreseen {foreseen}");
            }
        }
    }
}

/// The number of bytes before a word of a line of the profile; 0 where there is no such line.
fn noted(output: &Output, line: &str, before: &str) -> u64 {
    let text = stderr(output);
    let Some(line) = text.lines().find(|found| found.starts_with(line)) else { return 0 };
    let end = line.find(before).unwrap_or_else(|| panic!("{line}"));
    line[..end].trim().rsplit([' ', '(']).next().and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

/// Assembly for implicit heat in a cube of n^3 cells, on both kinds of grids: the CSR matrix has 12
/// bytes an entry and 8 a row, and n^3 + 6 (n - 1) n^2 entries; what else the program has are its
/// fields. The map of slots, positions of rows, and what is left of the geometry come on top, all
/// together at most half of that.
fn assembly_of_a_cube(n: usize) {
    let program = "examples/heat_implicit_3d/heat_implicit_3d.equelle";
    let folder = scratch(&format!("memory-assembly-{n}"));
    let (cells, side) = (n.pow(3), n * n);
    // Faces across x are first: of each row of cells the one at its low end.
    let rows: Vec<String> = (0..side).map(|row| ((n + 1) * row).to_string()).collect();
    fs::write(folder.join("faces.txt"), rows.join("\n")).expect("written");
    fs::write(folder.join("values.txt"), "300\n".repeat(side)).expect("written");
    fs::write(folder.join("steps.txt"), "1\n").expect("written");
    let file = |key: &str, name: &str| format!("{key}_filename={}", folder.join(name).display());
    let words = [
        format!("grid_dim=3 nx={n} ny={n} nz={n} dx=1 dy=1 dz=1 k=0.3 cv=1 u_initial=500 dir_val_from_file=true"),
        file("dir_boundary", "faces.txt"),
        file("dir_val", "values.txt"),
        file("timesteps", "steps.txt"),
        // Whatever the residual is, it is small enough: assembly alone, of one iterate.
        "abs_res_tol=1e300 output_to_file=false --profile".to_owned(),
    ];
    let words: Vec<&str> = words.iter().flat_map(|word| word.split(' ')).collect();
    let entries = (cells + 6 * (n - 1) * side) as u64;
    let (cells, rest) = (cells as u64, 4 * entries + 8 * (cells as u64 + 1));
    let matrix = 8 * entries + rest;
    let built = built_with("-O2", Dimensions::Checked, program);
    for (layout, slots) in [("grid_layout=auto", false), ("grid_layout=unstructured", true)] {
        let output = Command::new(&built).args(&words).arg(layout).output().expect("a simulator that was built starts");
        let (_, taken, _) = buffers(&output);
        let (patterns, geometry) =
            (noted(&output, "patterns of Jacobians: ", " bytes,"), noted(&output, "geometry at the end: ", " bytes)"));
        // Buffers are the fields and the entries of the matrix, patterns the rest of it and the
        // slots.
        let fields = taken - 8 * entries;
        assert!(patterns >= rest, "{layout}: {patterns}");
        assert_eq!(patterns > rest + cells, slots, "{layout}: {patterns}");
        let (all, allowed) = (taken + patterns + geometry, (matrix + fields) * 3 / 2);
        let over = all as f64 / (matrix + fields) as f64;
        println!("{layout}: matrix {matrix}, fields {fields}, slots {}, geometry {geometry} bytes; all {over:.3}", patterns - rest);
        assert!(all <= allowed, "{layout}: {all} bytes, {allowed} allowed: {}", stderr(&output));
        // Neither centroids nor areas and normals of faces are read after the transmissibilities.
        assert!(geometry <= 8 * cells, "{layout}: {geometry} bytes of geometry");
    }
    fs::remove_dir_all(&folder).expect("removed");
}

/// Two unknowns that diffuse through each other in a cube of n^3 cells: every equation depends on
/// both of the cell and its neighbours, so that the CSR matrix has four entries for one of a single
/// equation. What is counted and allowed is the same; pore volumes and the like are fields.
fn assembly_of_a_system(n: usize) {
    let folder = scratch(&format!("memory-system-{n}"));
    let program = folder.join("coupled.equelle");
    fs::write(&program, COUPLED).expect("written");
    let (cells, side) = (n.pow(3), n * n);
    let grid = format!("grid_dim=3 nx={n} ny={n} nz={n}");
    let words: Vec<&str> = grid.split(' ').chain(["output_to_file=false", "--profile"]).collect();
    let entries = 4 * (cells + 6 * (n - 1) * side) as u64;
    let matrix = 12 * entries + 8 * (2 * cells as u64 + 1);
    let built = built_with("-O2", Dimensions::Unchecked, &program.to_string_lossy());
    for layout in ["grid_layout=auto", "grid_layout=unstructured"] {
        let run =
            |more: &[&str]| Command::new(&built).args(&words).arg(layout).args(more).output().expect("a simulator that was built starts");
        // Whatever the residual is, it is small enough: assembly alone, of one iterate. The pattern
        // of the blocks is made when a matrix is asked for.
        let (output, solved) = (run(&["abs_res_tol=1e300"]), run(&[]));
        let (_, taken, foreseen) = buffers(&output);
        let patterns = noted(&solved, "patterns of Jacobians: ", " bytes,");
        let patterns_foreseen = noted(&solved, "patterns of Jacobians: ", " bytes planned");
        let geometry = noted(&output, "geometry at the end: ", " bytes)");
        let fields = taken - 8 * entries;
        let all = taken + patterns + geometry;
        let over = all as f64 / (matrix + fields) as f64;
        println!("{layout}: matrix {matrix}, fields {fields}, patterns and slots {patterns}, geometry {geometry} bytes; all {over:.3}");
        assert!(2 * all <= 3 * (matrix + fields), "{layout}: {all} bytes: {}", stderr(&output));
        // Rows at the boundary are shorter than what is foreseen for all: 27 / 30 of the entries of
        // the smallest cube that is tested.
        assert!(taken <= foreseen && foreseen as f64 <= 1.25 * taken as f64, "{layout}: {taken} bytes, foreseen {foreseen}");
        assert!(
            patterns <= patterns_foreseen && patterns_foreseen as f64 <= 1.25 * patterns as f64,
            "{layout}: {patterns}, {patterns_foreseen}"
        );
    }
    fs::remove_dir_all(&folder).expect("removed");
}

const COUPLED: &str = "\
u0 = 2 Extend AllCells()
v0 = 1 Extend AllCells()
first = FirstCell(InteriorFaces())
second = SecondCell(InteriorFaces())
conductance(u, v) = {
    w = (1 Extend AllCells()) + u * u + v * v
    -> 0.5 * ((w On first) + (w On second))
}
of_u(u, v) = {
    -> |AllCells()| * (u - v) - Divergence(conductance(u, v) * Gradient(u))
}
of_v(u, v) = {
    -> |AllCells()| * (v - u0) - Divergence(conductance(u, v) * Gradient(v))
}
solution = NewtonSolveSystem([of_u, of_v], [u0, v0])
Output(\"sum\", SumReduce(solution[0]) + SumReduce(solution[1]))
";

#[test]
fn assembly_takes_little_more_than_its_matrix_and_fields() {
    assembly_of_a_cube(30);
    assembly_of_a_system(20);
}

/// `cargo test --test numbers memory:: -- --ignored --nocapture`
#[test]
#[ignore = "takes long: the size that docs/benchmarks records; .ci/full runs it"]
fn assembly_of_a_million_cells() {
    assembly_of_a_cube(100);
    assembly_of_a_system(100);
}

#[test]
fn geometry_that_nothing_reads_any_more_is_given_up() {
    let text = |step: &str| {
        format!(
            "{HEAD}area = |InteriorFaces()|\nu : Mutable Collection Of Scalar On AllCells()\nu = u_in\nFor dt In timesteps {{\n    u = {step}\n}}\n"
        )
    };
    let kept = |step: &str| {
        let text = generated(&text(step), OptLevel::O2);
        let line = text.lines().map(str::trim).find(|line| line.starts_with("rt.keep_geometry(")).unwrap_or_default();
        line.to_owned()
    };
    // The product of areas of faces is stored before the loop, and nothing is left to read; volumes
    // of cells are read where they are.
    let steps = [
        ("u + dt * Divergence(area * area * area * Gradient(u))", "rt.keep_geometry(&[]);"),
        ("u + dt / |AllCells()| * Divergence(Gradient(u))", "rt.keep_geometry(&[GeometryArray::CellVolumes]);"),
        (
            "u + Divergence(Normal(InteriorFaces())[0] * Gradient(u)) * Centroid(AllCells())[0]",
            "rt.keep_geometry(&[GeometryArray::CellCentroids, GeometryArray::FaceNormals]);",
        ),
    ];
    for (step, expected) in steps {
        assert_eq!(kept(step), expected, "{step}");
    }
}

/// As many buffers for 12 steps as for 4.
#[test]
fn steady_steps_allocate_nothing() {
    let folder = scratch("memory-steps");
    for (name, level) in [("heat_explicit_3d", "-O0"), ("heat_explicit_3d", "-O2"), ("shallow_water", "-O2")] {
        let built = built_with(level, Dimensions::Checked, &format!("examples/{name}/{name}.equelle"));
        let param = repository(&format!("examples/{name}/case.param"));
        let allocated = [4, 12].map(|steps| {
            let file = folder.join(format!("{steps}.txt"));
            fs::write(&file, "0.001\n".repeat(steps)).expect("written");
            let steps = format!("timesteps_filename={}", file.display());
            buffers(&simulate(&built, &["--profile", &param.to_string_lossy(), &steps])).0
        });
        assert_eq!(allocated[0], allocated[1], "{name} {level}");
    }
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn too_much_is_refused_before_anything_is_read() {
    let built = built_with("-O2", Dimensions::Checked, "examples/heat_explicit_3d/heat_explicit_3d.equelle");
    // A million cells: two fields are 16 MB; the 60,000 boundary faces are listed. No input is
    // given, which nobody notices.
    let grid = ["grid_dim=3", "nx=100", "ny=100", "nz=100"];
    let refused = simulate(&built, &[&grid[..], &["memory_limit=10MB"]].concat());
    assert_eq!(refused.status.code(), Some(4));
    let text = stderr(&refused);
    assert!(text.starts_with("error: the run needs about 16.2 MB of memory, 10.0 MB are allowed by memory_limit:\n"), "{text}");
    assert!(
        text.contains("16.0 MB  collections on AllCells()")
            && text.contains("960 kB  collections on dirichlet_boundary, at most")
            && text.contains("hint: use a coarser grid"),
        "{text}"
    );
    // With enough memory the first input is missed instead.
    let missed = simulate(&built, &[&grid[..], &["memory_limit=100MB"]].concat());
    assert!(stderr(&missed).contains("timesteps"), "{}", stderr(&missed));
    let wrong = simulate(&built, &["memory_limit=much"]);
    assert_eq!(wrong.status.code(), Some(4));
    assert!(stderr(&wrong).contains("parameter `memory_limit` must be a size such as 16GiB, not `much`"), "{}", stderr(&wrong));
}
