//! Kernels: head, locals, blocks, Cartesian forms.

use std::collections::BTreeSet;

use crate::ir::liveness::read_here;
use crate::ir::{
    CartesianForm, FaceFilter, IrLocation, JacobianForm, KBlock, KExpr, KStmt, Kernel, KernelId, KernelItem, LocalId, Module, Path, Side,
    SideBlocks, Space,
};
use crate::ops::{FaceReduction, Reduction};
use crate::source::Span;
use crate::types::{Basic, CanonicalSet, EntityKind, SetId, SetTable, Shape, Type};
use crate::verify::VerifyError;
use crate::verify::types::{assignable, check_type, exists, show};

/// Returns the errors in the arguments of a launch.
pub(super) fn check_arguments(sets: &SetTable, kernel: &Kernel, args: &[Type]) -> Vec<String> {
    if args.len() != kernel.params.len() {
        return vec![format!("{} takes {} arguments, not {}", kernel.name, kernel.params.len(), args.len())];
    }
    let wrong = kernel.params.iter().zip(args).filter(|(p, ty)| !assignable(sets, ty, &p.ty));
    wrong.map(|(p, ty)| format!("{} of {} is {}, not {}", p.name, kernel.name, show(sets, &p.ty), show(sets, ty))).collect()
}

pub(super) fn check(module: &Module, id: KernelId, kernel: &Kernel, unique: bool, errors: &mut Vec<VerifyError>) {
    let mut checker = Checker {
        sets: &module.sets,
        kernel,
        id,
        item: KernelItem::Head,
        span: kernel.spans.first().copied().unwrap_or_default(),
        lines: 0,
        form: Form::General,
        side: None,
        visible: BTreeSet::new(),
        assigned: BTreeSet::new(),
        unknowns: 0,
        errors,
    };
    checker.kernel(unique);
}

/// Body that is being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    General,
    Full,
    PerAxis,
}

pub(super) struct Checker<'a> {
    pub sets: &'a SetTable,
    pub kernel: &'a Kernel,
    pub form: Form,
    /// The side block that what is checked stands in, and whether that is an interior one.
    pub side: Option<(Side, bool)>,
    /// Locals that may be read.
    pub visible: BTreeSet<LocalId>,
    /// Locals assigned in this body.
    assigned: BTreeSet<LocalId>,
    /// In a Jacobian form: how many of the first parameters are unknowns; else 0.
    unknowns: u32,
    id: KernelId,
    item: KernelItem,
    span: Span,
    lines: u32,
    errors: &'a mut Vec<VerifyError>,
}

