//! Typed tree to IR, operation level.
//!
//! * Arrays are taken apart: `Array Of 3 Scalar` becomes three values.
//! * Functions are closed: variables of enclosing scopes become parameters, outer mutables that a
//!   function assigns become results ([`crate::typed::captures`]).
//! * Aliases vanish: `b = a` gives the value of `a` a second name, no statement.
//! * Declarations and function definitions leave no statement.

mod boundary;
mod choices;
mod expr;
mod function;
mod stencil;
mod step;
mod through_faces;
mod unique_names;

use std::collections::BTreeSet;

use crate::ir::infer_interface::interface;
use crate::ir::{Function, Interface, Module, Numbers, infer_face_geometry, infer_stored_positions, infer_structure};
use crate::source::{SourceMap, Span};
use crate::typed::TypedProgram;
use crate::typed::captures::extend;
use crate::types::Dimension;
pub(crate) use unique_names::UniqueNames;

/// Lowers a checked program. `name` is the stem of the file.
pub fn lower(program: &TypedProgram, source: &SourceMap, name: &str) -> Module {
    let mut captures = Vec::new();
    extend(&mut captures, &program.functions, &program.variables);
    let mut names = UniqueNames::default();
    let mut functions: Vec<Function> = program
        .functions
        .iter()
        .enumerate()
        .map(|(index, f)| function::lower_function(program, &captures, index, f, names.unique(&f.name)))
        .collect();
    let mut main = function::lower_main(program, &captures);
    let length = if program.is_dimensional { Dimension::LENGTH } else { Dimension::NONE };
    through_faces::see_through_faces(&mut functions, &mut main, &program.sets, length, &mut names);
    let choices: BTreeSet<Span> = functions.iter().chain([&main]).flat_map(choices::choices).collect();
    let mut module = Module {
        name: name.to_owned(),
        source: source.clone(),
        numbers: Numbers::default(),
        sets: program.sets.clone(),
        functions,
        main,
        kernels: Vec::new(),
        interface: Interface::default(),
        choices: choices.into_iter().collect(),
        structure: None,
        face_geometry: None,
        stored_positions: None,
        storage: Default::default(),
    };
    module.interface = interface(&module);
    if !program.is_dimensional {
        (module.interface.coordinates, module.interface.time) = (Dimension::NONE, Dimension::NONE);
    }
    module.structure = infer_structure(&module);
    module.face_geometry = infer_face_geometry(&module);
    module.stored_positions = infer_stored_positions(&module);
    module
}
