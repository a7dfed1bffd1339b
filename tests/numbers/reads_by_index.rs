//! Reads by index: compiled programs give the bits of the interpreter, for every rule beyond the
//! grid, and are refused on grids that have no structure; the library of derivatives, orders of
//! rules and the examples by stencils against closed forms. What the rules mean is in
//! `tests/conformance/stencils.case`.

use std::fs;

mod corners;
mod derivatives;
mod halos;
mod heat;
mod kuramoto_sivashinsky;
mod refused;
mod sod;
mod steps;
mod whirl;

use crate::support::{Dimensions, EVERY_WAY, How, Outputs, equellec, repository, run, run_with, scratch, stderr};

/// Runs a text without units.
fn program(how: How, name: &str, text: &str, words: &[&str]) -> Outputs {
    let file = scratch(&format!("by-index-{name}-{how:?}")).join("program.equelle");
    fs::write(&file, text).expect("a scratch folder can be written");
    run_with(how, Dimensions::Unchecked, &file.display().to_string(), words)
}

/// Runs an example on its case, with more words.
fn example(how: How, name: &str, words: &[&str]) -> Outputs {
    let case = repository(&format!("examples/{name}/case.param")).display().to_string();
    let words: Vec<&str> = [case.as_str()].into_iter().chain(words.iter().copied()).collect();
    run(how, &format!("examples/{name}/{name}.equelle"), &words)
}

/// The bits of an example are the same in every way and for any number of threads.
fn same_in_every_way(name: &str, words: &[&str]) {
    let expected = example(How::Interpreted0, name, words);
    for how in EVERY_WAY {
        for threads in ["threads=1", "threads=2", "threads=3"] {
            let words: Vec<&str> = words.iter().copied().chain([threads]).collect();
            crate::support::assert_same_bits(&example(how, name, &words), &expected, &format!("{name}, {how:?}, {threads}"));
        }
    }
}

const PROGRAM: &str = "tests/programs/reads_by_index.equelle";

fn outputs(how: How, threads: &str) -> Outputs {
    let words = ["grid_dim=2", "nx=5", "ny=4", "dx=0.5", "dy=0.25", "u_expression=x*x+3*y", threads];
    run_with(how, Dimensions::Unchecked, PROGRAM, &words)
}

#[test]
fn every_way_gives_the_same_bits() {
    let expected = outputs(How::Interpreted0, "threads=1");
    assert_eq!(expected.collections.len(), 13);
    // Cells are numbered along I first; 5 of them there, 0.25 wide along J.
    assert_eq!(expected.last("index")[..6], [500.25, 501.25, 502.25, 503.25, 504.25, 510.25]);
    for how in EVERY_WAY {
        for threads in ["threads=1", "threads=2", "threads=3"] {
            assert_eq!(outputs(how, threads), expected, "{how:?}, {threads}");
        }
    }
}

/// A kernel in parts, which are loops over strips of a row: shorter and longer rows than a strip,
/// and ends of rows of every length. Widths are powers of two, so that all bits are the same.
#[test]
fn kernels_in_parts_give_the_same_bits() {
    const WIDE: &str = "tests/programs/wide_stencil.equelle";
    let inputs = ["dx=0.5", "dy=0.25", "dz=0.125", "u_expression=Sin(x)+y*z", "v_expression=x*x-z", "w_expression=y-Cos(x*z)"];
    for sizes in [["nx=3", "ny=4", "nz=5"], ["nx=31", "ny=5", "nz=4"], ["nx=150", "ny=9", "nz=4"]] {
        let outputs = |how, threads| run_with(how, Dimensions::Unchecked, WIDE, &[&["grid_dim=3", threads][..], &sizes, &inputs].concat());
        let expected = outputs(How::Interpreted0, "threads=1");
        assert_eq!(expected.collections.len(), 4);
        for how in EVERY_WAY {
            for threads in ["threads=1", "threads=3"] {
                assert_eq!(outputs(how, threads), expected, "{how:?}, {threads}, {sizes:?}");
            }
        }
    }
}

/// The program of the book's page on stencils. Cosines between mirrored ends are eigenvectors of
/// symmetric stencils: each step multiplies them by `1 + dt k l / h^2`, with `l` from the
/// coefficients. Ten steps of some ten operations round less than 1e-13.
#[test]
fn the_page_conducts_heat() {
    let page = fs::read_to_string(repository("docs/book/src/stencils.md")).expect("the page");
    let program = page.split("```equelle\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program");
    let file = scratch("stencils-page").join("page.equelle");
    fs::write(&file, program).expect("a scratch folder can be written");
    let (n, steps, dt) = (32, 10, 1e-4);
    let words = ["grid_dim=1", "nx=32", "lx=1", "u_initial_expression=1+Cos(2*3.141592653589793*x)", "timesteps=10*1e-4"];
    let outputs = run(How::Interpreted2, &file.display().to_string(), &words);
    let (h, angle) = (1.0 / f64::from(n), 2.0 * std::f64::consts::PI / f64::from(n));
    let even = 4.0 * (3.0 * angle).cos() - 54.0 * (2.0 * angle).cos() + 540.0 * angle.cos() - 490.0;
    let factor = (1.0 + dt * even / (180.0 * h * h)).powi(steps);
    assert_eq!(outputs.fields("u").len(), steps as usize);
    for (cell, value) in outputs.last("u").iter().enumerate() {
        let exact = 1.0 + factor * (2.0 * std::f64::consts::PI * (cell as f64 + 0.5) * h).cos();
        assert!((value - exact).abs() <= 1e-13, "cell {cell}: {value} instead of {exact}");
    }
}

