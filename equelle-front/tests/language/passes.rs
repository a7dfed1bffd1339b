//! Passes, text to text: `tests/passes/<pass>/<case>.eqir` goes through one pass and must give
//! `<case>.out`. `EQUELLE_BLESS=1` rewrites the outputs.

use std::path::{Path, PathBuf};

use equelle_front::ir::{self, Module, StmtKind};
use equelle_front::passes::{OptLevel, PIPELINE_O2, optimise};
use equelle_front::source::SourceMap;
use equelle_front::{check, lower, syntax, verify};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes")
}

#[test]
fn each_pass_gives_the_expected_text() {
    let bless = std::env::var_os("EQUELLE_BLESS").is_some();
    let mut cases = 0;
    for pass in PIPELINE_O2 {
        let Ok(entries) = std::fs::read_dir(folder().join(pass.name)) else { continue };
        let mut inputs: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "eqir")).collect();
        inputs.sort();
        for input in inputs {
            cases += 1;
            let text = std::fs::read_to_string(&input).unwrap();
            let module = ir::text::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", input.display()));
            let mut module = verify::verify(module).unwrap_or_else(|e| panic!("{}: {e:?}", input.display())).into_module();
            pass.run(&mut module);
            let printed = ir::text::print(&module);
            verify::verify(module).unwrap_or_else(|e| panic!("{} after {}: {e:?}\n{printed}", input.display(), pass.name));
            let output = input.with_extension("out");
            if bless {
                std::fs::write(&output, &printed).unwrap();
            } else {
                let expected = std::fs::read_to_string(&output).unwrap_or_default();
                assert_eq!(printed, expected, "{}", input.display());
            }
        }
    }
    assert!(cases >= 6, "only {cases} cases found");
}

/// Explicit heat, as in `examples/heat_explicit_2d`.
const HEAT: &str = include_str!("../passes/heat_explicit.equelle");

fn compile(text: &str, level: OptLevel) -> Module {
    let source = SourceMap::new("heat.equelle", text);
    let parsed = syntax::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let checked = check::check(&parsed.program, &check::CheckOptions { nondimensional: true });
    let typed = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let module = optimise(lower::lower(&typed, &source, "heat"), level);
    verify::verify(module).unwrap_or_else(|e| panic!("{e:?}")).into_module()
}

fn loop_launches(module: &Module) -> Vec<&str> {
    let mut names = Vec::new();
    for statement in &module.main.body.statements {
        if let StmtKind::For { body, .. } = &statement.kind {
            for inner in &body.statements {
                match &inner.kind {
                    StmtKind::Launch { kernel, .. } => names.push(module.kernels[kernel.0 as usize].name.as_str()),
                    StmtKind::Let { op, .. } => assert!(matches!(op, ir::Op::Load(_) | ir::Op::Text(_)), "{op:?} is left in the loop"),
                    StmtKind::Store { .. } | StmtKind::Output { .. } => {}
                    StmtKind::For { .. } | StmtKind::Return(_) => panic!("unexpected statement"),
                }
            }
        }
    }
    names
}

#[test]
fn explicit_heat_is_one_kernel_per_step_and_one_per_reduction() {
    let module = compile(HEAT, OptLevel::O2);
    assert_eq!(loop_launches(&module), ["compute_u", "compute_max_u"]);
    assert!(module.functions.is_empty(), "inlined functions are dropped");
    let update = module.kernels.iter().find(|k| k.name == "compute_u").unwrap();
    assert!(matches!(update.cartesian, Some(ir::CartesianForm::Full(_))));
    // The transmissibility depends on k and the spacing alone: three numbers on a uniform grid.
    let trans = module.kernels.iter().find(|k| k.name == "compute_minus_itrans").unwrap();
    assert!(matches!(trans.cartesian, Some(ir::CartesianForm::PerAxis(_))));
    assert!(update.params.iter().any(|p| p.name == "minus_itrans" && p.per_axis));
}

#[test]
fn the_operation_level_keeps_functions_and_has_no_kernels() {
    let module = compile(HEAT, OptLevel::O0);
    assert!(module.kernels.is_empty());
    let names: Vec<&str> = module.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["computeInteriorFlux", "computeBoundaryFlux"]);
}

