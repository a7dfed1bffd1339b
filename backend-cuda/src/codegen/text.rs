//! Expressions, paths and statements of kernels as CUDA C++ text. Works on the helpers of `runtime/prelude.cuh`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use equelle_front::backend::Namer;
use equelle_front::backend::structural::along_one_axis;
use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{KBlock, KExpr, KStmt, Kernel, LocalId, ParamId, Path, Side, SideBlocks, UnaryOp};
use equelle_front::ops::{Arithmetic, BinaryMath, Comparison, Logic};
use equelle_front::types::{Basic, CanonicalSet, EntityKind, Extent, SetId, SetTable};

use super::equation::Derivatives;
use super::reals::Reals;
use super::sides::SideNames;

/// Which body of a kernel the text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Any grid.
    General,
    /// Every cell of a Cartesian grid.
    Cells,
    /// Once per axis (face spaces: `true`) or once (cell spaces) of a Cartesian grid.
    PerAxis(bool),
}

/// Words that names in kernels must avoid: C++ keywords, and what the text itself declares.
const RESERVED: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast constexpr \
continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable \
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short signed sizeof static \
static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void \
volatile wchar_t while xor xor_eq DIM sqrt abs fabs min max exp log sin cos tan pow grid space g cell axis here element checks leaf begin end partial threadIdx \
blockIdx blockDim gridDim warpSize size_t row rows told pattern stage stage_entries stage_columns entries slot slots at step ahead";

/// Names that belong to an unknown of an equation.
#[derive(Clone, Debug)]
pub(super) struct UnknownNames {
    /// Number of its first column.
    pub first: String,
    /// Derivative by the element here.
    pub own: String,
    /// Place of that in the row.
    pub own_slot: String,
    /// Derivatives by the elements beyond the low sides, by axis.
    pub low: String,
    /// The same beyond the high sides.
    pub high: String,
}

/// Writes the text of one body.
pub(super) struct Writer<'a> {
    pub kernel: &'a Kernel,
    pub sets: &'a SetTable,
    pub reals: Reals,
    pub form: Form,
    /// Parameters whose argument is the same while a loop goes round.
    pub steady: &'a BTreeSet<ParamId>,
    /// Whether the cells are known to be inside the grid, all their neighbours there.
    pub inside: bool,
    pub out: String,
    /// Where the body begins that every element has; before it, a march through the inside of the grid.
    pub body_at: usize,
    indent: usize,
    pub params: Vec<String>,
    /// Of the values of each parameter on the sides of cells.
    pub by_side: Vec<String>,
    pub results: Vec<String>,
    locals: Vec<String>,
    /// Name of the ranks argument of each set whose ranks the body needs.
    pub ranks: BTreeMap<SetId, String>,
    /// What is known of the faces that sums around go over.
    pub(super) sides: BTreeMap<LocalId, SideNames>,
    /// Arrays (by axis) that hold values of neighbours, loaded together before the sides are summed.
    neighbours: BTreeMap<(ParamId, u32), String>,
    /// Locals that hold values of the cell itself, loaded first.
    pub(super) here: BTreeMap<ParamId, String>,
    /// Locals that hold what is kept per axis, loaded first: arrays by axis, or one number.
    per_axis: BTreeMap<ParamId, String>,
    /// Of an equation: its unknowns, the first parameters.
    pub unknowns: Vec<UnknownNames>,
    /// Of an equation: what becomes of its derivatives.
    pub derivatives: Option<Derivatives>,
    pub(super) names: Namer,
}

impl<'a> Writer<'a> {
    pub(super) fn new(kernel: &'a Kernel, sets: &'a SetTable, reals: Reals, form: Form) -> Self {
        const NONE: &BTreeSet<ParamId> = &BTreeSet::new();
        let mut names = Namer::default();
        names.reserve(RESERVED.split(' '));
        let params = kernel.params.iter().map(|p| names.fresh(&p.name)).collect();
        let by_side = kernel.params.iter().map(|p| names.fresh(&format!("{}_by_side", p.name))).collect();
        let results = kernel.results.iter().map(|r| names.fresh(&format!("{}_out", r.name))).collect();
        let locals = kernel.locals.iter().map(|l| names.fresh(&l.name)).collect();
        let count = kernel.jacobian.as_ref().map_or(0, |form| form.unknowns as usize);
        let unknowns = kernel.params.iter().take(count);
        let unknowns = unknowns
            .map(|p| UnknownNames {
                first: names.fresh(&format!("{}_first", p.name)),
                own: names.fresh(&format!("own_{}", p.name)),
                own_slot: names.fresh(&format!("own_{}_slot", p.name)),
                low: names.fresh(&format!("low_by_{}", p.name)),
                high: names.fresh(&format!("high_by_{}", p.name)),
            })
            .collect();
        let mut writer = Writer {
            kernel,
            sets,
            reals,
            form,
            steady: NONE,
            inside: false,
            out: String::new(),
            body_at: 0,
            indent: 1,
            params,
            by_side,
            results,
            locals,
            ranks: BTreeMap::new(),
            sides: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            here: BTreeMap::new(),
            per_axis: BTreeMap::new(),
            unknowns,
            derivatives: None,
            names,
        };
        writer.name_ranks();
        writer
    }

