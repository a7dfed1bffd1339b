//! One kernel: its CUDA C++ functions and the order of their arguments.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use equelle_front::backend::branches::share_across_branches;
use equelle_front::backend::visit::{Node, visit_block, visit_expr};
use equelle_front::ir::{CartesianForm, KBlock, KExpr, KStmt, Kernel, Numbers, ParamId, Path};
use equelle_front::ops::Reduction;
use equelle_front::types::{Basic, EntityKind, SetId, SetTable, Shape, Type};

use super::equation::{EquationText, cartesian_equation_text, equation_text};
use super::expr::bare;
use super::reals::Reals;
use super::text::{Form, Writer};

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

/// The functions of one kernel.
#[derive(Clone, Debug)]
pub(super) struct KernelText {
    pub general: Function,
    /// The Cartesian form and whether it is [`CartesianForm::PerAxis`].
    pub cartesian: Option<(Function, bool)>,
    /// Of an equation: what tells its derivatives, in both forms.
    pub pattern: Option<Function>,
    pub cartesian_pattern: Option<Function>,
}

impl KernelText {
    /// All of them.
    pub(super) fn functions(&self) -> impl Iterator<Item = &Function> {
        let cartesian = self.cartesian.as_ref().map(|(function, _)| function);
        [Some(&self.general), cartesian, self.pattern.as_ref(), self.cartesian_pattern.as_ref()].into_iter().flatten()
    }
}

/// Writes the functions of a kernel, given the parameters that stay what they are while a loop goes round. `comment` stands above them.
pub(super) fn kernel_text(
    kernel: &Kernel,
    sets: &SetTable,
    numbers: Numbers,
    steady: &BTreeSet<ParamId>,
    name: &str,
    comment: &str,
) -> KernelText {
    let mut shared = kernel.clone();
    share_across_branches(&mut shared, sets);
    let kernel = &shared;
    let reals = Reals::of(kernel, numbers);
    // Conditions and reductions are those of the general form; only numbers are kept per axis.
    let number = |ty: &Type| ty.basic == Basic::Scalar;
    let plain = kernel.checks.is_empty()
        && kernel.results.iter().all(|r| r.reduce.is_none())
        && kernel.params.iter().all(|p| !p.per_axis || number(&p.ty));
    if let Some(form) = &kernel.jacobian {
        let EquationText { evaluation, pattern } = equation_text(kernel, form, sets, reals, steady, name, comment);
        let cartesian = form.cartesian.as_ref().filter(|_| plain);
        let cartesian = cartesian.map(|block| cartesian_equation_text(kernel, form.unknowns, block, sets, reals, name, comment));
        let (cartesian, cartesian_pattern) = cartesian.map(|text| ((text.evaluation, false), text.pattern)).unzip();
        return KernelText { general: evaluation, cartesian, pattern: Some(pattern), cartesian_pattern };
    }
    let general = general(kernel, sets, reals, steady, name, comment);
    let possible = |form: &&CartesianForm| match form {
        CartesianForm::Full(_) => plain,
        CartesianForm::PerAxis(_) => plain && kernel.results.iter().all(|r| number(&r.ty)),
    };
    let cartesian = kernel.cartesian.as_ref().filter(possible).map(|form| match form {
        CartesianForm::Full(block) => (cells(kernel, sets, reals, &format!("{name}_cartesian"), comment, block), false),
        CartesianForm::PerAxis(block) => (per_axis(kernel, sets, reals, &format!("{name}_per_axis"), comment, block), true),
    });
    KernelText { general, cartesian, pattern: None, cartesian_pattern: None }
}

