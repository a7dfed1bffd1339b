//! Arrays of the grid's geometry that a program still reads after each statement: a runtime may
//! free the others.

use std::collections::BTreeSet;

use crate::backend::visit::{Node, visit_block, visit_general};
use crate::ir::{Block, Function, JacobianForm, KExpr, KStmt, Kernel, KernelId, Module, Op, Path, Stmt, StmtKind, ValueId};
use crate::types::EntityKind;

/// An array of the geometry of a grid that is not Cartesian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GeometryArray {
    /// Volumes of cells.
    CellVolumes,
    /// Centroids of cells.
    CellCentroids,
    /// Areas of faces.
    FaceAreas,
    /// Centroids of faces.
    FaceCentroids,
    /// Normals of faces.
    FaceNormals,
}

/// Statements of the main block that take long, loops and solves, by their place, with what is read
/// from there on: those before which less is read than what has been kept up to there. Operations
/// that follow derivatives read no geometry beside that of their formulas.
pub fn kept_from(module: &Module) -> Vec<(usize, BTreeSet<GeometryArray>)> {
    use GeometryArray::{CellCentroids, CellVolumes, FaceAreas, FaceCentroids, FaceNormals};
    let statements = &module.main.body.statements;
    let mut kept = BTreeSet::from([CellVolumes, CellCentroids, FaceAreas, FaceCentroids, FaceNormals]);
    let mut found = Vec::new();
    for (place, _) in statements.iter().enumerate().filter(|(_, s)| takes_long(s)) {
        let mut reads = Reads { module, found: BTreeSet::new() };
        statements[place..].iter().for_each(|s| reads.statement(&module.main, s));
        if reads.found.len() < kept.len() {
            found.push((place, reads.found.clone()));
            kept = reads.found;
        }
    }
    found
}

fn takes_long(statement: &Stmt) -> bool {
    matches!(statement.kind, StmtKind::For { .. } | StmtKind::Let { op: Op::Newton { .. }, .. })
}

/// Grid data that general bodies of kernels read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KernelGridReads {
    /// Cells of faces or faces of cells.
    pub topology: bool,
    /// Measures, centroids or normals.
    pub geometry: bool,
}

/// Grid data that the kernels of a module read in general form.
pub(super) fn kernel_grid_reads(module: &Module) -> KernelGridReads {
    collect_grid_reads(module, |_| true, |_| true)
}

/// Grid data that kernels and Jacobian forms without a Cartesian form read.
pub(super) fn general_kernel_grid_reads(module: &Module) -> KernelGridReads {
    collect_grid_reads(module, |kernel| kernel.cartesian.is_none(), |form| form.cartesian.is_none())
}

fn collect_grid_reads(module: &Module, kernels: impl Fn(&Kernel) -> bool, forms: impl Fn(&JacobianForm) -> bool) -> KernelGridReads {
    let mut found = KernelGridReads::default();
    let mut read = |node: Node<'_>| match node {
        Node::Stmt(KStmt::ReduceFaces { .. }) | Node::Path(Path::First(_) | Path::Second(_)) => found.topology = true,
        Node::Expr(KExpr::Measure(_) | KExpr::Centroid(_) | KExpr::FaceGap(_) | KExpr::FaceTransmissibility(_) | KExpr::Normal(_)) => {
            found.geometry = true;
        }
        Node::Expr(_) | Node::Stmt(_) | Node::Path(_) => {}
    };
    for kernel in &module.kernels {
        // An equation has a Jacobian form in the place of its body.
        if kernels(kernel) && kernel.jacobian.is_none() {
            visit_general(kernel, &mut read);
        }
        kernel.jacobian.iter().filter(|form| forms(form)).for_each(|form| visit_block(&form.body, &mut read));
    }
    found
}

/// Kinds of the entities whose measures the general body of a kernel reads, or what the grid gives
/// of faces as one number each.
pub(super) fn measured(module: &Module, kernel: &Kernel) -> BTreeSet<EntityKind> {
    let mut kinds = BTreeSet::new();
    visit_general(kernel, &mut |node| match node {
        Node::Expr(KExpr::Measure(at)) => kinds.extend(kernel.path_kind(&module.sets, at)),
        Node::Expr(KExpr::FaceTransmissibility(_)) => kinds.extend([EntityKind::Face]),
        Node::Expr(_) | Node::Stmt(_) | Node::Path(_) => {}
    });
    kinds
}

struct Reads<'a> {
    module: &'a Module,
    found: BTreeSet<GeometryArray>,
}

impl Reads<'_> {
    fn block(&mut self, function: &Function, block: &Block) {
        block.statements.iter().for_each(|statement| self.statement(function, statement));
    }

    fn statement(&mut self, function: &Function, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Let { op, .. } => self.operation(function, op),
            StmtKind::Launch { kernel, .. } => self.kernel(*kernel),
            StmtKind::For { body, .. } => self.block(function, body),
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
        }
    }

    fn operation(&mut self, function: &Function, op: &Op) {
        let kind = |value: &ValueId| function.values[value.0 as usize].ty.entity_kind();
        if let Op::Measure(entities) = op {
            self.measure(kind(entities));
        }
        if let Op::Centroid(entities) = op {
            self.centroid(kind(entities));
        }
        if let Op::Normal(_) = op {
            self.normal();
        }
        op.functions().iter().for_each(|function| self.function(function.0));
        op.equations().iter().for_each(|equation| self.kernel(equation.kernel));
    }

    fn function(&mut self, number: u32) {
        let module = self.module;
        let function = &module.functions[number as usize];
        self.block(function, &function.body);
    }

    fn kernel(&mut self, kernel: KernelId) {
        let module = self.module;
        let kernel: &Kernel = &module.kernels[kernel.0 as usize];
        let mut read = |node: Node<'_>| match node {
            Node::Expr(KExpr::Measure(at)) => self.measure(kernel.path_kind(&module.sets, at)),
            Node::Expr(KExpr::Centroid(at)) => self.centroid(kernel.path_kind(&module.sets, at)),
            Node::Expr(KExpr::Normal(_)) => self.normal(),
            Node::Expr(_) | Node::Stmt(_) | Node::Path(_) => {}
        };
        visit_general(kernel, &mut read);
        kernel.jacobian.iter().for_each(|form| visit_block(&form.body, &mut read));
    }

    fn measure(&mut self, kind: Option<EntityKind>) {
        let (cells, faces) = (GeometryArray::CellVolumes, GeometryArray::FaceAreas);
        self.of(kind, cells, faces);
    }

    fn centroid(&mut self, kind: Option<EntityKind>) {
        self.of(kind, GeometryArray::CellCentroids, GeometryArray::FaceCentroids);
    }

    fn normal(&mut self) {
        self.found.insert(GeometryArray::FaceNormals);
    }

    /// Edges and vertices may be cells or faces, as the dimension of the grid has it.
    fn of(&mut self, kind: Option<EntityKind>, cells: GeometryArray, faces: GeometryArray) {
        match kind {
            Some(EntityKind::Cell) => self.found.extend([cells]),
            Some(EntityKind::Face) => self.found.extend([faces]),
            Some(EntityKind::Edge | EntityKind::Vertex) | None => self.found.extend([cells, faces]),
        }
    }
}
