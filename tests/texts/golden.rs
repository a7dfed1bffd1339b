//! Generated text, kept below `tests/golden`: so that a change of the generator shows in review as
//! a change of what people read.
//!
//! `EQUELLE_BLESS=1` writes the files anew; review the difference. `tests/numbers/package.rs` and
//! the run tests show that such text compiles and is right.

use std::path::{Path, PathBuf};
use std::{env, fs};

use equelle::package::{PackageOptions, generate};
use equelle_front::backend::Backend;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::ir::{Precision, text};
use equelle_front::lower;
use equelle_front::passes::{self, OptLevel};
use equelle_front::source::SourceMap;
use equelle_front::verify::{Verified, verify};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn compiled(path: &str, level: OptLevel) -> Verified {
    compiled_as(path, level, |text| text)
}

/// A program of the project, its text changed.
fn compiled_as(path: &str, level: OptLevel, change: impl FnOnce(String) -> String) -> Verified {
    let path = repository(path);
    let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
    optimised(SourceMap::new(name, change(read(&path))), level)
}

fn optimised(source: SourceMap, level: OptLevel) -> Verified {
    let checked = check_text(source.text(), &CheckOptions { nondimensional: false });
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let module = lower::lower(&program, &source, source.name().trim_end_matches(".equelle"));
    verify(passes::optimise(module, level)).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn parsed(path: &str) -> Verified {
    let module = text::parse(&read(&repository(path))).unwrap_or_else(|e| panic!("{path}: {e}"));
    verify(module).unwrap_or_else(|errors| panic!("{path}: {errors:?}"))
}

/// Compares the text of a package for the serial back-end with the files in a folder.
fn compare(name: &str, module: &Verified) {
    let serial = backend_serial::codegen::Serial;
    let options = PackageOptions { backends: &[&serial], runtime_crates: Path::new("runtime") };
    let package = generate(module, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
    compare_files(&format!("serial/{name}"), &package.files);
}

/// Compares what the CUDA back-end adds to a package. CI compiles these kernels with NVRTC.
fn compare_cuda(name: &str, module: &Verified) {
    let files = backend_cuda::codegen::Cuda.files(module).unwrap_or_else(|e| panic!("{name}: {e}"));
    compare_files(&format!("cuda/{name}"), &files);
}

/// The text of both back-ends for a program, without comments: they name its lines.
fn generated(program: &str) -> Vec<(String, String)> {
    let module = optimised(SourceMap::new("p.equelle", program), OptLevel::O2);
    let serial = backend_serial::codegen::Serial;
    let options = PackageOptions { backends: &[&serial], runtime_crates: Path::new("runtime") };
    let mut files = generate(&module, &options).unwrap_or_else(|e| panic!("{program}: {e}")).files;
    files.extend(backend_cuda::codegen::Cuda.files(&module).unwrap_or_else(|e| panic!("{program}: {e}")));
    files.retain(|(path, _)| !path.ends_with(".equelle") && !path.ends_with(".json"));
    let uncommented = |text: String| text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    files.into_iter().map(|(path, text)| (path, uncommented(text))).collect()
}

fn compare_files(name: &str, files: &[(String, String)]) {
    let folder = repository("tests/golden").join(name);
    let bless = env::var_os("EQUELLE_BLESS").is_some_and(|v| v == "1");
    let mut expected_files = Vec::new();
    for (path, found) in files {
        // The source is in the package as it is, and the versions in Cargo.toml change with
        // releases alone.
        if path.ends_with(".equelle") {
            continue;
        }
        // Under its own name cargo would take the folder for a package.
        let file = folder.join(if path == "Cargo.toml" { "cargo_toml.txt" } else { path.trim_start_matches("src/") });
        expected_files.push(file.file_name().expect("a name").to_owned());
        if bless {
            fs::create_dir_all(&folder).expect("the repository can be written");
            fs::write(&file, found).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            continue;
        }
        let expected = read(&file);
        for (number, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
            assert_eq!(expected, found, "{}, line {}", file.display(), number + 1);
        }
        assert!(expected == *found, "{}: number of lines or line ends differ", file.display());
    }
    for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let file = entry.expect("the folder can be read").file_name();
        assert!(expected_files.contains(&file), "{name}: {} is generated no more", file.display());
    }
}

#[test]
fn heat_at_operation_level() {
    compare("heat_explicit_3d_O0", &compiled("examples/heat_explicit_3d/heat_explicit_3d.equelle", OptLevel::O0));
}

#[test]
fn heat_fused() {
    compare("heat_explicit_3d_O2", &compiled("examples/heat_explicit_3d/heat_explicit_3d.equelle", OptLevel::O2));
    compare("heat_explicit_2d_O2", &compiled("examples/heat_explicit_2d/heat_explicit_2d.equelle", OptLevel::O2));
}

/// A module whose collections hold singles.
fn single(module: Verified) -> Verified {
    let mut module = module.module().clone();
    module.numbers.precision = Precision::Single;
    verify(module).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Singles, with what reads no collection of numbers in doubles.
#[test]
fn single_precision() {
    compare("heat_explicit_3d_f32", &single(compiled("examples/heat_explicit_3d/heat_explicit_3d.equelle", OptLevel::O2)));
    compare("every_construct_f32", &single(parsed("tests/package/every_construct.eqir")));
}

#[test]
fn implicit_heat() {
    compare("heat_implicit_3d_O2", &compiled("examples/heat_implicit_3d/heat_implicit_3d.equelle", OptLevel::O2));
}

#[test]
fn heat_on_cuda() {
    let heat = || compiled("examples/heat_explicit_3d/heat_explicit_3d.equelle", OptLevel::O2);
    compare_cuda("heat_explicit_3d_O2", &heat());
    compare_cuda("heat_explicit_3d_f32", &single(heat()));
}

/// Reads by index, with several cells of a row a thread too; another rule along each axis.
const DIFFUSION: &str = r#"# dimensions: ignore
Import "equelle:derivatives" (second_4)
i = StencilI()
j = StencilJ()
k = StencilK()
rate = InputCollectionOfScalar("rate", AllCells())
u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("u", AllCells())
For dt In InputSequenceOfScalar("dt") {
    w = Halo(u, Mirror(i), Periodic(j), Copy(k))
    u = u + dt * rate * (second_4(w, i) + second_4(w, j) + second_4(w, k))
}
Output("u", u)
"#;

#[test]
fn diffusion_by_index_on_cuda() {
    let diffusion = || optimised(SourceMap::new("diffusion.equelle", DIFFUSION), OptLevel::O2);
    compare_cuda("diffusion_by_index", &diffusion());
    compare_cuda("diffusion_by_index_f32", &single(diffusion()));
}

#[test]
fn kernels_written_by_hand_on_cuda() {
    for name in ["heat_dirichlet", "swe_stage", "twophase_upwind", "cells_wells"] {
        compare_cuda(name, &parsed(&format!("tests/ir/kernels/{name}.eqir")));
    }
    for name in ["every_construct", "every_type"] {
        compare_cuda(name, &parsed(&format!("tests/package/{name}.eqir")));
    }
}

#[test]
fn kernels_written_by_hand() {
    for name in ["heat_dirichlet", "swe_stage", "twophase_upwind", "cells_wells"] {
        compare(name, &parsed(&format!("tests/ir/kernels/{name}.eqir")));
    }
    for name in ["every_construct", "every_type"] {
        compare(name, &parsed(&format!("tests/package/{name}.eqir")));
    }
}

/// `@number;domain@` stands for the number, alone or extended to the domain.
const NUMBERS: &str = r#"
d = InputDomainSubsetOf("d", AllCells())
x = InputCollectionOfScalar("x", AllCells())
bf = BoundaryFaces()
inside = IsEmpty(FirstCell(bf)) ? SecondCell(bf) : FirstCell(bf)
sign = IsEmpty(FirstCell(bf)) ? @-1;bf@ : @1;bf@
total : Function(a : Collection Of Scalar On AllCells(), k : Collection Of Scalar On AllCells()) -> Scalar
total(a, k) = {
    -> SumReduce(a * a + k)
}
limited(a) = {
    -> a * a > 2 ? @2;AllCells()@ : a * a
}
u : Mutable Collection Of Scalar On AllCells() = x - @0.5;AllCells()@
For t In InputSequenceOfScalar("t") {
    flux = @1;InteriorFaces()@ - Gradient(u)
    u = limited(u) + t * Divergence((flux Extend AllFaces()) + ((sign * (u On inside)) Extend AllFaces()))
    v = Vector(1, 2)
    u = u + Divergence(Dot(Normal(InteriorFaces()), @v;InteriorFaces()@))
}
Output("u", u)
Output("total", total(u, @3;AllCells()@))
w = (u * u) On d
Output("w", w * w + @1;d@)
r(y) = {
    -> y * y - Divergence(Gradient(y)) + (y > @1;AllCells()@ ? y : @0;AllCells()@) - @4;AllCells()@
}
Output("y", NewtonSolve(r, x))
"#;

fn numbers(extended: bool) -> String {
    let written = |(i, part): (usize, &str)| match part.split_once(';') {
        Some((number, domain)) if i % 2 == 1 && extended => format!("({number} Extend {domain})"),
        Some((number, _)) if i % 2 == 1 => number.to_owned(),
        Some(_) | None => part.to_owned(),
    };
    NUMBERS.split('@').enumerate().map(written).collect()
}

#[test]
fn numbers_beside_collections_have_the_kernels_of_extended_ones() {
    let (alone, extended) = (generated(&numbers(false)), generated(&numbers(true)));
    assert!(alone.iter().any(|(path, _)| path.ends_with(".cu")));
    assert_eq!(alone.len(), extended.len());
    for ((path, alone), (_, extended)) in alone.iter().zip(&extended) {
        for (alone, extended) in alone.lines().zip(extended.lines()) {
            assert_eq!(alone, extended, "{path}");
        }
        assert_eq!(alone.len(), extended.len(), "{path}");
    }
}

/// Kernels of a program for both back-ends, without the lines that quote it.
fn kernels(module: &Verified) -> String {
    let serial = backend_serial::codegen::Serial.files(module).unwrap_or_else(|e| panic!("{e}"));
    let cuda = backend_cuda::codegen::Cuda.files(module).unwrap_or_else(|e| panic!("{e}"));
    let texts = serial.into_iter().chain(cuda).map(|(_, text)| text).collect::<Vec<_>>().concat();
    assert!(texts.contains("__global__"));
    texts.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// A program has the same kernels in the words of other constructs.
#[track_caller]
fn same_kernels(path: &str, words: &[(&str, &str)]) {
    let expected = kernels(&compiled(path, OptLevel::O2));
    let other = compiled_as(path, OptLevel::O2, |mut text| {
        for (from, to) in words {
            assert!(text.contains(from), "{path} has no `{from}`");
            text = text.replace(from, to);
        }
        text
    });
    let found = kernels(&other);
    assert_eq!(found.lines().count(), expected.lines().count(), "{path}");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn face_sums_are_divergences() {
    same_kernels(
        "examples/shallow_water/shallow_water.equelle",
        &[
            ("Divergence(mass_flow)", "FaceSum(mass_flow, -mass_flow)"),
            ("Divergence(force_x)", "FaceSum(force_x, -force_x)"),
            ("Divergence(force_y)", "FaceSum(force_y, -force_y)"),
        ],
    );
    same_kernels("examples/heat_implicit_3d/heat_implicit_3d.equelle", &[("Divergence(fluxes)", "FaceSum(fluxes, -fluxes)")]);
}

#[test]
fn inner_cells_are_those_that_are_not_empty() {
    same_kernels(
        "examples/heat_implicit_3d/heat_implicit_3d.equelle",
        &[
            (
                "inside = InnerCell(dir_boundary)",
                "inside = IsEmpty(FirstCell(dir_boundary)) ? SecondCell(dir_boundary) : FirstCell(dir_boundary)",
            ),
            (
                "direction = OutwardSign(dir_boundary)",
                "direction = IsEmpty(FirstCell(dir_boundary)) ? (-1 Extend dir_boundary) : (1 Extend dir_boundary)",
            ),
        ],
    );
}