/// `divu` is cheap enough to be computed at both cells where it is read.
const CHOICES: &str = "i = StencilI()
j = StencilJ()
timesteps = InputSequenceOfScalar(\"timesteps\")
u : Mutable Collection Of Scalar On AllCells()
u = InputCollectionOfScalar(\"u\", AllCells())
laplace(f) = { -> f(i+1) + f(i-1) + f(j+1) + f(j-1) - 4 * f }
rates(f) = {
    divu = f(i+1) - f(i-1)
    lap = laplace(Halo(f, Periodic(i, j)))
    -> divu(i+1) - divu(i-1) + laplace(lap)
}
For dt In timesteps {
    half = u + dt * rates(Halo(u, Periodic(i, j)))
    u = u + dt * rates(Halo(half, Periodic(i, j)))
}
Output(\"u\", u)
";

/// Kernels of the program by the options that decide what is stored, and its last output.
fn stored(options: &[&str], name: &str) -> (Vec<String>, String) {
    let folder = scratch(name);
    let program = folder.join("choices.equelle");
    fs::write(&program, CHOICES).expect("a scratch folder can be written");
    let emitted = equellec().args(["emit", "ir"]).arg(&program).args(options).output().expect("equellec starts");
    assert!(emitted.status.success(), "{}", stderr(&emitted));
    let ir = String::from_utf8(emitted.stdout).expect("text");
    let kernels = ir.lines().filter_map(|line| line.strip_prefix("kernel ")).filter_map(|line| line.split(' ').next());
    let kernels = kernels.map(str::to_owned).collect();
    let words = ["grid_dim=2", "nx=7", "ny=6", "u_expression=Sin(x)*y", "timesteps=3*0.0125", "output_to_file=true"];
    let run = equellec()
        .args(["run", "--interpret", "--quiet", "--nondimensional"])
        .arg(&program)
        .args(options)
        .args(words)
        .current_dir(&folder)
        .output()
        .expect("equellec starts");
    assert!(run.status.success(), "{}", stderr(&run));
    let record = fs::read_to_string(folder.join("choices.run.json")).expect("the record of the run");
    assert_eq!(record.contains("\"storage\": \""), !options.is_empty(), "{record}");
    let output = fs::read_dir(&folder).expect("the folder").filter_map(Result::ok).map(|e| e.path());
    let output = output.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("u-"))).max();
    (kernels, fs::read_to_string(output.expect("an output")).expect("text"))
}

/// The user decides which kernels there are, and changes no bit.
#[test]
fn names_decide_what_is_stored() {
    let (usual, expected) = stored(&[], "choices-usual");
    let has = |kernels: &[String], part: &str| kernels.iter().filter(|kernel| kernel.contains(part)).count();
    assert_eq!(has(&usual, "divu"), 0, "{usual:?}");
    let (lap, output) = stored(&["--store=rates.lap"], "choices-both-calls");
    assert_eq!((has(&lap, "divu"), has(&lap, "lap")), (0, 2), "{lap:?}");
    assert_eq!(output, expected);
    let (divu, output) = stored(&["--store=rates.divu"], "choices-store");
    assert_eq!(has(&divu, "divu"), 2, "{divu:?}");
    assert_eq!(output, expected);
    let (none, output) = stored(&["--inline", "rates.lap"], "choices-inline");
    assert_eq!((has(&none, "divu"), has(&none, "lap")), (0, 0), "{none:?}");
    assert_eq!(output, expected);
    let (both, output) = stored(&["--store=rates.divu,half", "--inline=rates.lap"], "choices-both");
    assert_eq!((has(&both, "divu"), has(&both, "lap")), (2, 0), "{both:?}");
    assert_eq!(output, expected);
}

/// An array has the name of its elements; a collection whose name looks like that of an element is
/// none.
#[test]
fn names_of_arrays_are_those_of_their_elements() {
    let program = scratch("choices-arrays").join("arrays.equelle");
    let text = "a = InputCollectionOfScalar(\"a\", AllCells())\nq = [a * a, a + 1]\nw_2 = a * 3\n\
                Output(\"x\", q[0] * q[1] + w_2)\n";
    fs::write(&program, text).expect("a scratch folder can be written");
    // Kernels over the same cells become one, in which what was to be stored is a local.
    let locals = |option: &str| {
        let output = equellec().args(["emit", "ir"]).arg(&program).arg(option).output().expect("equellec starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), ["q_0", "q_1", "w_2"].map(|name| text.contains(&format!("    {name}: Scalar = "))))
    };
    assert_eq!(locals("--inline=q"), (Some(0), [false; 3]));
    assert_eq!(locals("--store=q"), (Some(0), [true, true, false]));
    assert_eq!(locals("--store=w_2"), (Some(0), [false, false, true]));
    assert_eq!(locals("--store=w"), (Some(2), [false; 3]));
}

#[test]
fn unknown_names_are_refused() {
    let program = scratch("choices-wrong").join("choices.equelle");
    fs::write(&program, CHOICES).expect("a scratch folder can be written");
    for (options, said) in [
        (["--store=rates.divv"].as_slice(), "--store: the program computes no collection `rates.divv`; did you mean `rates.divu`?"),
        (&["--inline=divu"], "--inline: the program computes no collection `divu`"),
        (&["--inline=dt"], "--inline: the program computes no collection `dt`"),
        (&["--inline=half", "--store=half"], "`half` is to be stored by --store, and not by --inline"),
    ] {
        for verb in [["emit", "report"].as_slice(), &["run", "--interpret"]] {
            let output = equellec().args(verb).arg(&program).args(options).output().expect("equellec starts");
            assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
            assert!(stderr(&output).contains(said), "{options:?}: {}", stderr(&output));
        }
    }
}