fn general(kernel: &Kernel, sets: &SetTable, reals: Reals, steady: &BTreeSet<ParamId>, name: &str, comment: &str) -> Function {
    let mut w = Writer::new(kernel, sets, reals, Form::General).with_steady(steady);
    let unit = kernel.space_set().is_none();
    if unit {
        w.line("if (eq_index() != 0) return;");
        w.statements(&kernel.body);
        store(&mut w, kernel, &kernel.body, "0", "1");
    } else if kernel.results.iter().any(|r| r.reduce.is_some()) {
        reduction_body(&mut w, kernel);
    } else {
        w.line("const EqEntity element = eq_index();");
        w.line("if (element >= space.size) return;");
        w.line("const EqEntity here = eq_entity(space, element);");
        checks(&mut w, kernel, "return;");
        w.statements(&kernel.body);
        store(&mut w, kernel, &kernel.body, "element", "space.size");
    }
    let mut arguments = Vec::new();
    if !unit {
        arguments.push(Argument::Space);
    }
    let conditions: Vec<&KExpr> = kernel.checks.iter().map(|check| &check.condition).collect();
    let needs = grid_needs(kernel, sets, &conditions, &kernel.body, &w.out);
    if needs != GridNeeds::default() {
        arguments.push(Argument::Grid);
    }
    arguments.extend(w.used_ranks().into_iter().map(Argument::Ranks));
    if !kernel.checks.is_empty() {
        arguments.push(Argument::Checks);
    }
    finish(w, kernel, name, comment, arguments, needs)
}

/// Conditions at the element; what to do where one does not hold.
pub(super) fn checks(w: &mut Writer<'_>, kernel: &Kernel, otherwise: &str) {
    for (number, check) in kernel.checks.iter().enumerate() {
        let condition = w.expr(&check.condition);
        w.open(&format!("if (!{condition}) {{"));
        w.line(&format!("eq_fail(checks, {number}, element);"));
        w.line(otherwise);
        w.close("}");
    }
}

/// One leaf of every reduction per block, elements in file order. Results that are not reduced are stored on the way.
fn reduction_body(w: &mut Writer<'_>, kernel: &Kernel) {
    w.line("const EqLeaf leaf = eq_leaf_here(space.size);");
    let count = kernel.results.iter().filter(|r| r.reduce.is_some()).count();
    let partial = |number: usize| if count == 1 { "partial".to_owned() } else { format!("partial_{number}") };
    let reduced = || kernel.results.iter().enumerate().filter_map(|(number, r)| Some((number, r.reduce?, r.ty.basic)));
    for (number, reduction, basic) in reduced() {
        let start = match (reduction, basic) {
            (Reduction::Any, _) => "false",
            (Reduction::All, _) => "true",
            (Reduction::Prod, _) => "1.0",
            (_, Basic::Vector) => "eq_zero_vector()",
            (Reduction::Max | Reduction::Min | Reduction::Sum, _) => "0.0",
        };
        w.line(&format!("{} {} = {start};", Reals::DOUBLE.value(basic), partial(number)));
    }
    w.open("for (EqEntity at = leaf.begin; at < leaf.end; at += EQ_CHAINS) {");
    w.line("const EqEntity element = eq_in_file(space, at);");
    w.line("const EqEntity here = eq_entity(space, element);");
    checks(w, kernel, "continue;");
    w.statements(&kernel.body);
    for (number, value) in kernel.body.yields.iter().enumerate() {
        let Some(reduction) = kernel.results[number].reduce else {
            store_one(w, kernel, number, value, "element", "space.size");
            continue;
        };
        let basic = kernel.results[number].ty.basic;
        let (name, value) = (partial(number), w.reals.reduced(&w.expr(value), basic));
        let combine = combination(reduction).0;
        w.line(&match reduction {
            Reduction::Max | Reduction::Min => format!("{name} = at == leaf.begin ? {value} : {combine}({name}, {value});"),
            Reduction::Sum | Reduction::Prod | Reduction::Any | Reduction::All => format!("{name} = {combine}({name}, {value});"),
        });
    }
    w.close("}");
    for (number, reduction, _) in reduced() {
        let name = partial(number);
        w.line(&format!("{name} = eq_chains<{number}>({name}, leaf.chains, {}());", combination(reduction).1));
    }
    w.line("if (!eq_tells_leaf()) return;");
    for (number, _, basic) in reduced() {
        let (result, name) = (w.results[number].clone(), partial(number));
        w.line(&match basic {
            Basic::Vector => format!("eq_store({result}, eq_leaf_count(space.size), blockIdx.x, {name});"),
            Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text => format!("{result}[blockIdx.x] = {name};"),
        });
    }
}

