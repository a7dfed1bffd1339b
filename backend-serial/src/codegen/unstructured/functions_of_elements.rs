//! Elementary functions of values of the current element, in kernels that have more to do than
//! vector instructions can: a loop of its own makes them for a strip of elements, before the loop
//! over these elements.

use std::collections::{BTreeMap, BTreeSet};

use equelle_front::ir::visit::{Node, visit_block};
use equelle_front::ir::{KBlock, KExpr, KStmt, Kernel, LocalId, ParamId, Path, Space, UnaryOp};
use equelle_front::ops::Work;
use equelle_front::types::{Basic, Shape};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::codegen::emit::text::ident;
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Writer, Written};

/// As many operations as a function and its argument have.
const MAX_OPERATIONS: usize = 40;

/// The functions of a body.
pub(super) struct FunctionsOfElements {
    /// The body, which reads them.
    pub body: KBlock,
    /// Buffers of a strip.
    pub buffers: TokenStream,
    /// Makes the functions for the elements `strip`.
    pub fill: TokenStream,
    /// Reads those of the element at `position`.
    pub reads: TokenStream,
    /// The elements of a strip.
    pub strip: Ident,
}

/// Takes the functions out of the body of a kernel, if it has some that it evaluates in any case.
pub(super) fn functions_of_elements(writer: &mut Writer) -> Written<Option<FunctionsOfElements>> {
    let kernel = writer.kernel;
    if !matches!(kernel.space, Space::Set(_)) || !kernel.checks.is_empty() {
        return Ok(None);
    }
    let mut finder = Finder { kernel, locals: writer.locals.len() as u32, definitions: BTreeMap::new(), found: Vec::new() };
    let mut body = finder.block(&kernel.body);
    finder.remove_unread(&mut body);
    let found = finder.found;
    if found.is_empty() {
        return Ok(None);
    }
    let read_by_body = locals_read(&body);
    for (_, function) in &found {
        let name = writer.namer.fresh(&format!("{}_here", word(function)));
        writer.locals.push(ident(&name));
    }
    let outer = std::mem::replace(&mut writer.elementwise, true);
    let written = writer.noted(|writer| {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (local, function) in &found {
            values.push(writer.expr(function)?);
            names.push(writer.local(*local)?);
        }
        Ok((names, values))
    });
    writer.elementwise = outer;
    let ((names, values), uses) = written?;
    let read: Vec<Ident> =
        (0u32..).zip(&writer.params).filter(|(id, _)| uses.has(Use::LoadedHere(ParamId(*id)))).map(|(_, name)| name.clone()).collect();
    uses.items().for_each(|item| writer.uses.add(Use::Item(item)));
    let strip = ident(&writer.namer.fresh("strip"));
    // Others are arguments of these alone.
    let kept: Vec<&Ident> = found.iter().zip(&names).filter(|((local, _), _)| read_by_body.contains(local)).map(|(_, name)| name).collect();
    let strips: Vec<Ident> = kept.iter().map(|name| ident(&writer.namer.fresh(&format!("{name}_strip")))).collect();
    let length = writer.uses.item("STRIP");
    writer.uses.add(Use::Range);
    Ok(Some(FunctionsOfElements {
        body,
        buffers: quote! { #(let mut #strips = [0.0; #length];)* },
        fill: quote! {
            {
                let len = #strip.len();
                #(let #read = &#read[#strip.start..][..len];)*
                #(let #strips = &mut #strips[..len];)*
                for i in 0..len { #(let #names = #values;)* #(#strips[i] = #kept;)* }
            }
        },
        reads: quote! { #(let #kept = #strips[position - #strip.start];)* },
        strip,
    }))
}

/// The locals that a block reads.
fn locals_read(block: &KBlock) -> BTreeSet<LocalId> {
    let mut read = BTreeSet::new();
    visit_block(block, &mut |node| {
        if let Node::Expr(KExpr::Local(local)) | Node::Path(Path::Local(local)) = node {
            read.insert(*local);
        }
    });
    read
}

/// The name of a function.
fn word(function: &KExpr) -> &'static str {
    match function {
        KExpr::Unary(UnaryOp::Elementary(function), _) => function.word(),
        KExpr::Math(function, ..) => function.word(),
        _ => "function",
    }
}

fn takes_long(expr: &KExpr) -> bool {
    match expr {
        KExpr::Unary(UnaryOp::Elementary(function), _) => function.work() != Work::Steps,
        KExpr::Math(function, ..) => function.work() != Work::Steps,
        _ => false,
    }
}

struct Finder<'a> {
    kernel: &'a Kernel,
    /// Locals of the kernel; those after them stand for functions.
    locals: u32,
    /// Locals made of values of the current element.
    definitions: BTreeMap<LocalId, KExpr>,
    found: Vec<(LocalId, KExpr)>,
}

impl Finder<'_> {
    fn block(&mut self, block: &KBlock) -> KBlock {
        let statements = block.statements.iter().map(|statement| match statement {
            KStmt::Let { local, value } => {
                let value = self.without(value);
                if let Some(definition) = self.element_function(&value, &mut 0) {
                    self.definitions.insert(*local, definition);
                }
                KStmt::Let { local: *local, value }
            }
            other => other.clone(),
        });
        let statements = statements.collect();
        KBlock { statements, yields: block.yields.iter().map(|value| self.without(value)).collect() }
    }

    /// Removes definitions that only functions have read.
    fn remove_unread(&self, body: &mut KBlock) {
        loop {
            let (read, before) = (locals_read(body), body.statements.len());
            let is_unread = |local: &LocalId| self.definitions.contains_key(local) && !read.contains(local);
            body.statements.retain(|statement| !matches!(statement, KStmt::Let { local, .. } if is_unread(local)));
            if body.statements.len() == before {
                return;
            }
        }
    }

    /// An expression that reads functions instead of evaluating them.
    fn without(&mut self, expr: &KExpr) -> KExpr {
        if takes_long(expr)
            && let Some(function) = self.element_function(expr, &mut 0)
            && self.reads_element(&function)
        {
            let known = self.found.iter().find(|(_, known)| *known == function).map(|(local, _)| *local);
            return KExpr::Local(known.unwrap_or_else(|| {
                let local = LocalId(self.locals + self.found.len() as u32);
                self.found.push((local, function));
                local
            }));
        }
        match expr {
            KExpr::Unary(op, a) => KExpr::Unary(*op, Box::new(self.without(a))),
            KExpr::Arithmetic(op, a, b) => KExpr::Arithmetic(*op, Box::new(self.without(a)), Box::new(self.without(b))),
            KExpr::Math(op, a, b) => KExpr::Math(*op, Box::new(self.without(a)), Box::new(self.without(b))),
            KExpr::Compare(op, a, b) => KExpr::Compare(*op, Box::new(self.without(a)), Box::new(self.without(b))),
            KExpr::Interpolate { table, of, argument } => {
                KExpr::Interpolate { table: *table, of: *of, argument: Box::new(self.without(argument)) }
            }
            // Branches keep their functions: one that is not taken must not evaluate them.
            KExpr::Select { condition, if_true, if_false } => {
                let condition = Box::new(self.without(condition));
                KExpr::Select { condition, if_true: if_true.clone(), if_false: if_false.clone() }
            }
            other => other.clone(),
        }
    }

    /// The expression as a function of values of the current element; `None` if it reads anything
    /// else, or has too many operations.
    fn element_function(&self, expr: &KExpr, operations: &mut usize) -> Option<KExpr> {
        *operations += 1;
        if *operations > MAX_OPERATIONS {
            return None;
        }
        match expr {
            KExpr::Real(_) => Some(expr.clone()),
            KExpr::Param(id) => self.is(*id, Shape::Single).then(|| expr.clone()),
            KExpr::Load { param, at: Path::Here } => {
                let Space::Set(set) = self.kernel.space else { return None };
                self.is(*param, Shape::Collection(set)).then(|| expr.clone())
            }
            KExpr::Local(local) if local.0 >= self.locals => Some(expr.clone()),
            KExpr::Local(local) => self.element_function(self.definitions.get(local)?, operations),
            KExpr::Unary(op @ (UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Elementary(_)), a) => {
                Some(KExpr::Unary(*op, Box::new(self.element_function(a, operations)?)))
            }
            KExpr::Arithmetic(op, a, b) => Some(KExpr::Arithmetic(
                *op,
                Box::new(self.element_function(a, operations)?),
                Box::new(self.element_function(b, operations)?),
            )),
            KExpr::Math(op, a, b) => {
                Some(KExpr::Math(*op, Box::new(self.element_function(a, operations)?), Box::new(self.element_function(b, operations)?)))
            }
            _ => None,
        }
    }

    fn is(&self, id: ParamId, shape: Shape) -> bool {
        let param = self.kernel.params.get(id.0 as usize);
        param.is_some_and(|param| param.ty.basic == Basic::Scalar && param.ty.shape == shape)
    }

    fn reads_element(&self, expr: &KExpr) -> bool {
        match expr {
            KExpr::Load { .. } | KExpr::Local(_) => true,
            expr => expr.operands().into_iter().any(|operand| self.reads_element(operand)),
        }
    }
}
