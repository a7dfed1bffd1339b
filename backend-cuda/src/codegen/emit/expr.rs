//! Expressions as CUDA C++ text.

use equelle_front::backend::structural::along_one_axis;
use equelle_front::ir::{KExpr, ParamId, Path, Side, UnaryOp};
use equelle_front::ops::{Arithmetic, BinaryMath, Comparison, Logic};
use equelle_front::types::{Basic, EntityKind};

use super::path::high;
use super::reals::Reals;
use super::text::bare;
use super::writer::{Form, Writer};

impl Writer<'_> {
    /// An expression; compound ones come in parentheses.
    pub(in crate::codegen) fn expr(&self, expr: &KExpr) -> String {
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
    pub(in crate::codegen) fn half_steps(&self, path: &Path) -> i32 {
        match path {
            Path::SideFace(Side::Low) | Path::First(_) => -1,
            Path::SideFace(Side::High) | Path::Second(_) => 1,
            Path::Neighbour(Side::Low) => -2,
            Path::Neighbour(Side::High) => 2,
            Path::Here | Path::Local(_) | Path::Through { .. } | Path::Select { .. } | Path::Empty => 0,
        }
    }

    pub(in crate::codegen) fn measure(&self, path: &Path) -> String {
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
    pub(in crate::codegen) fn load(&self, id: ParamId, at: &Path) -> String {
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
}