#[test]
fn a_restriction_that_may_meet_empty_is_checked_even_if_nobody_uses_it() {
    let text = "u = InputCollectionOfScalar(\"u\", AllCells())\nx = u On FirstCell(BoundaryFaces())\ny = u On FirstCell(InteriorFaces())\nOutput(\"u\", u)\n";
    let module = compile(text, OptLevel::O2);
    let checks: Vec<usize> = module.kernels.iter().map(|k| k.checks.len()).collect();
    assert_eq!(checks, [1], "one check, for the boundary faces only");
}

/// The kernels in their text form, without places.
fn kernels(text: &str) -> String {
    let printed = ir::text::print(&compile(text, OptLevel::O2));
    let (kernels, _) = printed.split_once("\nmain ").unwrap();
    let words = kernels.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.starts_with('!')).collect();
        words.join(" ") + "\n"
    });
    words.collect()
}

#[test]
fn heat_with_inner_cells_has_the_kernels_of_heat_with_is_empty() {
    let explicit = [
        ("IsEmpty(FirstCell(bf)) ? SecondCell(bf) : FirstCell(bf)", "InnerCell(bf)"),
        ("IsEmpty(FirstCell(bf)) ? (-1 Extend bf) : (1 Extend bf)", "OutwardSign(bf)"),
    ];
    let implicit =
        [("is_outside ? SecondCell(bf) : FirstCell(bf)", "InnerCell(bf)"), ("is_outside ? -1 Extend bf : 1 Extend bf", "OutwardSign(bf)")];
    for (is_empty, changes) in [(HEAT, explicit), (include_str!("../programs/heat_implicit.equelle"), implicit)] {
        let inner = changes.into_iter().fold(is_empty.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}\n{text}");
            text.replace(from, to)
        });
        assert_eq!(kernels(&inner), kernels(is_empty));
        assert!(kernels(&inner).contains("first("), "the cells of faces are in the kernels");
    }
}

#[test]
fn an_inner_cell_is_checked_where_a_face_may_have_two() {
    let of = |set: &str| format!("d = InputDomainSubsetOf(\"d\", {set}())\nOutput(\"x\", |InnerCell(d)|)\n");
    let module = compile(&of("AllFaces"), OptLevel::O2);
    let checks: Vec<ir::CheckKind> = module.kernels.iter().flat_map(|k| &k.checks).map(|check| check.kind).collect();
    assert_eq!(checks, [ir::CheckKind::OneCell]);
    let module = compile(&of("BoundaryFaces"), OptLevel::O2);
    assert!(module.kernels.iter().all(|k| k.checks.is_empty()));
}

#[test]
fn functions_that_write_outer_mutables_return_them() {
    let text = "a : Mutable Scalar\na = 1\nf(x) = {\n    a = a + x\n    -> a * 2\n}\nb = f(3)\nOutput(\"a\", a)\nOutput(\"b\", b)\n";
    let module = compile(text, OptLevel::O0);
    assert_eq!(module.functions[0].results.len(), 2);
    let module = compile(text, OptLevel::O2);
    // a = 1 + 3 and b = 8 are known at compile time.
    let printed = ir::text::print(&module);
    assert!(printed.contains("= 4.0"), "{printed}");
    assert!(printed.contains("= 8.0"), "{printed}");
}

/// A kernel that writes an entity collection as output and also tests it for Empty.
#[test]
fn entities_of_a_merged_kernel_are_of_any_set() {
    let text = "edges = AllEdges()\nmaybe = InteriorEdges() Extend edges\nlength = |edges|\n\
                Output(\"outer\", IsEmpty(maybe) ? length : (0 * length))\nOutput(\"maybe\", maybe)\n";
    let module = compile(text, OptLevel::O2);
    assert!(module.kernels.iter().any(|k| k.results.len() == 2), "{}", ir::text::print(&module));
}

/// Fluxes and sources of each Runge-Kutta stage are one kernel, as in a hand-written program.
#[test]
fn shallow_water_is_one_kernel_per_stage() {
    let module = compile(include_str!("../../../examples/shallow_water/shallow_water.equelle"), OptLevel::O2);
    let launches = loop_launches(&module);
    assert_eq!(launches.len(), 2, "{launches:?}");
    let stages = module.kernels.iter().filter(|k| launches.contains(&k.name.as_str()));
    assert!(stages.clone().all(|k| matches!(k.cartesian, Some(ir::CartesianForm::Full(_)))), "each has a Cartesian form");
}
