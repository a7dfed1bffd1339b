//! Expressions and paths as CUDA C++ text.

use equelle_front::backend::structural::along_one_axis;
use equelle_front::ir::{KExpr, ParamId, Path, Side, UnaryOp};
use equelle_front::ops::{Arithmetic, BinaryMath, Comparison, Logic};
use equelle_front::types::{Basic, CanonicalSet, EntityKind, Extent, SetId};

use super::reals::Reals;
use super::sides::SideNames;
use super::text::{Form, Writer};

impl Writer<'_> {
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
                    // Also outside a side, where there is no axis.
                    0 => return self.reals.zero_vector().to_owned(),
                    2 => spacing.to_owned(),
                    -2 => format!("-{spacing}"),
                    n => format!("{} * {spacing}", Reals::DOUBLE.literal(f64::from(n) * 0.5)),
                };
                format!("eq_along(axis, {})", self.reals.entering(&along))
            }
        }
    }

    /// Position along the axis in half spacings: from the cell ([`Form::Cells`]) or from the face ([`Form::PerAxis`]).
    pub(super) fn half_steps(&self, path: &Path) -> i32 {
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

    pub(super) fn cells_of(&self, face: &Path) -> String {
        if let Path::Local(id) = face
            && let Some(side) = self.sides.get(id)
        {
            return side.cells.clone();
        }
        if self.tells_pattern() {
            return format!("eq_try_cells(grid, {})", self.path(face));
        }
        format!("eq_cells(grid, {})", self.path(face))
    }

    pub(super) fn measure(&self, path: &Path) -> String {
        match self.kernel.path_kind(self.sets, path) {
            Some(EntityKind::Edge) => return self.reals.entering(&format!("eq_edge_length(grid, {})", self.path(path))),
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
            (Form::General, true) => format!("eq_face_area(grid, {})", self.path(path)),
            (Form::General, false) => format!("eq_cell_volume(grid, {})", self.path(path)),
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

    pub(super) fn rank(&self, set: SetId, at: &Path) -> String {
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

    pub(super) fn member(&self, set: SetId, at: &Path) -> String {
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