/// What combines two partial results, as a function and as an object.
fn combination(reduction: Reduction) -> (&'static str, &'static str) {
    match reduction {
        Reduction::Max => ("eq_max", "EqMax"),
        Reduction::Min => ("eq_min", "EqMin"),
        Reduction::Sum => ("eq_sum", "EqSum"),
        Reduction::Prod => ("eq_prod", "EqProd"),
        Reduction::Any => ("eq_any", "EqAny"),
        Reduction::All => ("eq_all", "EqAll"),
    }
}

pub(super) fn store(w: &mut Writer<'_>, kernel: &Kernel, block: &KBlock, index: &str, size: &str) {
    for (number, value) in block.yields.iter().enumerate() {
        store_one(w, kernel, number, value, index, size);
    }
}

fn store_one(w: &mut Writer<'_>, kernel: &Kernel, number: usize, value: &KExpr, index: &str, size: &str) {
    let name = w.results[number].clone();
    let value = w.expr(value);
    let value = bare(&value);
    let text = match kernel.results[number].ty.basic {
        Basic::Vector => format!("eq_store({name}, {size}, {index}, {value});"),
        Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text => format!("{name}[{index}] = {value};"),
    };
    w.line(&text);
}

/// Every cell of a Cartesian grid. Where sides on the boundary differ, the inside is gone through without asking for them: asked for at every cell, they take a tenth of the time of a step
/// of explicit heat, and threads that run in step wait for the one whose cell is on the boundary.
fn cells(kernel: &Kernel, sets: &SetTable, reals: Reals, name: &str, comment: &str, block: &KBlock) -> Function {
    let size = "(size_t)g.n[0] * g.n[1] * g.n[2]";
    let mut w = Writer::new(kernel, sets, reals, Form::Cells);
    let apart = sums_sides(block);
    if apart {
        let mut inside = Writer::new(kernel, sets, reals, Form::Cells);
        inside.inside = true;
        inside.open("if (eq_is_march(g)) {");
        inside.line("EqCell cell;");
        inside.line("#pragma unroll 1");
        inside.open("for (unsigned int step = 0; step < g.march; ++step) {");
        inside.line("if (!eq_inside_cell_here(g, step, cell)) continue;");
        inside.load_here(block);
        inside.statements(block);
        store(&mut inside, kernel, block, "cell.index", size);
        inside.close("}");
        inside.line("return;");
        inside.close("}");
        w.body_at = inside.out.len();
        w.out = inside.out;
    }
    w.line("EqCell cell;");
    w.line(if apart { "if (!eq_boundary_cell_here(g, cell)) return;" } else { "if (!eq_cell_here(g, cell)) return;" });
    w.load_here(block);
    w.statements(block);
    store(&mut w, kernel, block, "cell.index", size);
    let mut arguments = vec![Argument::Cartesian];
    arguments.extend(w.used_ranks().into_iter().map(Argument::Ranks));
    Function { apart, ..finish(w, kernel, name, comment, arguments, GridNeeds::default()) }
}

/// Whether a block sums over the sides of its cell.
fn sums_sides(block: &KBlock) -> bool {
    let mut found = false;
    visit_block(block, &mut |node| found |= matches!(node, Node::Stmt(KStmt::SumSides { .. })));
    found
}

fn per_axis(kernel: &Kernel, sets: &SetTable, reals: Reals, name: &str, comment: &str, block: &KBlock) -> Function {
    let faces = kernel.space_kind(sets) == Some(EntityKind::Face);
    let mut w = Writer::new(kernel, sets, reals, Form::PerAxis(faces));
    w.line("const int axis = (int)eq_index();");
    w.line(if faces { "if (axis >= DIM) return;" } else { "if (axis >= 1) return;" });
    w.statements(block);
    store(&mut w, kernel, block, "axis", if faces { "DIM" } else { "1" });
    finish(w, kernel, name, comment, vec![Argument::Cartesian], GridNeeds::default())
}

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

pub(super) fn mentions(text: &str, name: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(name).any(|(i, _)| !word(text[..i].chars().next_back()) && !word(text[i + name.len()..].chars().next()))
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
