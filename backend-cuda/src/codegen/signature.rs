//! Signatures of the functions of a kernel: the order of their arguments, and what they read of the grid.

use std::fmt::Write as _;

use equelle_front::backend::visit::{Node, visit_block, visit_expr};
use equelle_front::ir::{KBlock, KExpr, Kernel, Path};
use equelle_front::types::{Basic, EntityKind, SetId, SetTable, Shape};

use super::emit::text::mentions;
use super::emit::writer::{Form, Writer};

/// An argument of a CUDA function, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// `EqSpace`: the index space.
    Space,
    /// `EqGrid`.
    Grid,
    /// `EqCartesian`.
    Cartesian,
    /// `EqRanks` of a set.
    Ranks(SetId),
    /// `EqChecks`.
    Checks,
    /// Pointer of a parameter.
    Param(usize),
    /// Pointer of the values of a parameter on the sides of cells.
    BySide(usize),
    /// Number of elements of a Vector collection parameter.
    Size(usize),
    /// `EqRows`: the rows of an equation.
    Rows,
    /// `EqSlots`: the places of the additions of an equation.
    Slots,
    /// `EqPattern`: where an equation tells its derivatives.
    Pattern,
    /// Number of the first column of an unknown.
    First(usize),
    /// Pointer of a result; of a reduction: one partial result per leaf.
    Result(usize),
}

/// What a body reads of an `EqGrid`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GridNeeds {
    pub sides: bool,
    pub side_faces: bool,
    pub side_ranks: bool,
    pub face_cells: bool,
    pub cell_volumes: bool,
    pub cell_centroids: bool,
    pub face_areas: bool,
    pub face_centroids: bool,
    pub face_normals: bool,
    pub edge_lengths: bool,
    pub edge_centroids: bool,
    pub vertex_positions: bool,
}

/// A CUDA function made from one body.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub name: String,
    pub text: String,
    pub arguments: Vec<Argument>,
    pub grid: GridNeeds,
    /// Whether it goes through the inside of a Cartesian grid and over its boundary cells apart.
    pub apart: bool,
}

/// Divisions and roots in its text that make a function a heavy one.
const HEAVY: usize = 12;

/// Adds the signature and the reads of Scalars.
pub(super) fn finish(w: Writer<'_>, kernel: &Kernel, name: &str, comment: &str, mut arguments: Vec<Argument>, grid: GridNeeds) -> Function {
    let body = &w.out;
    let mut scalars = String::new();
    for (number, param) in kernel.params.iter().enumerate() {
        if mentions(body, &w.by_side[number]) {
            arguments.push(Argument::BySide(number));
        }
        if !mentions(body, &w.params[number]) {
            continue;
        }
        match param.ty.shape {
            Shape::Domain(_) | Shape::Sequence => continue,
            Shape::Single => {
                let (name, pointer) = (&w.params[number], w.pointer_name(number));
                let _ = match param.ty.basic {
                    Basic::Vector => {
                        let value = w.reals.entering_vector(&format!("eq_load({pointer}, 1, 0)"));
                        writeln!(scalars, "  const {} {name} = {value};", w.reals.value(Basic::Vector))
                    }
                    Basic::Bool => writeln!(scalars, "  const bool {name} = *{pointer} != 0;"),
                    Basic::Scalar | Basic::Entity(_) | Basic::Text => {
                        writeln!(scalars, "  const {} {name} = {};", w.reals.number(), w.reals.entering(&format!("*{pointer}")))
                    }
                };
            }
            Shape::Collection(_) => {}
        }
        arguments.push(Argument::Param(number));
        if mentions(body, &format!("{}_size", w.params[number])) {
            arguments.push(Argument::Size(number));
        }
    }
    if !arguments.contains(&Argument::Pattern) {
        arguments.extend((0..kernel.results.len()).map(Argument::Result));
    }
    let signature: Vec<String> = arguments.iter().map(|a| declaration(&w, kernel, *a)).collect();
    let once = &body[w.body_at..];
    let costly: usize = [" / ", "eq_divide(", "sqrt("].iter().map(|what| once.matches(what).count()).sum();
    let weight = match costly {
        HEAVY.. => "EQ_HEAVY",
        _ if arguments.contains(&Argument::Rows) && w.form == Form::General => "EQ_ROWS",
        _ => "EQ_LIGHT",
    };
    let text =
        format!("{comment}extern \"C\" __global__ void {weight} {name}(\n    {}) {{\n{scalars}{body}}}\n", signature.join(",\n    "));
    Function { name: name.to_owned(), text, arguments, grid, apart: false }
}

