//! Types and entity kinds of a kernel's expressions and paths, for code generators, passes and the
//! interpreter.
//!
//! These functions are total. On a kernel that [`crate::verify`] accepted the answers are exact; on
//! a malformed one they say what the construct would be if its operands were right.

use crate::ir::kernel::{CartesianForm, FaceFilter, KBlock, KExpr, KResult, KStmt, Kernel, LocalId, Param, ParamId, Path, Space};
use crate::ir::numbers::{Numbers, Precision};
use crate::ir::op::UnaryOp;
use crate::ir::visit::{Node, visit_block};
use crate::ops::FaceReduction;
use crate::types::{Basic, CanonicalSet, EntityKind, Extent, SetId, SetTable, Shape, Type};

impl Type {
    /// One entity of `kind`, Empty or in `within`.
    pub fn entity(kind: EntityKind, within: SetId) -> Type {
        Type { basic: Basic::Entity(kind), shape: Shape::Single, within: Some(within), halo: crate::types::Halo::NONE }
    }

    /// One value of `basic`, without a set.
    pub fn single(basic: Basic) -> Type {
        Type { basic, shape: Shape::Single, within: None, halo: crate::types::Halo::NONE }
    }

    /// Kind of its entities; `None` for numbers, truth values and text.
    pub fn entity_kind(&self) -> Option<EntityKind> {
        match self.basic {
            Basic::Entity(kind) => Some(kind),
            Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_) => None,
        }
    }
}

impl FaceFilter {
    /// The set of the faces it lets through.
    pub fn set(self) -> CanonicalSet {
        match self {
            FaceFilter::All => CanonicalSet::ALL_FACES,
            FaceFilter::Interior => CanonicalSet::INTERIOR_FACES,
            FaceFilter::Boundary => CanonicalSet::BOUNDARY_FACES,
        }
    }
}

impl Kernel {
    /// The precision in which it computes. In a program of single precision that is single where it
    /// reads collections of numbers, whose values are no better. One that reads none, such as a
    /// transmissibility, computes in double precision and rounds what it stores.
    pub fn computes_in(&self, numbers: Numbers) -> Precision {
        let reads = |p: &Param| matches!((p.ty.shape, p.ty.basic), (Shape::Collection(_), Basic::Scalar | Basic::Vector));
        match numbers.precision {
            Precision::Single if self.params.iter().any(reads) => Precision::Single,
            Precision::Single | Precision::Double => Precision::Double,
        }
    }

    /// True if its Cartesian form also takes Cartesian grids with joined sides, where all back-ends
    /// and interpreters must take the same form: their bits agree for any spacing. Others take the
    /// body for any grid there.
    pub fn takes_joined_sides(&self, sets: &SetTable) -> bool {
        let is_loaded_vector = |param: &Param| param.ty.basic == Basic::Vector && matches!(param.ty.shape, Shape::Collection(_));
        let is_number = |result: &KResult| result.ty.basic == Basic::Scalar && result.reduce.is_none();
        let kept = self.params.iter().all(|param| !is_loaded_vector(param) && (!param.per_axis || param.ty.basic == Basic::Scalar));
        let Some(CartesianForm::PerAxis(block) | CartesianForm::Full(block)) = &self.cartesian else { return false };
        if !kept || self.jacobian.is_some() || !self.checks.is_empty() || !is_alike_at_joined_sides(block) {
            return false;
        }
        match &self.cartesian {
            Some(CartesianForm::PerAxis(_)) => self.results.iter().all(is_number),
            Some(CartesianForm::Full(_)) | None => self.space_set() == Some(sets.canonical(CanonicalSet::ALL_CELLS)),
        }
    }

    /// The set it is evaluated over; `None` for [`Space::Unit`].
    pub fn space_set(&self) -> Option<SetId> {
        match self.space {
            Space::Unit => None,
            Space::Set(set) => Some(set),
        }
    }

    /// Kind of [`Path::Here`]; `None` for [`Space::Unit`].
    pub fn space_kind(&self, sets: &SetTable) -> Option<EntityKind> {
        self.space_set().map(|set| sets.get(set).kind)
    }

    /// A parameter.
    pub fn param(&self, id: ParamId) -> Option<&Param> {
        self.params.get(id.0 as usize)
    }

    /// Type of a local.
    pub fn local_type(&self, id: LocalId) -> Option<Type> {
        self.locals.get(id.0 as usize).map(|local| local.ty)
    }

    /// The parameter that is the domain of `set`. For a canonical set there usually is none.
    pub fn domain_param(&self, set: SetId) -> Option<ParamId> {
        self.params.iter().position(|p| p.ty.shape == Shape::Domain(set)).map(|i| ParamId(i as u32))
    }