    /// Names a ranks argument for every set; [`Writer::used_ranks`] tells which are needed.
    fn name_ranks(&mut self) {
        for set in self.sets.ids() {
            let name = self.sets.get(set).name.trim_end_matches("()").to_owned();
            let name = self.names.fresh(&format!("{}_ranks", equelle_front::backend::snake_case(&name)));
            self.ranks.insert(set, name);
        }
    }

    /// Name of the pointer argument of a Scalar parameter, whose value is read once.
    /// Where these parameters stay what they are while a loop goes round.
    pub(super) fn with_steady(self, steady: &'a BTreeSet<ParamId>) -> Self {
        Writer { steady, ..self }
    }

    pub(super) fn pointer_name(&self, param: usize) -> String {
        format!("{}_at", self.params[param])
    }

    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub(super) fn close(&mut self, text: &str) {
        self.indent = self.indent.saturating_sub(1);
        self.line(text);
    }

    /// Goes on one level deeper after `} else {`.
    pub(super) fn deeper(&mut self) {
        self.indent += 1;
    }

    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:width$}{text}", "", width = 2 * self.indent);
    }

    pub(super) fn local(&self, id: LocalId) -> &str {
        &self.locals[id.0 as usize]
    }

    fn param(&self, id: ParamId) -> &str {
        &self.params[id.0 as usize]
    }

    /// Statements of a block; its yields are the caller's.
    pub(super) fn statements(&mut self, block: &KBlock) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &KStmt) {
        match statement {
            KStmt::Let { local, value } => {
                let ty = self.kernel.local_type(*local).map_or(self.reals.number(), |t| self.reals.value(t.basic));
                let text = format!("const {ty} {} = {};", self.local(*local), bare(&self.expr(value)));
                self.line(&text);
            }
            KStmt::LetEntity { local, path } => {
                let text = format!("const EqEntity {} = {};", self.local(*local), self.path(path));
                self.line(&text);
            }
            KStmt::SumFaces { results, cell, face, only, body } => self.sum_faces(results, cell, *face, *only, body),
            KStmt::Add { unknown, at, value } => self.add(*unknown, at, value),
            KStmt::SumSides { results, low, high } => {
                for &result in results {
                    let text = format!("{} {} = {};", self.reals.number(), self.local(result), self.reals.literal(0.0));
                    self.line(&text);
                }
                self.load_neighbours(low, high);
                self.line("#pragma unroll");
                self.open("for (int axis = 0; axis < DIM; ++axis) {");
                self.side(results, low, 0);
                self.side(results, high, 1);
                self.close("}");
                self.neighbours.clear();
            }
            KStmt::If { results, condition, then, otherwise } => {
                for &result in results {
                    let ty = self.kernel.local_type(result).map_or(self.reals.number(), |t| self.reals.value(t.basic));
                    let text = format!("{ty} {};", self.local(result));
                    self.line(&text);
                }
                let condition = self.expr(condition);
                self.open(&format!("if ({}) {{", bare(&condition)));
                self.branch(results, then);
                if !(results.is_empty() && otherwise.statements.is_empty()) {
                    self.close("} else {");
                    self.deeper();
                    self.branch(results, otherwise);
                }
                self.close("}");
            }
        }
    }

    fn branch(&mut self, results: &[LocalId], block: &KBlock) {
        self.statements(block);
        for (&result, value) in results.iter().zip(&block.yields) {
            let text = format!("{} = {};", self.local(result), bare(&self.expr(value)));
            self.line(&text);
        }
    }

    /// Whether a parameter has a number, in memory, for every cell: what only some cells have must not be loaded before a test says that it is there.
    pub(super) fn is_everywhere(&self, param: ParamId) -> bool {
        let param = &self.kernel.params[param.0 as usize];
        let all = param.ty.mapping().is_some_and(|set| self.sets.get(set).canonical == Some(CanonicalSet::ALL_CELLS));
        all && param.ty.basic == Basic::Scalar && !param.per_axis
    }

    /// Loads what a Cartesian body reads of the cell itself, and what is kept per axis, before anything else, so that no branch stands before the loads.
    pub(super) fn load_here(&mut self, block: &KBlock) {
        let (mut wanted, mut kept): (Vec<ParamId>, Vec<ParamId>) = (Vec::new(), Vec::new());
        visit_block(block, &mut |node| {
            if let Node::Expr(KExpr::Load { param, at }) = node {
                if self.kernel.params[param.0 as usize].per_axis {
                    if !kept.contains(param) {
                        kept.push(*param);
                    }
                } else if *at == Path::Here && self.is_everywhere(*param) && !wanted.contains(param) {
                    wanted.push(*param);
                }
            }
        });
        for param in wanted {
            let value = self.load(param, &Path::Here);
            let name = self.names.fresh(&format!("{}_here", self.param(param)));
            self.line(&format!("const {} {name} = {value};", self.reals.number()));
            self.here.insert(param, name);
        }
        for param in kept {
            let of = self.param(param).to_owned();
            let faces = self.kernel.params[param.0 as usize].ty.mapping().is_some_and(|set| self.sets.get(set).kind == EntityKind::Face);
            let name = self.names.fresh(&format!("{of}_{}", if faces { "axis" } else { "here" }));
            if faces {
                self.line(&format!("{} {name}[DIM];", self.reals.number()));
                self.line("#pragma unroll");
                self.line(&format!("for (int axis = 0; axis < DIM; ++axis) {name}[axis] = {of}[axis];"));
            } else {
                self.line(&format!("const {} {name} = {of}[0];", self.reals.number()));
            }
            self.per_axis.insert(param, name);
        }
    }

    /// Loads what the interior sides read of their neighbours before any of it is used. Left in place, each load would wait for the
    /// boundary code of the sides before it: 0.156 instead of 0.126 ms per step of explicit heat on 256^3 cells.
    fn load_neighbours(&mut self, low: &SideBlocks, high: &SideBlocks) {
        let mut wanted: Vec<(ParamId, u32)> = Vec::new();
        for (blocks, number) in [(low, 0), (high, 1)] {
            if let Some(block) = &blocks.interior {
                visit_block(block, &mut |node| {
                    if let Node::Expr(KExpr::Load { param, at: Path::Neighbour(_) }) = node
                        && self.is_everywhere(*param)
                        && !wanted.contains(&(*param, number))
                    {
                        wanted.push((*param, number));
                    }
                });
            }
        }
        if wanted.is_empty() {
            return;
        }
        let mut lines = [Vec::new(), Vec::new()];
        for &(param, number) in &wanted {
            let side = if number == 0 { Side::Low } else { Side::High };
            let value = self.load(param, &Path::Neighbour(side));
            let name = self.names.fresh(&format!("{}_{}", self.param(param), if number == 0 { "low" } else { "high" }));
            let zeros = if self.inside { "" } else { " = {}" };
            self.line(&format!("{} {name}[DIM]{zeros};", self.reals.number()));
            lines[number as usize].push(format!("{name}[axis] = {value};"));
            self.neighbours.insert((param, number), name);
        }
        self.line("#pragma unroll");
        self.open("for (int axis = 0; axis < DIM; ++axis) {");
        for (number, lines) in lines.iter().enumerate().filter(|(_, lines)| !lines.is_empty()) {
            if self.inside {
                lines.iter().for_each(|line| self.line(line));
                continue;
            }
            self.open(&format!("if (!eq_side_on_boundary(g, cell, axis, {number})) {{"));
            lines.iter().for_each(|line| self.line(line));
            self.close("}");
        }
        self.close("}");
    }

    fn side(&mut self, results: &[LocalId], blocks: &SideBlocks, high: u32) {
        let sign = if high == 1 { '+' } else { '-' };
        let end = if high == 1 { Side::High } else { Side::Low };
        let add = |w: &mut Self, block: &KBlock| {
            w.begin_side(end);
            w.statements(block);
            w.end_side();
            for (&result, term) in results.iter().zip(&block.yields) {
                let name = w.local(result).to_owned();
                let text = format!("{name} = {name} {sign} {};", w.expr(term));
                w.line(&text);
            }
        };
        let boundary = format!("eq_side_on_boundary(g, cell, axis, {high})");
        match (&blocks.interior, &blocks.boundary) {
            (None, None) => {}
            (Some(interior), _) if self.inside => add(self, interior),
            (None, Some(_)) if self.inside => {}
            (Some(interior), None) => {
                self.open(&format!("if (!{boundary}) {{"));
                add(self, interior);
                self.close("}");
            }
            (None, Some(block)) => {
                self.open(&format!("if ({boundary}) {{"));
                add(self, block);
                self.close("}");
            }
            (Some(interior), Some(block)) => {
                self.open(&format!("if (!{boundary}) {{"));
                add(self, interior);
                self.close("} else {");
                self.deeper();
                add(self, block);
                self.close("}");
            }
        }
    }

    /// An expression; compound ones come in parentheses.
    pub(super) fn expr(&self, expr: &KExpr) -> String {
        if self.form != Form::General
            && !matches!(expr, KExpr::Component(..))
            && let Some((component, rest)) = along_one_axis(expr)
            && self.kernel.expr_basic(expr) != Basic::Vector
        {
            // Axes are unrolled, so that this is no test at run time.
            return format!("(axis == {component} ? {} : {})", self.expr(&rest), self.reals.literal(0.0));
        }
        match expr {
            KExpr::Real(x) => self.reals.literal(*x),
            KExpr::Bool(b) => b.to_string(),
            KExpr::Local(id) => self.local(*id).to_owned(),
            KExpr::Param(id) => self.param(*id).to_owned(),
            KExpr::Load { param, at } => self.load(*param, at),
            KExpr::Measure(path) => self.measure(path),
            KExpr::Centroid(path) => {
                let function = match self.kernel.path_kind(self.sets, path) {
                    Some(EntityKind::Face) => "eq_face_centroid",
                    Some(EntityKind::Edge) => "eq_edge_centroid",
                    Some(EntityKind::Vertex) => "eq_vertex_position",
                    Some(EntityKind::Cell) | None => "eq_cell_centroid",
                };
                self.reals.entering_vector(&format!("{function}(grid, {})", self.path(path)))
            }
            KExpr::Normal(path) => match self.form {
                Form::General => self.reals.entering_vector(&format!("eq_face_normal(grid, {})", self.path(path))),
                Form::Cells | Form::PerAxis(_) => format!("eq_along(axis, {})", self.reals.literal(1.0)),
            },
            KExpr::IsEmpty(path) => format!("({} == EQ_NONE)", self.path(path)),
            KExpr::Member { set, at } => self.member(*set, at),
            KExpr::Same(a, b) => format!("({} == {})", self.path(a), self.path(b)),
            KExpr::Unary(op, a) => match op {
                UnaryOp::Neg => format!("(-{})", self.expr(a)),
                UnaryOp::Not => format!("(!{})", self.expr(a)),
                UnaryOp::Abs => format!("fabs({})", self.expr(a)),
                UnaryOp::Sqrt => format!("sqrt({})", self.expr(a)),
                UnaryOp::Length => format!("eq_length({})", self.expr(a)),
                UnaryOp::Exp => format!("exp({})", self.expr(a)),
                UnaryOp::Log => format!("log({})", self.expr(a)),
                UnaryOp::Sin => format!("sin({})", self.expr(a)),
                UnaryOp::Cos => format!("cos({})", self.expr(a)),
                UnaryOp::Tan => format!("tan({})", self.expr(a)),
            },
            // What is the same for every element is no 0 that meets many others.
            KExpr::Arithmetic(Arithmetic::Div, a, b)
                if self.kernel.expr_basic(a) == Basic::Scalar && !matches!(**a, KExpr::Real(_) | KExpr::Param(_)) =>
            {
                format!("eq_divide({}, {})", bare(&self.expr(a)), bare(&self.expr(b)))
            }
            KExpr::Arithmetic(op, a, b) => {
                let sign = match op {
                    Arithmetic::Add => '+',
                    Arithmetic::Sub => '-',
                    Arithmetic::Mul => '*',
                    Arithmetic::Div => '/',
                };
                format!("({} {sign} {})", self.expr(a), self.expr(b))
            }
            KExpr::Compare(op, a, b) => {
                let sign = match op {
                    Comparison::Less => "<",
                    Comparison::Greater => ">",
                    Comparison::LessEqual => "<=",
                    Comparison::GreaterEqual => ">=",
                    Comparison::Equal => "==",
                    Comparison::NotEqual => "!=",
                };
                format!("({} {sign} {})", self.expr(a), self.expr(b))
            }
            KExpr::Logic(op, a, b) => {
                let sign = match op {
                    Logic::And => "&&",
                    Logic::Or => "||",
                    Logic::Xor => "!=",
                };
                format!("({} {sign} {})", self.expr(a), self.expr(b))
            }
            KExpr::Select { condition, if_true, if_false } => {
                format!("({} ? {} : {})", self.expr(condition), self.expr(if_true), self.expr(if_false))
            }
            KExpr::Component(a, index) => format!("{}.c[{index}]", self.expr(a)),
            KExpr::Dot(a, b) => format!("eq_dot({}, {})", self.expr(a), self.expr(b)),
            KExpr::Vector(components) => {
                let components: Vec<String> = components.iter().map(|c| self.expr(c)).collect();
                format!("eq_vector({})", components.join(", "))
            }
            KExpr::ZeroVector => self.reals.zero_vector().to_owned(),
            KExpr::Math(op, a, b) => {
                let name = match op {
                    BinaryMath::Min => "eq_min",
                    BinaryMath::Max => "eq_max",
                    BinaryMath::Pow => "pow",
                };
                format!("{name}({}, {})", self.expr(a), self.expr(b))
            }
            KExpr::Entity(path) => self.path(path),
            KExpr::Displacement { to, from } => {
                let half_steps = self.half_steps(to) - self.half_steps(from);
                let spacing = "eq_at(g.spacing, axis)";
                let along = match half_steps {
                    2 => spacing.to_owned(),
                    -2 => format!("-{spacing}"),
                    n => format!("{} * {spacing}", Reals::DOUBLE.literal(f64::from(n) * 0.5)),
                };
                format!("eq_along(axis, {})", self.reals.entering(&along))
            }
        }
    }

    /// Position along the axis in half spacings: from the cell ([`Form::Cells`]) or from the face ([`Form::PerAxis`]).
    fn half_steps(&self, path: &Path) -> i32 {
        match path {
            Path::SideFace(Side::Low) | Path::First(_) => -1,
            Path::SideFace(Side::High) | Path::Second(_) => 1,
            Path::Neighbour(Side::Low) => -2,
            Path::Neighbour(Side::High) => 2,
            Path::Here | Path::Local(_) | Path::Through { .. } | Path::Select { .. } | Path::Empty => 0,
        }
    }

    /// An entity.
    pub(super) fn path(&self, path: &Path) -> String {
        match path {
            Path::Here => match self.form {
                Form::General => "here".to_owned(),
                Form::Cells => "cell.index".to_owned(),
                Form::PerAxis(_) => "axis".to_owned(),
            },
            Path::Local(id) => self.local(*id).to_owned(),
            Path::First(face) => self.cell_of_side(face, true).unwrap_or_else(|| format!("{}.first", self.cells_of(face))),
            Path::Second(face) => self.cell_of_side(face, false).unwrap_or_else(|| format!("{}.second", self.cells_of(face))),
            Path::Through { param, at } => self.load(*param, at),
            Path::Select { condition, if_true, if_false } => {
                format!("({} ? {} : {})", self.expr(condition), self.path(if_true), self.path(if_false))
            }
            Path::SideFace(side) => format!("eq_side_face(g, cell, axis, {})", high(*side)),
            Path::Neighbour(side) => format!("eq_neighbour(g, cell, axis, {})", high(*side)),
            Path::Empty => "EQ_NONE".to_owned(),
        }
    }

    fn cells_of(&self, face: &Path) -> String {
        if let Path::Local(id) = face
            && let Some(side) = self.sides.get(id)
        {
            return side.cells.clone();
        }
        if self.tells_pattern() {
            return format!("eq_try_cells(grid, {})", self.path(face));
        }
        format!("grid.face_cells[{}]", self.path(face))
    }

    fn measure(&self, path: &Path) -> String {
        match self.kernel.path_kind(self.sets, path) {
            Some(EntityKind::Edge) => return self.reals.entering(&format!("grid.edge_lengths[{}]", self.path(path))),
            // A point counts as one.
            Some(EntityKind::Vertex) => return self.reals.literal(1.0),
            Some(EntityKind::Cell | EntityKind::Face) | None => {}
        }
        let face = match path {
            Path::SideFace(_) => true,
            Path::Here => self.kernel.space_kind(self.sets) == Some(EntityKind::Face),
            _ => self.kernel.path_kind(self.sets, path) == Some(EntityKind::Face),
        };
        self.reals.entering(&match (self.form, face) {
            (Form::General, true) => format!("grid.face_areas[{}]", self.path(path)),
            (Form::General, false) => format!("grid.cell_volumes[{}]", self.path(path)),
            (Form::Cells | Form::PerAxis(_), true) => "eq_at(g.area, axis)".to_owned(),
            (Form::Cells | Form::PerAxis(_), false) => "g.volume".to_owned(),
        })
    }

    /// An element of a collection parameter.
    pub(super) fn load(&self, id: ParamId, at: &Path) -> String {
        let param = &self.kernel.params[id.0 as usize];
        let name = self.param(id);
        let Some(set) = param.ty.mapping() else { return name.to_owned() };
        if *at == Path::Here
            && let Some(local) = self.here.get(&id)
        {
            return local.clone();
        }
        if let Some(value) = self.value_at_side(id, at) {
            return value;
        }
        if let Path::Neighbour(side) = at
            && let Some(array) = self.neighbours.get(&(id, high(*side)))
        {
            return format!("{array}[axis]");
        }
        let (index, size) = if param.per_axis && self.form != Form::General {
            let faces = self.sets.get(set).kind == EntityKind::Face;
            if let Some(local) = self.per_axis.get(&id) {
                return if faces { format!("{local}[axis]") } else { local.clone() };
            }
            if faces { ("axis".to_owned(), "DIM".to_owned()) } else { ("0".to_owned(), "1".to_owned()) }
        } else {
            (self.position(set, at), format!("{name}_size"))
        };
        match param.ty.basic {
            Basic::Entity(_) if self.tells_pattern() => format!("eq_try_entity({name}, {index})"),
            Basic::Vector => format!("eq_load({name}, {size}, {index})"),
            Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text => format!("{name}[{index}]"),
        }
    }

    /// Position in a collection over `set` of the element that belongs to an entity.
    pub(super) fn position(&self, set: SetId, at: &Path) -> String {
        if *at == Path::Here && self.kernel.space_set() == Some(set) {
            return if self.form == Form::General { "element".to_owned() } else { self.path(at) };
        }
        let all = self.sets.get(set).canonical.is_some_and(|c| c.extent == Extent::All);
        if all { self.path(at) } else { self.rank(set, at) }
    }

    fn rank(&self, set: SetId, at: &Path) -> String {
        let ranks = &self.ranks[&set];
        match (self.form, at) {
            (Form::General, Path::Local(id)) if self.sides.contains_key(id) => self.rank_of_side(set, at, &self.sides[id]),
            (Form::General, _) if self.tells_pattern() => format!("eq_try_rank({ranks}, {})", self.path(at)),
            (Form::General, _) => format!("eq_rank({ranks}, {})", self.path(at)),
            (_, Path::SideFace(side)) => format!("eq_side_rank(g, {ranks}, cell, axis, {})", high(*side)),
            (Form::Cells, Path::Here) => format!("eq_cell_rank(g, {ranks}, cell)"),
            (Form::Cells | Form::PerAxis(_), _) => format!("eq_rank_cartesian(g, {ranks}, {})", self.path(at)),
        }
    }

    fn member(&self, set: SetId, at: &Path) -> String {
        let canonical = self.sets.get(set).canonical;
        if canonical.is_some_and(|c| c.extent == Extent::All) {
            return "true".to_owned();
        }
        if self.form == Form::General
            && let Path::Local(id) = at
            && let Some(SideNames { beyond, .. }) = self.sides.get(id)
        {
            match canonical {
                Some(CanonicalSet::INTERIOR_FACES) => return format!("eq_is_inside({beyond})"),
                Some(CanonicalSet::BOUNDARY_FACES) => return format!("(!eq_is_inside({beyond}))"),
                Some(_) | None => {}
            }
        }
        format!("({} != EQ_NONE)", self.rank(set, at))
    }

    /// Sets whose ranks the text mentions, in order.
    pub(super) fn used_ranks(&self) -> Vec<SetId> {
        let mentions = |name: &str| {
            self.out.match_indices(name).any(|(i, _)| {
                let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
                !word(self.out[..i].chars().next_back()) && !word(self.out[i + name.len()..].chars().next())
            })
        };
        self.ranks.iter().filter(|(_, name)| mentions(name)).map(|(&set, _)| set).collect()
    }
}

fn high(side: Side) -> u32 {
    match side {
        Side::Low => 0,
        Side::High => 1,
    }
}

/// Without the parentheses around the whole of it.
pub(super) fn bare(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else { return text };
    let mut depth = 0i32;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return text;
        }
    }
    inner
}
