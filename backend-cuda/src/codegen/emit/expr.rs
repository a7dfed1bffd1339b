//! Expressions as CUDA C++ text.

use equelle_front::backend::structural::asked_axis;
use equelle_front::ir::{KExpr, ParamId, Path, Side, UnaryOp};
use equelle_front::ops::Arithmetic;
use equelle_front::types::{Basic, EntityKind};

use super::operators::{logic, prelude_function};
use super::path::high;
use super::reals::Reals;
use super::text::Text;
use super::writer::{Form, Writer};

impl Writer<'_> {
    /// An expression.
    pub(in crate::codegen) fn expr(&mut self, expr: &KExpr) -> Text {
        if self.form != Form::General
            && let Some(axis) = asked_axis(expr)
        {
            // Axes are unrolled, so that this is no test at run time.
            return Text::compound(format!("axis == {axis}"));
        }
        match expr {
            KExpr::Real(x) => self.reals.literal(*x),
            KExpr::Bool(b) => Text::name(b.to_string()),
            KExpr::Local(id) => Text::name(self.local(*id)),
            KExpr::Param(id) => Text::name(self.param(*id)),
            KExpr::Load { param, at } => self.load(*param, at),
            KExpr::Measure(path) => self.measure(path),
            KExpr::Centroid(path) => {
                let function = match self.kernel.path_kind(self.sets, path) {
                    Some(EntityKind::Face) => "eq_face_centroid",
                    Some(EntityKind::Edge) => "eq_edge_centroid",
                    Some(EntityKind::Vertex) => "eq_vertex_position",
                    Some(EntityKind::Cell) | None => "eq_cell_centroid",
                };
                let centroid = format!("{function}(grid, {})", self.path(path));
                Text::atom(self.reals.entering_vector(&centroid))
            }
            KExpr::FaceGap(path) => {
                let gap = format!("eq_face_gap(grid, {})", self.path(path));
                Text::atom(self.reals.entering_vector(&gap))
            }
            KExpr::FaceTransmissibility(path) => {
                let given = format!("eq_face_transmissibility(grid, {})", self.path(path));
                Text::atom(self.reals.entering(&given))
            }
            KExpr::Normal(path) => Text::atom(match self.form {
                Form::General => {
                    let normal = format!("eq_face_normal(grid, {})", self.path(path));
                    self.reals.entering_vector(&normal)
                }
                Form::Cells | Form::PerAxis(_) => format!("eq_along(axis, {})", self.reals.literal(1.0)),
            }),
            KExpr::IsEmpty(path) => Text::compound(format!("{} == EQ_NONE", self.path(path))),
            KExpr::CellFact { fact, at } => self.cell_fact(*fact, at),
            KExpr::Member { set, at } => self.member(*set, at),
            KExpr::Same(a, b) => Text::compound(format!("{} == {}", self.path(a), self.path(b))),
            KExpr::Unary(op, a) => self.unary(*op, a),
            KExpr::Arithmetic(Arithmetic::Div, a, b) => match self.quotient(a, b) {
                Some(quotient) => quotient,
                // Only dividends that vary by element need `eq_divide`: a 0 slows down its warp.
                None if self.kernel.expr_basic(a) == Basic::Scalar && !matches!(**a, KExpr::Real(_) | KExpr::Param(_)) => {
                    Text::atom(format!("eq_divide({}, {})", self.expr(a).bare(), self.expr(b).bare()))
                }
                None => self.infix(a, Arithmetic::Div.symbol(), b),
            },
            KExpr::Arithmetic(op, a, b) => self.infix(a, op.symbol(), b),
            KExpr::Compare(op, a, b) => self.infix(a, op.symbol(), b),
            KExpr::Logic(op, a, b) => self.infix(a, logic(*op), b),
            KExpr::Select { condition, if_true, if_false } => {
                Text::compound(format!("{} ? {} : {}", self.expr(condition), self.expr(if_true), self.expr(if_false)))
            }
            KExpr::Component(a, index) => Text::atom(format!("{}.c[{index}]", self.expr(a))),
            KExpr::Dot(a, b) => self.call("eq_dot", &[a, b]),
            KExpr::Vector(components) => self.call("eq_vector", &components.iter().collect::<Vec<_>>()),
            KExpr::ZeroVector => self.reals.zero_vector(),
            KExpr::Math(op, a, b) => self.call(&prelude_function(op.word()), &[a, b]),
            KExpr::Interpolate { table, of, argument } => {
                // Tables are in double precision.
                let value = format!("eq_{}({}, {})", of.word(), self.param(*table), self.expr(argument).bare());
                Text::atom(self.reals.entering(&value))
            }
            KExpr::Entity(path) => self.path(path),
            KExpr::Displacement { to, from, is_stored: _ } => {
                if let (Path::Second(face), Some(axis)) = (&**to, self.axis_across(to)) {
                    debug_assert_eq!(**from, Path::First(face.clone()));
                    let width = self.reals.entering(&format!("g.spacing[{axis}]"));
                    return Text::atom(format!("eq_along({axis}, {width})"));
                }
                let half_steps = self.half_steps(to) - self.half_steps(from);
                let spacing = "eq_at(g.spacing, axis)";
                let along = match half_steps {
                    // Also outside a side, where there is no axis.
                    0 => return self.reals.zero_vector(),
                    2 => spacing.to_owned(),
                    -2 => format!("-{spacing}"),
                    n => format!("{} * {spacing}", Reals::DOUBLE.literal(f64::from(n) * 0.5)),
                };
                Text::atom(format!("eq_along(axis, {})", self.reals.entering(&along)))
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, a: &KExpr) -> Text {
        let function = match op {
            UnaryOp::Neg => return Text::compound(format!("-{}", self.expr(a))),
            UnaryOp::Not => return Text::compound(format!("!{}", self.expr(a))),
            UnaryOp::Abs => "fabs",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::Length => "eq_length",
            UnaryOp::Elementary(function) => &prelude_function(function.word()),
        };
        self.call(function, &[a])
    }

    fn infix(&mut self, a: &KExpr, sign: &str, b: &KExpr) -> Text {
        Text::compound(format!("{} {sign} {}", self.expr(a), self.expr(b)))
    }

    fn call(&mut self, function: &str, arguments: &[&KExpr]) -> Text {
        let arguments: Vec<String> = arguments.iter().map(|a| self.expr(a).to_string()).collect();
        Text::atom(format!("{function}({})", arguments.join(", ")))
    }

    /// Position along the axis in half spacings: from the cell ([`Form::Cells`]) or from the face
    /// ([`Form::PerAxis`]).
    pub(in crate::codegen) fn half_steps(&self, path: &Path) -> i32 {
        match path {
            Path::SideFace(Side::Low) | Path::First(_) => -1,
            Path::SideFace(Side::High) | Path::Second(_) => 1,
            Path::Shift { by, .. } => 2 * i32::from(*by),
            Path::Here | Path::Local(_) | Path::Through { .. } | Path::Select { .. } | Path::Offset { .. } | Path::Empty => 0,
        }
    }

    /// The axis that a face is across, or that its cells are along, if the local of the face stands
    /// for all such faces.
    fn axis_across(&self, path: &Path) -> Option<usize> {
        match path {
            Path::Local(face) => self.faces_across.get(face).map(|face| face.axis),
            Path::First(face) | Path::Second(face) => self.axis_across(face),
            Path::Here
            | Path::Through { .. }
            | Path::Select { .. }
            | Path::SideFace(_)
            | Path::Shift { .. }
            | Path::Offset { .. }
            | Path::Empty => None,
        }
    }

    pub(in crate::codegen) fn measure(&mut self, path: &Path) -> Text {
        match self.kernel.path_kind(self.sets, path) {
            Some(EntityKind::Edge) => {
                let length = format!("eq_edge_length(grid, {})", self.path(path));
                return Text::atom(self.reals.entering(&length));
            }
            // A point counts as one.
            Some(EntityKind::Vertex) => return self.reals.literal(1.0),
            Some(EntityKind::Cell | EntityKind::Face) | None => {}
        }
        if let Some(axis) = self.axis_across(path) {
            return Text::atom(self.reals.entering(&format!("g.area[{axis}]")));
        }
        let face = match path {
            Path::SideFace(_) => true,
            Path::Here => self.kernel.space_kind(self.sets) == Some(EntityKind::Face),
            _ => self.kernel.path_kind(self.sets, path) == Some(EntityKind::Face),
        };
        let measure = match (self.form, face) {
            (Form::General, true) => format!("eq_face_area(grid, {})", self.path(path)),
            (Form::General, false) => format!("eq_cell_volume(grid, {})", self.path(path)),
            (Form::Cells | Form::PerAxis(_), true) => "eq_at(g.area, axis)".to_owned(),
            (Form::Cells | Form::PerAxis(_), false) => "g.volume".to_owned(),
        };
        Text::atom(self.reals.entering(&measure))
    }

    /// An element of a collection parameter.
    pub(in crate::codegen) fn load(&mut self, id: ParamId, at: &Path) -> Text {
        let param = &self.kernel.params[id.0 as usize];
        let Some(set) = param.ty.mapping() else { return Text::name(self.param(id)) };
        if let Some(result) = self.kernel.result_in(id) {
            // The result is written where this value was, after everything has been computed.
            let (result, index) = (self.results[result].clone(), self.position(set, at));
            return Text::atom(format!("{result}[{}]", index.bare()));
        }
        if *at == Path::Here
            && let Some(local) = self.here.get(&id)
        {
            return if self.row { Text::atom(format!("{local}[at]")) } else { Text::name(local) };
        }
        if let Some(value) = self.loaded_together(id, at) {
            return value;
        }
        if let Some(value) = self.value_at_side(id, at) {
            return value;
        }
        if let Path::Shift { by, .. } = at
            && let Some(array) = self.neighbours.get(&(id, high(Side::towards(*by))))
        {
            return Text::atom(if self.row { format!("{array}[axis][at]") } else { format!("{array}[axis]") });
        }
        let per_axis = param.per_axis && (self.form != Form::General || self.on_cartesian_grid);
        let faces = self.sets.get(set).kind == EntityKind::Face;
        let axis = match self.axis_across(at) {
            Some(axis) => axis.to_string(),
            None if self.form == Form::General && per_axis && faces => format!("eq_face_axis(g, {})", self.path(at).bare()),
            None => "axis".to_owned(),
        };
        if per_axis && let Some(local) = self.per_axis.get(&id) {
            return if faces { Text::atom(format!("{local}[{axis}]")) } else { Text::name(local) };
        }
        let index = match (per_axis, faces) {
            (true, true) => Text::name(axis),
            (true, false) => Text::atom("0"),
            (false, _) => self.position(set, at),
        };
        let name = self.param(id);
        Text::atom(match param.ty.basic {
            Basic::Entity(_) if self.tells_pattern() => format!("eq_try_entity({name}, {index})"),
            Basic::Vector => {
                let size = match (per_axis, faces) {
                    (true, true) => "DIM".to_owned(),
                    (true, false) => "1".to_owned(),
                    (false, _) => self.size(id),
                };
                format!("eq_load({name}, {size}, {})", index.bare())
            }
            Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => {
                format!("{name}[{}]", index.bare())
            }
        })
    }
}
