//! Parsing of kernels.

use std::collections::BTreeMap;

use crate::ir::kernel::{
    CartesianForm, Check, CheckKind, FaceFilter, JacobianForm, KBlock, KResult, KStmt, Kernel, KernelId, Local, LocalId, Param, ParamId,
    SideBlocks, Space,
};
use crate::ir::location::{IrLocation, KernelItem};
use crate::ir::op::Module;
use crate::ir::text::lex::TokenKind;
use crate::ir::text::parser::{Parsed, Parser};
use crate::ir::text::print_kernel::{face_type, reduction_word};
use crate::ops::{FaceReduction, Reduction};
use crate::types::{SetTable, Type};

/// Expressions nested deeper are refused, so that no text can exhaust the stack.
const MAX_DEPTH: u32 = 256;

pub(super) fn kernel(parser: &mut Parser, module: &mut Module) -> Parsed<()> {
    let id = KernelId(module.kernels.len() as u32);
    parser.locations.insert(IrLocation::Kernel(id, KernelItem::Head), parser.line());
    parser.expect_word("kernel")?;
    let name = parser.plain_name()?;
    parser.expect_word("over")?;
    let space = if parser.accept_word("unit") { Space::Unit } else { Space::Set(parser.set_id(&module.sets)?) };
    let mut spans = Vec::new();
    while let Some(span) = parser.span() {
        spans.push(span);
    }
    parser.expect("{")?;
    let kernel = Kernel {
        name,
        space,
        params: Vec::new(),
        locals: Vec::new(),
        body: KBlock::default(),
        cartesian: None,
        jacobian: None,
        results: Vec::new(),
        checks: Vec::new(),
        spans,
    };
    let mut p = KernelParser { parser, sets: &module.sets, id, kernel, names: BTreeMap::new(), lines: 0, depth: 0 };
    p.items()?;
    let kernel = p.kernel;
    module.kernels.push(kernel);
    Ok(())
}

#[derive(Clone, Copy)]
pub(super) enum Named {
    Param(ParamId),
    Local(LocalId),
}

/// A kernel as far as it has been read.
pub(super) struct KernelParser<'a> {
    pub parser: &'a mut Parser,
    pub sets: &'a SetTable,
    id: KernelId,
    kernel: Kernel,
    pub names: BTreeMap<String, Named>,
    lines: u32,
    depth: u32,
}