    /// Returns the type of one evaluation of the expression: a Scalar, a Vector or a Bool.
    pub fn expr_basic(&self, expr: &KExpr) -> Basic {
        match expr {
            KExpr::Real(_)
            | KExpr::Measure(_)
            | KExpr::FaceTransmissibility(_)
            | KExpr::Component(..)
            | KExpr::Dot(..)
            | KExpr::Math(..)
            | KExpr::Interpolate { .. } => Basic::Scalar,
            KExpr::CellFact { fact, .. } => {
                if fact.is_truth() {
                    Basic::Bool
                } else {
                    Basic::Scalar
                }
            }
            KExpr::Bool(_) | KExpr::IsEmpty(_) | KExpr::Member { .. } | KExpr::Same(..) | KExpr::Compare(..) | KExpr::Logic(..) => {
                Basic::Bool
            }
            KExpr::Centroid(_)
            | KExpr::FaceGap(_)
            | KExpr::Normal(_)
            | KExpr::Displacement { .. }
            | KExpr::Vector(_)
            | KExpr::ZeroVector => Basic::Vector,
            // Without the sets only a result tells the kind: this is never a local.
            KExpr::Entity(_) => self.results.iter().find(|r| r.ty.entity_kind().is_some()).map_or(Basic::Scalar, |r| r.ty.basic),
            KExpr::Local(id) => self.local_type(*id).map_or(Basic::Scalar, |ty| ty.basic),
            KExpr::Param(id) | KExpr::Load { param: id, .. } => self.param(*id).map_or(Basic::Scalar, |p| p.ty.basic),
            KExpr::Unary(op, a) => match op {
                UnaryOp::Neg => self.expr_basic(a),
                UnaryOp::Not => Basic::Bool,
                UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Length | UnaryOp::Elementary(_) => Basic::Scalar,
            },
            // A Vector on either side makes a Vector; the left operand of a long chain is looked at
            // first.
            KExpr::Arithmetic(_, a, b) => match self.expr_basic(b) {
                Basic::Vector => Basic::Vector,
                Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => self.expr_basic(a),
            },
            KExpr::Select { if_true, .. } => self.expr_basic(if_true),
        }
    }

    /// As [`Kernel::expr_basic`], as the type of a local that would hold it.
    pub fn expr_type(&self, expr: &KExpr) -> Type {
        Type::single(self.expr_basic(expr))
    }

    /// Kind of the entity at the end of a path; `None` for [`Path::Empty`], which is of every kind.
    pub fn path_kind(&self, sets: &SetTable, path: &Path) -> Option<EntityKind> {
        match path {
            Path::Here => self.space_kind(sets),
            Path::Local(id) => self.local_type(*id).and_then(|ty| ty.entity_kind()),
            Path::First(_) | Path::Second(_) | Path::Shift { .. } | Path::Offset { .. } => Some(EntityKind::Cell),
            Path::Through { param, .. } => self.param(*param).and_then(|p| p.ty.entity_kind()),
            Path::Select { if_true, if_false, .. } => self.path_kind(sets, if_true).or_else(|| self.path_kind(sets, if_false)),
            Path::SideFace(_) => Some(EntityKind::Face),
            Path::Empty => None,
        }
    }

    /// The smallest set known to hold the entity at the end of a path, if there is an entity;
    /// `None` for [`Path::Empty`].
    pub fn path_within(&self, sets: &SetTable, path: &Path) -> Option<SetId> {
        let all = |kind| sets.canonical(CanonicalSet { kind, extent: Extent::All });
        match path {
            Path::Here => self.space_set(),
            Path::Local(id) => self.local_type(*id).and_then(|ty| ty.within.or_else(|| ty.entity_kind().map(all))),
            Path::First(_) | Path::Second(_) | Path::Shift { .. } | Path::Offset { .. } => Some(all(EntityKind::Cell)),
            Path::Through { param, .. } => self.param(*param).and_then(|p| p.ty.within),
            Path::Select { if_true, if_false, .. } => match (self.path_within(sets, if_true), self.path_within(sets, if_false)) {
                (Some(a), Some(b)) => Some(sets.common_superset(a, b)),
                (a, b) => a.or(b),
            },
            Path::SideFace(_) => Some(all(EntityKind::Face)),
            Path::Empty => None,
        }
    }

    /// True if the path is known to end at an entity, never at Empty. Entity locals and what entity
    /// collections hold are not known to.
    pub fn path_never_empty(&self, sets: &SetTable, path: &Path) -> bool {
        match path {
            Path::Here | Path::SideFace(_) | Path::Shift { .. } => true,
            Path::Offset { from, .. } => self.path_never_empty(sets, from),
            Path::First(face) | Path::Second(face) => {
                let interior = sets.canonical(CanonicalSet::INTERIOR_FACES);
                self.path_never_empty(sets, face) && self.path_within(sets, face).is_some_and(|w| sets.is_subset(w, interior))
            }
            Path::Select { if_true, if_false, .. } => self.path_never_empty(sets, if_true) && self.path_never_empty(sets, if_false),
            Path::Local(_) | Path::Through { .. } | Path::Empty => false,
        }
    }
}

impl SetTable {
    /// A smallest set known to hold both; for sets of different kinds the first one's All-set.
    pub fn common_superset(&self, a: SetId, b: SetId) -> SetId {
        let mut set = a;
        loop {
            let parent = self.get(set).parent;
            if self.is_subset(b, set) || parent == set {
                return set;
            }
            set = parent;
        }
    }
}

