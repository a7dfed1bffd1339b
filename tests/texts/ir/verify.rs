//! The verifier: every rule has a module that breaks it.

use std::collections::BTreeSet;

use equelle_front::ir::text::{parse, parse_with_locations};
use equelle_front::types::{CanonicalSet, SetTable};
use equelle_front::verify::verify;

use super::golden::{files, read};

const MARK: &str = "; error: ";

/// Lines marked `; error: text` get a message that contains the text, other lines none.
#[test]
fn errors_are_where_the_files_say() {
    let mut expected_in_all = 0;
    for name in files("").iter().chain(&files("invalid")) {
        let text = read(name);
        let expected: Vec<(u32, &str)> = text
            .lines()
            .enumerate()
            .filter_map(|(i, line)| line.split_once(MARK).map(|(_, message)| (i as u32 + 1, message.trim())))
            .collect();
        let (module, locations) = parse_with_locations(&text).unwrap_or_else(|e| panic!("tests/ir/{name}:{e}"));
        let found: Vec<(u32, String)> = match verify(module) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.into_iter().map(|e| (locations.get(&e.location).copied().unwrap_or_default(), e.to_string())).collect(),
        };
        for (line, message) in &expected {
            let hit = found.iter().any(|(l, m)| l == line && m.contains(message));
            assert!(hit, "tests/ir/{name}:{line}: expected `{message}`, found {found:#?}");
        }
        let lines: BTreeSet<u32> = expected.iter().map(|(line, _)| *line).collect();
        for (line, message) in &found {
            assert!(lines.contains(line), "tests/ir/{name}:{line}: not expected: {message}");
        }
        expected_in_all += expected.len();
    }
    assert!(expected_in_all > 60, "{expected_in_all}");
}

#[test]
fn verified_modules_come_back_unchanged() {
    let module = parse(&read("kernels/cells_wells.eqir")).unwrap();
    let kernels = module.kernels.clone();
    let verified = verify(module).unwrap();
    assert_eq!(verified.module().kernels, kernels);
    assert_eq!(verified.into_module().kernels, kernels);
}

/// The text form cannot express these.
#[test]
fn malformed_tables_are_refused() {
    let module = parse("module m main { %a: Scalar = 1.0 %b: Scalar = %a + %a }").unwrap();
    let message = |change: &dyn Fn(&mut equelle_front::ir::Module)| {
        let mut module = module.clone();
        change(&mut module);
        verify(module).map(|_| ()).unwrap_err().remove(0).message
    };
    use equelle_front::ir::{KernelId, MutableId, Op, StmtKind, ValueId};
    use equelle_front::types::{Basic, EntityKind, SetId, Shape, Type};
    let set_op = |m: &mut equelle_front::ir::Module, new: Op| {
        if let StmtKind::Let { op, .. } = &mut m.main.body.statements[1].kind {
            *op = new;
        }
    };
    assert_eq!(message(&|m| set_op(m, Op::Gradient(ValueId(9)))), "a value that is not in the table is used");
    assert_eq!(message(&|m| set_op(m, Op::Load(MutableId(0)))), "there is no such mutable");
    assert_eq!(message(&|m| set_op(m, Op::Gradient(ValueId(1)))), "`b` is used before it is assigned");
    let unknown_set = Type::collection(Basic::Scalar, SetId(99));
    assert_eq!(message(&|m| m.main.values[0].ty = unknown_set), "`a`: the type names a set that is not in the table");
    let bool_sequence = Type { basic: Basic::Bool, shape: Shape::Sequence, within: None, halo: equelle_front::types::Halo::NONE };
    assert_eq!(message(&|m| m.main.values[0].ty = bool_sequence), "`a`: a Sequence is of Scalars");
    let cells = SetTable::new().canonical(CanonicalSet::ALL_CELLS);
    let faces_of_cells = Type::domain(EntityKind::Face, cells);
    assert!(message(&|m| m.main.values[0].ty = faces_of_cells).contains("holds exactly the entities of its set"));
    let launch = StmtKind::Launch { kernel: KernelId(3), args: Vec::new(), results: vec![ValueId(1)] };
    assert_eq!(message(&|m| m.main.body.statements[1].kind = launch.clone()), "there is no such kernel");
    let nothing = StmtKind::Let { results: Vec::new(), op: Op::Real(1.0) };
    assert_eq!(message(&|m| m.main.body.statements[0].kind = nothing.clone()), "0 results are assigned, but there are 1");
    assert_eq!(message(&|m| m.main.params.push(ValueId(0))), "the main program has no parameters and no results");
}