fn declaration(w: &Writer<'_>, kernel: &Kernel, argument: Argument) -> String {
    match argument {
        Argument::Space => "const EqSpace space".to_owned(),
        Argument::Grid => "const EqGrid grid".to_owned(),
        Argument::Cartesian => "const EqCartesian g".to_owned(),
        Argument::Ranks(set) => format!("const EqRanks {}", w.ranks[&set]),
        Argument::Checks => "const EqChecks checks".to_owned(),
        Argument::Param(number) => {
            let ty = kernel.params[number].ty;
            let name = if ty.shape == Shape::Single { w.pointer_name(number) } else { w.params[number].clone() };
            format!("const {}* __restrict__ {name}", w.reals.stored(&ty, false))
        }
        Argument::BySide(number) => {
            format!("const {}* __restrict__ {}", w.reals.stored(&kernel.params[number].ty, false), w.by_side[number])
        }
        Argument::Size(number) => format!("const EqEntity {}_size", w.params[number]),
        Argument::Rows => "const EqRows rows".to_owned(),
        Argument::Slots => "const EqSlots slots".to_owned(),
        Argument::Pattern => "const EqPattern pattern".to_owned(),
        Argument::First(number) => format!("const EqEntity {}", w.unknowns[number].first),
        Argument::Result(number) => {
            let result = &kernel.results[number];
            format!("{}* __restrict__ {}", w.reals.stored(&result.ty, result.reduce.is_some()), w.results[number])
        }
    }
}

/// Arrays of the grid that conditions and a body read, and their text.
pub(super) fn grid_needs(kernel: &Kernel, sets: &SetTable, conditions: &[&KExpr], body: &KBlock, text: &str) -> GridNeeds {
    let says = |words: &[&str]| words.iter().any(|word| mentions(text, word));
    let mut needs = GridNeeds {
        sides: says(&["eq_sides"]),
        side_faces: says(&["side_faces"]),
        side_ranks: says(&["side_ranks", "eq_rank_of_side"]),
        face_cells: says(&["eq_cells", "eq_try_cells"]),
        ..GridNeeds::default()
    };
    let kind = |path: &Path| kernel.path_kind(sets, path);
    let mut visit = |node: Node<'_>| match node {
        Node::Expr(KExpr::Measure(at)) => match kind(at) {
            Some(EntityKind::Cell) | None => needs.cell_volumes = true,
            Some(EntityKind::Face) => needs.face_areas = true,
            Some(EntityKind::Edge) => needs.edge_lengths = true,
            // A point counts as one.
            Some(EntityKind::Vertex) => {}
        },
        Node::Expr(KExpr::Centroid(at)) => match kind(at) {
            Some(EntityKind::Cell) | None => needs.cell_centroids = true,
            Some(EntityKind::Face) => needs.face_centroids = true,
            Some(EntityKind::Edge) => needs.edge_centroids = true,
            Some(EntityKind::Vertex) => needs.vertex_positions = true,
        },
        Node::Expr(KExpr::Normal(_)) => needs.face_normals = true,
        Node::Stmt(_) | Node::Expr(_) | Node::Path(_) => {}
    };
    conditions.iter().for_each(|condition| visit_expr(condition, &mut visit));
    visit_block(body, &mut visit);
    needs
}