impl Checker<'_> {
    pub fn error(&mut self, message: impl Into<String>) {
        let location = IrLocation::Kernel(self.id, self.item);
        let within = format!("kernel {}", self.kernel.name);
        self.errors.push(VerifyError { location, within, span: self.span, message: message.into() });
    }

    pub fn shown(&self, ty: &Type) -> String {
        show(self.sets, ty)
    }

    fn next_line(&mut self) {
        self.item = KernelItem::Line(self.lines);
        self.lines += 1;
    }

    fn kernel(&mut self, unique: bool) {
        if !unique {
            self.error("another kernel has this name");
        }
        if let Some(set) = self.kernel.space_set() {
            if !exists(self.sets, set) {
                return self.error("the space is a set that is not in the table");
            }
            self.needs_domain(set, "the space");
        }
        if self.kernel.results.is_empty() && self.kernel.checks.is_empty() {
            self.error("a kernel has at least one result or check");
        }
        if !self.params() || !self.locals() {
            return;
        }
        self.results();
        self.in_place();
        for (i, check) in self.kernel.checks.iter().enumerate() {
            self.item = KernelItem::Check(i as u32);
            let before = std::mem::replace(&mut self.span, check.span);
            // The error of a launch has the element alone.
            if self.kernel.checks.first().is_some_and(|first| first.kind != check.kind) {
                self.error("the checks of a kernel are of one kind");
            }
            self.expect_expr(&check.condition, Basic::Bool, "a check");
            self.span = before;
        }
        self.body(&self.kernel.body, Form::General);
        match &self.kernel.cartesian {
            None => {}
            Some(CartesianForm::Full(block)) => {
                if self.kernel.space_set().map(|set| self.sets.get(set).kind) != Some(EntityKind::Cell) {
                    self.item = KernelItem::Head;
                    self.error("a full Cartesian form is for kernels over cells");
                }
                self.body(block, Form::Full);
            }
            Some(CartesianForm::PerAxis(block)) => {
                let kind = self.kernel.space_set().map(|set| self.sets.get(set).kind);
                if !matches!(kind, Some(EntityKind::Cell | EntityKind::Face)) || self.kernel.results.iter().any(|r| r.reduce.is_some()) {
                    self.item = KernelItem::Head;
                    self.error("a per-axis Cartesian form is for kernels over faces or cells without reductions");
                }
                self.body(block, Form::PerAxis);
            }
        }
        if let Some(jacobian) = &self.kernel.jacobian {
            self.jacobian(jacobian);
        }
    }

    fn jacobian(&mut self, jacobian: &JacobianForm) {
        self.item = KernelItem::Head;
        let residual =
            self.kernel.results.len() == 1 && self.kernel.results[0].reduce.is_none() && self.kernel.results[0].ty.basic == Basic::Scalar;
        if !residual || self.kernel.space_set().is_none() {
            self.error("a Jacobian form is for kernels over a set with one result, a collection of Scalars");
        }
        let unknowns = self.kernel.params.get(..jacobian.unknowns as usize).unwrap_or_default();
        let scalars = |ty: &Type| ty.basic == Basic::Scalar && matches!(ty.shape, Shape::Collection(_));
        if unknowns.is_empty() || !unknowns.iter().all(|p| scalars(&p.ty)) {
            self.error("the first parameters of a Jacobian form are the unknowns, collections of Scalars");
        }
        let cells = self.sets.canonical(CanonicalSet::ALL_CELLS);
        let over_cells = |set: Option<SetId>| set == Some(cells);
        if jacobian.cartesian.is_some() && !(over_cells(self.kernel.space_set()) && unknowns.iter().all(|p| over_cells(p.ty.mapping()))) {
            self.error("a Cartesian Jacobian form is for equations and unknowns over all cells");
        }
        self.unknowns = jacobian.unknowns;
        self.body(&jacobian.body, Form::General);
        if let Some(block) = &jacobian.cartesian {
            self.body(block, Form::Full);
        }
        self.unknowns = 0;
    }

    /// Parameters and their names. False if nothing else can be checked.
    fn params(&mut self) -> bool {
        let mut names = BTreeSet::new();
        let mut sound = true;
        for (i, p) in self.kernel.params.iter().enumerate() {
            self.item = KernelItem::Param(i as u32);
            if !names.insert(p.name.as_str()) {
                self.error(format!("another parameter is called `{}`", p.name));
            }
            if let Err(message) = check_type(self.sets, &p.ty) {
                self.error(message);
                sound = false;
                continue;
            }
            match (p.ty.basic, p.ty.shape) {
                (Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Table, Shape::Single) | (_, Shape::Domain(_)) => {}
                (_, Shape::Collection(set)) => self.needs_domain(set, &format!("the collection `{}`", p.name)),
                (_, Shape::Single | Shape::Sequence) => {
                    let message =
                        format!("a parameter is a Scalar, a Vector, a Bool, a Table, a collection or a domain, not {}", self.shown(&p.ty));
                    self.error(message);
                }
            }
            let stored_per_axis = match p.ty.shape {
                Shape::Collection(set) => {
                    matches!(self.sets.get(set).kind, EntityKind::Cell | EntityKind::Face) && p.ty.entity_kind().is_none()
                }
                Shape::Single | Shape::Domain(_) | Shape::Sequence => false,
            };
            if p.per_axis && !stored_per_axis {
                self.error("only collections of values over faces or cells are stored per axis");
            }
        }
        sound
    }

    /// A set made at run time that a kernel mentions has its domain among the parameters.
    pub fn needs_domain(&mut self, set: SetId, what: &str) {
        let made_at_run_time = self.sets.get(set).canonical.is_none();
        if made_at_run_time && self.kernel.domain_param(set).is_none() {
            let name = &self.sets.get(set).name;
            self.error(format!("{what} needs the domain {name} among the parameters"));
        }
    }

    fn locals(&mut self) -> bool {
        self.item = KernelItem::Head;
        let mut names: BTreeSet<&str> = self.kernel.params.iter().map(|p| p.name.as_str()).collect();
        let mut sound = true;
        for local in &self.kernel.locals {
            if !names.insert(&local.name) {
                self.error(format!("another local or parameter is called `{}`", local.name));
            }
            let entity_of_any_set = local.ty.entity_kind().is_some() && local.ty.within.is_none();
            let checked = if entity_of_any_set { Ok(()) } else { check_type(self.sets, &local.ty) };
            if let Err(message) = checked {
                self.error(format!("local `{}`: {message}", local.name));
                sound = false;
            } else if local.ty.shape != Shape::Single || matches!(local.ty.basic, Basic::Text | Basic::Table | Basic::Axis(_)) {
                let message = format!("local `{}` is one Scalar, Vector, Bool or entity, not {}", local.name, self.shown(&local.ty));
                self.error(message);
            }
        }
        sound
    }

    fn results(&mut self) {
        for (i, r) in self.kernel.results.iter().enumerate() {
            self.item = KernelItem::Result(i as u32);
            let right = match (self.kernel.space, r.reduce) {
                (Space::Unit, None) => {
                    matches!(r.ty.basic, Basic::Scalar | Basic::Vector | Basic::Bool) && r.ty == Type::single(r.ty.basic)
                }
                (Space::Unit, Some(_)) => false,
                (Space::Set(_), Some(reduction)) => {
                    let basics: &[Basic] = match reduction {
                        Reduction::Max | Reduction::Min | Reduction::Sum => &[Basic::Scalar, Basic::Vector],
                        Reduction::Prod => &[Basic::Scalar],
                        Reduction::Any | Reduction::All => &[Basic::Bool],
                    };
                    basics.iter().any(|&basic| r.ty == Type::single(basic))
                }
                (Space::Set(set), None) => match (r.ty.basic, r.ty.within) {
                    (Basic::Scalar | Basic::Vector | Basic::Bool, _) => r.ty == Type::collection(r.ty.basic, set),
                    (Basic::Entity(kind), Some(within)) => r.ty == Type::entities(kind, set, within),
                    (Basic::Entity(_), None) | (Basic::Text | Basic::Table | Basic::Axis(_), _) => false,
                },
            };
            if !right {
                let message = format!(
                    "`{}` is a collection over the space, or a single value when reduced or over unit, not {}",
                    r.name,
                    self.shown(&r.ty)
                );
                self.error(message);
            }
        }
    }

    /// Checks that results only take the memory of parameters that are read at the element alone.
    fn in_place(&mut self) {
        let free = read_here(self.kernel, self.sets);
        let mut taken = BTreeSet::new();
        for (i, result) in self.kernel.results.iter().enumerate() {
            let Some(param) = result.in_place else { continue };
            self.item = KernelItem::Result(i as u32);
            let name = self.kernel.params.get(param.0 as usize).map_or("?", |p| p.name.as_str());
            if !free.contains(&param) {
                self.error(format!("`{}` takes the memory of `{name}`, which is not read at the element alone", result.name));
            } else if !taken.insert(param) {
                self.error(format!("two results take the memory of `{name}`"));
            }
        }
    }

    fn body(&mut self, block: &KBlock, form: Form) {
        self.form = form;
        self.visible.clear();
        self.assigned.clear();
        let basics: Vec<Basic> = self.kernel.results.iter().map(|r| r.ty.basic).collect();
        self.block(block, &basics, "the kernel");
    }

    /// A block whose yields are of these types. What it assigns is forgotten afterwards.
    fn block(&mut self, block: &KBlock, yields: &[Basic], what: &str) {
        let visible = self.visible.clone();
        for stmt in &block.statements {
            self.next_line();
            self.statement(stmt);
        }
        self.next_line();
        if block.yields.len() == yields.len() {
            for (expr, basic) in block.yields.iter().zip(yields) {
                match (expr, basic) {
                    (KExpr::Entity(path), Basic::Entity(kind)) => {
                        if self.path(path).is_some_and(|found| found != *kind) {
                            self.error("what is yielded is an entity of another kind than the result");
                        }
                    }
                    _ => self.expect_expr(expr, *basic, "what is yielded"),
                }
            }
        } else {
            self.error(format!("{what} has {} results, but {} are yielded", yields.len(), block.yields.len()));
        }
        self.visible = visible;
    }

    /// Type of a local that is assigned here.
    fn assign(&mut self, local: LocalId) -> Option<Type> {
        let Some(ty) = self.kernel.local_type(local) else {
            self.error("a local that is not in the table is assigned");
            return None;
        };
        if !self.assigned.insert(local) {
            let name = &self.kernel.locals[local.0 as usize].name;
            self.error(format!("local `{name}` is assigned twice"));
        }
        self.visible.insert(local);
        Some(ty)
    }

    fn assign_all(&mut self, locals: &[LocalId]) {
        for &local in locals {
            self.assign(local);
        }
    }

    fn basics(&self, locals: &[LocalId]) -> Vec<Basic> {
        locals.iter().map(|&l| self.kernel.local_type(l).map_or(Basic::Scalar, |ty| ty.basic)).collect()
    }

    fn statement(&mut self, stmt: &KStmt) {
        match stmt {
            KStmt::Let { local, value } => {
                let basic = self.kernel.local_type(*local).map_or(Basic::Scalar, |ty| ty.basic);
                self.expect_expr(value, basic, "what is assigned");
                self.assign(*local);
            }
            KStmt::LetEntity { local, path } => {
                let kind = self.path(path);
                let within = self.kernel.path_within(self.sets, path);
                let Some(ty) = self.assign(*local) else { return };
                let same_kind = kind.is_none() || kind == ty.entity_kind();
                let in_set = match (within, ty.within) {
                    (Some(from), Some(to)) => self.sets.is_subset(from, to),
                    (None, _) | (_, None) => true,
                };
                if ty.entity_kind().is_none() || !same_kind || !in_set {
                    let message = format!("the entity assigned is not known to be {}", self.shown(&ty));
                    self.error(message);
                }
            }
            KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } => {
                if *reduction != FaceReduction::Sum {
                    self.scalars(results);
                }
                self.sum_faces(results, cell, *face, *only, body);
                self.extreme_faces(*reduction, results, extreme_faces);
            }
            KStmt::ReduceSides { reduction, results, extreme_faces, low, high } => {
                self.sum_sides(results, low, high);
                self.extreme_faces(*reduction, results, extreme_faces);
            }
            KStmt::If { results, condition, then, otherwise } => {
                self.expect_expr(condition, Basic::Bool, "the condition");
                let basics = self.basics(results);
                if basics.iter().any(|b| matches!(b, Basic::Entity(_))) {
                    self.error("an `if` gives values; entities are chosen by a path");
                }
                self.block(then, &basics, "the `if`");
                self.block(otherwise, &basics, "the `if`");
                self.assign_all(results);
            }
            KStmt::Add { unknown, at, value } => {
                if unknown.0 >= self.unknowns {
                    self.error("derivatives are added in a Jacobian form, by one of its unknowns");
                }
                if self.form != Form::General && !matches!(at, Path::Here | Path::Shift { .. }) {
                    self.error("a Cartesian Jacobian form has derivatives by the cell and its neighbours alone");
                }
                let element = KExpr::Load { param: *unknown, at: at.clone() };
                self.expect_expr(&element, Basic::Scalar, "an unknown");
                self.expect_expr(value, Basic::Scalar, "what is added");
            }
        }
    }

    fn scalars(&mut self, results: &[LocalId]) {
        if self.basics(results).iter().any(|b| *b != Basic::Scalar) {
            self.error("extremes over faces and sums over sides are Scalars");
        }
    }

    /// The faces that the results of an extreme are of.
    fn extreme_faces(&mut self, reduction: FaceReduction, results: &[LocalId], faces: &[LocalId]) {
        if !faces.is_empty() && (reduction == FaceReduction::Sum || faces.len() != results.len()) {
            self.error("an extreme names the face of each of its results or of none, a sum names none");
        }
        for &face in faces {
            let of_any_set =
                Type { basic: Basic::Entity(EntityKind::Face), shape: Shape::Single, within: None, halo: crate::types::Halo::NONE };
            if self.assign(face).is_some_and(|ty| ty != of_any_set) {
                self.error("what an extreme is of may be any face or Empty");
            }
        }
    }

    fn sum_faces(&mut self, results: &[LocalId], cell: &Path, face: LocalId, only: FaceFilter, body: &KBlock) {
        if self.form != Form::General {
            self.error("a Cartesian form sums over sides, not over faces");
        }
        if self.path(cell).is_some_and(|kind| kind != EntityKind::Cell) {
            self.error("the faces summed over are those of a cell");
        }
        let basics = self.basics(results);
        if basics.iter().any(|b| !matches!(b, Basic::Scalar | Basic::Vector)) {
            self.error("sums over faces are Scalars or Vectors");
        }
        let visible = self.visible.clone();
        if let Some(ty) = self.assign(face) {
            let faces = self.sets.canonical(only.set());
            if ty.entity_kind() != Some(EntityKind::Face) || ty.within.is_some_and(|set| !self.sets.is_subset(faces, set)) {
                let message = format!("the face is in {}, not {}", self.sets.get(faces).name, self.shown(&ty));
                self.error(message);
            }
        }
        self.block(body, &basics, "the sum");
        self.visible = visible;
        self.assign_all(results);
    }

    fn sum_sides(&mut self, results: &[LocalId], low: &SideBlocks, high: &SideBlocks) {
        if self.form != Form::Full || self.side.is_some() {
            self.error("a sum over sides belongs to a full Cartesian form, and not into another one");
        }
        self.scalars(results);
        for (side, blocks) in [(Side::Low, low), (Side::High, high)] {
            for (interior, block) in [(true, &blocks.interior), (false, &blocks.boundary)] {
                if let Some(block) = block {
                    self.side = Some((side, interior));
                    self.block(block, &vec![Basic::Scalar; results.len()], "the sum");
                    self.side = None;
                }
            }
        }
        self.assign_all(results);
    }

    /// The canonical set of all faces or interior faces: where per-axis values may live.
    pub fn is_face_set_with_two_cells(&self, set: SetId) -> bool {
        self.sets.is_subset(set, self.sets.canonical(CanonicalSet::INTERIOR_FACES))
    }
}