impl KernelParser<'_> {
    fn locate(&mut self, item: KernelItem) {
        self.parser.locations.insert(IrLocation::Kernel(self.id, item), self.parser.line());
    }

    fn place_line(&mut self) {
        self.locate(KernelItem::Line(self.lines));
        self.lines += 1;
    }

    /// From after the opening brace to the closing one.
    fn items(&mut self) -> Parsed<()> {
        while self.parser.is_word("param") {
            self.locate(KernelItem::Param(self.kernel.params.len() as u32));
            self.parser.bump();
            let name = self.parser.plain_name()?;
            let id = ParamId(self.kernel.params.len() as u32);
            if self.names.insert(name.clone(), Named::Param(id)).is_some() {
                return self.parser.error_before(format!("parameter `{name}` is declared twice"));
            }
            self.parser.expect(":")?;
            let ty = self.parser.ty(self.sets)?;
            let per_axis = self.parser.accept_word("per_axis");
            self.kernel.params.push(Param { name, ty, per_axis });
        }
        while self.parser.is_word("result") {
            self.locate(KernelItem::Result(self.kernel.results.len() as u32));
            self.parser.bump();
            let name = self.parser.plain_name()?;
            self.parser.expect(":")?;
            let ty = self.parser.ty(self.sets)?;
            let reduce = if self.parser.accept_word("reduce") { Some(self.reduction()?) } else { None };
            let in_place = if self.parser.accept_word("in") {
                let name = self.parser.plain_name()?;
                match self.names.get(&name) {
                    Some(Named::Param(id)) => Some(*id),
                    Some(_) | None => return self.parser.error_before(format!("`{name}` is no parameter")),
                }
            } else {
                None
            };
            self.kernel.results.push(KResult { name, ty, reduce, in_place });
        }
        while self.parser.is_word("check") {
            self.locate(KernelItem::Check(self.kernel.checks.len() as u32));
            self.parser.bump();
            let kind = self.check_kind()?;
            let condition = self.expr()?;
            let span = self.parser.span().unwrap_or_default();
            self.kernel.checks.push(Check { condition, kind, span });
        }
        self.parser.expect_word("body")?;
        self.kernel.body = self.block()?;
        if self.parser.accept_word("cartesian") {
            self.kernel.cartesian = if self.parser.accept_word("full") {
                Some(CartesianForm::Full(self.block()?))
            } else {
                self.parser.expect_word("per_axis")?;
                Some(CartesianForm::PerAxis(self.block()?))
            };
        }
        if self.parser.accept_word("jacobian") {
            self.parser.expect_word("by")?;
            let unknowns = self.parser.integer()?;
            let body = self.block()?;
            let cartesian = if self.parser.accept_word("jacobian") {
                self.parser.expect_word("cartesian")?;
                Some(self.block()?)
            } else {
                None
            };
            self.kernel.jacobian = Some(JacobianForm { unknowns, body, cartesian });
        }
        self.parser.expect("}")
    }

    fn reduction(&mut self) -> Parsed<Reduction> {
        let known = [
            ("max", Reduction::Max),
            ("min", Reduction::Min),
            ("sum", Reduction::Sum),
            ("prod", Reduction::Prod),
            ("any", Reduction::Any),
            ("all", Reduction::All),
        ];
        match known.into_iter().find(|(word, _)| self.parser.accept_word(word)) {
            Some((_, op)) => Ok(op),
            None => self.parser.expected("`max`, `min`, `sum` or `prod`"),
        }
    }

    /// A level of nesting.
    pub fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.parser.error(format!("nested deeper than {MAX_DEPTH}"));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Braces, statements, yields.
    fn block(&mut self) -> Parsed<KBlock> {
        self.deeper(|p| {
            p.parser.expect("{")?;
            let mut block = KBlock::default();
            while !p.parser.is("}") && !p.parser.is_word("yield") {
                p.place_line();
                let statement = p.statement()?;
                block.statements.push(statement);
            }
            p.place_line();
            if p.parser.accept_word("yield") {
                block.yields.push(p.expr()?);
                while p.parser.accept(",") {
                    block.yields.push(p.expr()?);
                }
            }
            p.parser.expect("}")?;
            Ok(block)
        })
    }

    fn check_kind(&mut self) -> Parsed<CheckKind> {
        match CheckKind::ALL.into_iter().find(|kind| self.parser.accept_word(kind.word())) {
            Some(kind) => Ok(kind),
            None => self.parser.expected("`on_empty` or `one_cell`"),
        }
    }

    /// `name: type`; the same name again is the same local.
    fn declare(&mut self) -> Parsed<LocalId> {
        let name = self.parser.plain_name()?;
        self.parser.expect(":")?;
        let ty = self.parser.ty(self.sets)?;
        self.local(name, ty)
    }

    fn local(&mut self, name: String, ty: Type) -> Parsed<LocalId> {
        match self.names.get(&name) {
            Some(Named::Param(_)) => return self.parser.error_before(format!("`{name}` is a parameter")),
            Some(Named::Local(id)) if self.kernel.local_type(*id) == Some(ty) => return Ok(*id),
            Some(Named::Local(_)) => return self.parser.error_before(format!("local `{name}` has another type elsewhere")),
            None => {}
        }
        let id = LocalId(self.kernel.locals.len() as u32);
        self.names.insert(name.clone(), Named::Local(id));
        self.kernel.locals.push(Local { name, ty });
        Ok(id)
    }

    fn statement(&mut self) -> Parsed<KStmt> {
        if self.parser.accept_word("add") {
            return self.add();
        }
        // A sum or a choice that only adds derivatives has no results.
        let mut results = Vec::new();
        let reduces = FaceReduction::ALL.into_iter().any(|reduction| self.parser.is_word(reduction_word(reduction)));
        if !reduces && !self.parser.is_word("if") {
            results.push(self.declare()?);
            while self.parser.accept(",") {
                results.push(self.declare()?);
            }
            self.parser.expect("=")?;
        }
        if let Some(reduction) = FaceReduction::ALL.into_iter().find(|reduction| self.parser.accept_word(reduction_word(*reduction))) {
            let sides = self.parser.accept_word("sides");
            // Numbers first, then the faces of extremes.
            let is_entity = |local: &LocalId| self.kernel.local_type(*local).is_some_and(|ty| ty.entity_kind().is_some());
            let (extreme_faces, results) = results.into_iter().partition(is_entity);
            return if sides {
                self.reduce_sides(reduction, results, extreme_faces)
            } else {
                self.reduce_faces(reduction, results, extreme_faces)
            };
        }
        if self.parser.accept_word("if") {
            let condition = self.expr()?;
            let then = self.block()?;
            self.parser.expect_word("else")?;
            let otherwise = self.block()?;
            return Ok(KStmt::If { results, condition, then, otherwise });
        }
        let [local] = results[..] else { return self.parser.expected("`sum` or `if`") };
        if self.kernel.local_type(local).and_then(|ty| ty.entity_kind()).is_some() {
            Ok(KStmt::LetEntity { local, path: self.path()? })
        } else {
            Ok(KStmt::Let { local, value: self.expr()? })
        }
    }

    /// `u[path] = value`
    fn add(&mut self) -> Parsed<KStmt> {
        let name = self.parser.plain_name()?;
        let Some(Named::Param(unknown)) = self.names.get(&name).copied() else {
            return self.parser.error_before(format!("`{name}` is no parameter"));
        };
        self.parser.expect("[")?;
        let at = self.path()?;
        self.parser.expect("]")?;
        self.parser.expect("=")?;
        Ok(KStmt::Add { unknown, at, value: self.expr()? })
    }

    /// `faces f of here interior { ... }`
    fn reduce_faces(&mut self, reduction: FaceReduction, results: Vec<LocalId>, extreme_faces: Vec<LocalId>) -> Parsed<KStmt> {
        self.parser.expect_word("faces")?;
        let name = self.parser.plain_name()?;
        let given = if self.parser.accept(":") { Some(self.parser.ty(self.sets)?) } else { None };
        self.parser.expect_word("of")?;
        let cell = self.path()?;
        let only = if self.parser.accept_word("interior") {
            FaceFilter::Interior
        } else if self.parser.accept_word("boundary") {
            FaceFilter::Boundary
        } else {
            FaceFilter::All
        };
        let face = self.local(name, given.unwrap_or_else(|| face_type(only)))?;
        Ok(KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body: self.block()? })
    }

    /// `{ low interior { ... } low boundary { ... } high interior { ... } high boundary { ... } }`,
    /// each of them optional.
    fn reduce_sides(&mut self, reduction: FaceReduction, results: Vec<LocalId>, extreme_faces: Vec<LocalId>) -> Parsed<KStmt> {
        self.parser.expect("{")?;
        let mut blocks = [None, None, None, None];
        for (i, block) in blocks.iter_mut().enumerate() {
            let side = if i < 2 { "low" } else { "high" };
            let part = if i % 2 == 0 { "interior" } else { "boundary" };
            if self.parser.is_word(side) && matches!(self.parser.peek_second(), TokenKind::Name(n) if n.base == part) {
                self.parser.bump();
                self.parser.bump();
                *block = Some(self.block()?);
            }
        }
        if !self.parser.accept("}") {
            return self.parser.expected("`low interior`, `low boundary`, `high interior`, `high boundary`, in this order, or `}`");
        }
        let [low_interior, low_boundary, high_interior, high_boundary] = blocks;
        let low = SideBlocks { interior: low_interior, boundary: low_boundary };
        let high = SideBlocks { interior: high_interior, boundary: high_boundary };
        Ok(KStmt::ReduceSides { reduction, results, extreme_faces, low, high })
    }
}