/// True if a Cartesian body means the same at joined sides as elsewhere: it reads no positions,
/// which are those of one side, and no cell or face is compared with another.
fn is_alike_at_joined_sides(block: &KBlock) -> bool {
    let mut alike = true;
    visit_block(block, &mut |node| {
        alike &= match node {
            Node::Expr(
                KExpr::Centroid(_)
                | KExpr::FaceGap(_)
                | KExpr::FaceTransmissibility(_)
                | KExpr::CellFact { .. }
                | KExpr::Same(..)
                | KExpr::Displacement { is_stored: true, .. }
                | KExpr::Entity(_),
            ) => false,
            Node::Stmt(KStmt::ReduceFaces { .. } | KStmt::Add { .. } | KStmt::LetEntity { .. }) => false,
            Node::Stmt(KStmt::ReduceSides { reduction, .. }) => *reduction == FaceReduction::Sum,
            _ => true,
        };
    });
    alike
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel over boundary faces with a collection of cells and an entity local.
    fn kernel() -> (SetTable, Kernel) {
        let text = "module m set inlet in BoundaryFaces() kernel k over inlet {
              param inlet: Domain inlet
              param owner: Cell On inlet In InteriorCells()
              param v: Vector On AllCells()
              result r: Scalar On inlet
              body { c: Cell In BoundaryCells() = empty x: Bool = is_empty(c) yield 1.0 }
            }
            main {}";
        let mut module = crate::ir::text::parse(text).unwrap_or_else(|e| panic!("{e}"));
        (module.sets, module.kernels.remove(0))
    }

    #[test]
    fn paths_have_kinds_and_sets() {
        let (sets, kernel) = kernel();
        let set = |kind, extent| sets.canonical(CanonicalSet { kind, extent });
        let owner = Path::Through { param: ParamId(1), at: Box::new(Path::Here) };
        let local = Path::Local(LocalId(0));
        let condition = Box::new(KExpr::Bool(true));
        let choose =
            |a: &Path, b: &Path| Path::Select { condition: condition.clone(), if_true: Box::new(a.clone()), if_false: Box::new(b.clone()) };
        let cells = Some(set(EntityKind::Cell, Extent::All));
        let cases = [
            (Path::Here, Some(EntityKind::Face), kernel.space_set(), true),
            (owner.clone(), Some(EntityKind::Cell), Some(set(EntityKind::Cell, Extent::Interior)), false),
            (local.clone(), Some(EntityKind::Cell), Some(set(EntityKind::Cell, Extent::Boundary)), false),
            // A boundary face may have its first cell outside.
            (Path::First(Box::new(Path::Here)), Some(EntityKind::Cell), cells, false),
            (choose(&owner, &local), Some(EntityKind::Cell), cells, false),
            (choose(&Path::Empty, &owner), Some(EntityKind::Cell), Some(set(EntityKind::Cell, Extent::Interior)), false),
            (Path::Empty, None, None, false),
        ];
        for (path, kind, within, never_empty) in cases {
            assert_eq!(kernel.path_kind(&sets, &path), kind, "{path:?}");
            assert_eq!(kernel.path_within(&sets, &path), within, "{path:?}");
            assert_eq!(kernel.path_never_empty(&sets, &path), never_empty, "{path:?}");
        }
        assert_eq!(kernel.domain_param(kernel.space_set().unwrap_or(SetId(0))), Some(ParamId(0)));
        assert_eq!(kernel.domain_param(set(EntityKind::Cell, Extent::All)), None);
    }

    #[test]
    fn a_vector_on_either_side_makes_a_vector() {
        use crate::ops::Arithmetic;
        let (_, kernel) = kernel();
        let vector = KExpr::Load { param: ParamId(2), at: Path::Here };
        let product = KExpr::Arithmetic(Arithmetic::Mul, Box::new(KExpr::Real(2.0)), Box::new(vector.clone()));
        assert_eq!(kernel.expr_basic(&product), Basic::Vector);
        assert_eq!(kernel.expr_basic(&KExpr::Component(Box::new(product), 0)), Basic::Scalar);
        assert_eq!(kernel.expr_basic(&KExpr::Unary(UnaryOp::Neg, Box::new(vector.clone()))), Basic::Vector);
        assert_eq!(kernel.expr_type(&KExpr::Unary(UnaryOp::Length, Box::new(vector))), Type::SCALAR);
        assert_eq!(kernel.expr_basic(&KExpr::Local(LocalId(1))), Basic::Bool);
    }

    #[test]
    fn common_supersets() {
        let (mut sets, kernel) = kernel();
        let Some(inlet) = kernel.space_set() else { panic!("the kernel is over a set") };
        let boundary = sets.canonical(CanonicalSet::BOUNDARY_FACES);
        let outlet = sets.add(boundary, Some("outlet"));
        assert_eq!(sets.common_superset(inlet, inlet), inlet);
        assert_eq!(sets.common_superset(inlet, outlet), boundary);
        assert_eq!(sets.common_superset(inlet, boundary), boundary);
        assert_eq!(sets.common_superset(inlet, sets.canonical(CanonicalSet::INTERIOR_FACES)), sets.canonical(CanonicalSet::ALL_FACES));
    }
}
