//! Centroids of cells that are seen through faces: over a gap, or joined sides, as if both sides of
//! the face met.
//!
//! A face lies on the side of its first cell. The centroid of its second cell is seen through it
//! where the program gives that cell as `SecondCell(faces)`, chooses it (`c ? FirstCell(f) :
//! SecondCell(f)`), restricts or extends such cells, or passes them to or from functions. There
//! `Centroid(cells)` becomes the centroid and the gap of the faces, unless these lie on the
//! boundary, where there is none. Functions get the gaps of their parameters as further parameters,
//! and give those of their results; a function that is called with cells of both kinds stands twice
//! in the module. Cells that went through a mutable are stored, and seen where they are.

mod analysis;
mod writer;

use std::collections::{BTreeMap, BTreeSet};

use super::unique_names::UniqueNames;
use crate::ir::{Function, FunctionId};
use crate::types::{Dimension, SetTable};
use analysis::{Body, Calls, Params};
use writer::Writer;

/// Adds the gaps of faces to centroids of the cells behind them, in all functions and the main
/// program. `length` is the dimension of positions.
pub(super) fn see_through_faces(
    functions: &mut Vec<Function>,
    main: &mut Function,
    sets: &SetTable,
    length: Dimension,
    names: &mut UniqueNames,
) {
    let bodies: Vec<Body<'_>> = functions.iter().map(|function| Body::new(function, sets)).collect();
    let main_body = Body::new(main, sets);
    let mut calls = Calls { bodies: &bodies, known: BTreeMap::new() };
    // The ways in which functions are called: callers first, which come later.
    let mut ways: Vec<BTreeSet<Params>> = vec![BTreeSet::new(); functions.len()];
    let note = |ways: &mut Vec<BTreeSet<Params>>, calls: &mut Calls<'_>, body: &Body<'_>, seen: &Params| {
        for (callee, args) in body.calls() {
            let way = calls.way(body, seen, callee, &args);
            ways[callee.0 as usize].insert(way);
        }
    };
    note(&mut ways, &mut calls, &main_body, &Params::new());
    for index in (0..functions.len()).rev() {
        // A function that nobody calls stays as it is.
        if ways[index].is_empty() {
            ways[index].insert(Params::new());
        }
        for way in ways[index].clone() {
            note(&mut ways, &mut calls, &bodies[index], &way);
        }
    }
    let pairs = ways.iter().enumerate().flat_map(|(index, ways)| ways.iter().map(move |way| (FunctionId(index as u32), way.clone())));
    let ids: BTreeMap<(FunctionId, Params), FunctionId> = pairs.zip((0..).map(FunctionId)).collect();
    let mut made = Vec::with_capacity(ids.len());
    for (index, ways) in ways.iter().enumerate() {
        for (nth, way) in ways.iter().enumerate() {
            let mut writer = Writer::new(&functions[index], &bodies[index], way.clone(), &mut calls, &ids, length);
            writer.parameters();
            writer.body(&functions[index].body);
            let mut function = writer.finish();
            if nth > 0 {
                function.name = names.unique(&functions[index].name);
            }
            made.push(function);
        }
    }
    let mut writer = Writer::new(main, &main_body, Params::new(), &mut calls, &ids, length);
    writer.body(&main.body);
    let new_main = writer.finish();
    (*functions, *main) = (made, new_main);
}
