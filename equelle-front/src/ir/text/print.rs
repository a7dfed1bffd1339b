//! Printing of modules, functions, statements and operations.

use std::fmt::Write;

use crate::ir::numbers::{Precision, Rounding};
use crate::ir::op::{Block, Function, Module, MutableId, Op, Rounds, Stmt, StmtKind, UnaryOp, ValueId};
use crate::ir::text::names::{escape, unique_names, write_name};
use crate::ir::text::print_kernel;
use crate::ops::{GridNumber, Logic, Reduction};
use crate::source::Span;
use crate::types::{Basic, Dimension, SetId, SetTable, Shape, Type};

/// The module as text, ending in a newline.
pub fn print(module: &Module) -> String {
    let sets = SetNames::new(&module.sets);
    let mut out = format!("module {}\n", write_name(&module.name));
    if !module.source.name().is_empty() {
        line(&mut out, 0, &format!("source {}", escape(module.source.name(), '"')));
    }
    match module.numbers.precision {
        Precision::Double => {}
        Precision::Single => line(&mut out, 0, "f32"),
    }
    match module.numbers.rounding {
        Rounding::Strict => {}
        Rounding::Fast => line(&mut out, 0, "fast"),
    }
    for id in module.sets.ids() {
        let set = module.sets.get(id);
        if set.canonical.is_none() {
            line(&mut out, 0, &format!("set {} in {}", sets.get(id), sets.get(set.parent)));
        }
    }
    for kernel in &module.kernels {
        out.push('\n');
        super::print_kernel::kernel(&mut out, kernel, &sets);
    }
    for f in &module.functions {
        out.push('\n');
        function(&mut out, module, f, &sets, Some(&f.name));
    }
    out.push('\n');
    function(&mut out, module, &module.main, &sets, None);
    out
}

/// Names of sets as the text has them.
pub(super) struct SetNames(Vec<String>);

impl SetNames {
    fn new(table: &SetTable) -> Self {
        let made = unique_names(table.ids().map(|id| table.get(id)).filter(|s| s.canonical.is_none()).map(|s| s.name.as_str()));
        let canonical = table.ids().filter_map(|id| table.get(id).canonical).map(|c| format!("{}()", c.name()));
        SetNames(canonical.chain(made).collect())
    }

    pub fn get(&self, id: SetId) -> &str {
        self.0.get(id.0 as usize).map_or("?", String::as_str)
    }

    /// A type. `within` of a domain is its own set and not written.
    pub fn ty(&self, ty: &Type) -> String {
        let basic = match ty.basic {
            Basic::Scalar => "Scalar",
            Basic::Vector => "Vector",
            Basic::Bool => "Bool",
            Basic::Text => "Text",
            Basic::Table => "Table",
            Basic::Axis(_) => "Text",
            Basic::Entity(kind) => kind.name(),
        };
        let mut out = match ty.shape {
            Shape::Single => basic.to_owned(),
            Shape::Collection(set) => format!("{basic} On {}", self.get(set)),
            Shape::Domain(set) => return format!("Domain {}", self.get(set)),
            Shape::Sequence => return "Sequence".to_owned(),
        };
        if let Some(within) = ty.within {
            let _ = write!(out, " In {}", self.get(within));
        }
        out
    }
}

/// Appends a line at a depth of indentation.
pub(super) fn line(out: &mut String, depth: usize, text: &str) {
    out.extend(std::iter::repeat_n("  ", depth));
    out.push_str(text);
    out.push('\n');
}

/// ` !12..30`; nothing for the empty range at 0, which stands for no place.
pub(super) fn span(span: Span) -> String {
    if span == Span::default() { String::new() } else { format!(" !{}..{}", span.start, span.end) }
}

/// The shortest digits that give the same number back.
pub(super) fn real(value: f64) -> String {
    if value.is_nan() { format!("bits(0x{:016x})", value.to_bits()) } else { format!("{value:?}") }
}

pub(super) fn logic(op: Logic) -> &'static str {
    match op {
        Logic::And => "and",
        Logic::Or => "or",
        Logic::Xor => "xor",
    }
}

pub(super) fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "neg",
        UnaryOp::Not => "not",
        UnaryOp::Abs => "abs",
        UnaryOp::Sqrt => "sqrt",
        UnaryOp::Length => "length",
        UnaryOp::Elementary(function) => function.word(),
    }
}

pub(super) fn reduction(op: Reduction) -> &'static str {
    match op {
        Reduction::Max => "max",
        Reduction::Min => "min",
        Reduction::Sum => "sum",
        Reduction::Prod => "prod",
        Reduction::Any => "any",
        Reduction::All => "all",
    }
}

fn dimension(dim: Dimension) -> String {
    if dim == Dimension::NONE { String::new() } else { format!(" {dim}") }
}

fn function(out: &mut String, module: &Module, f: &Function, sets: &SetNames, name: Option<&str>) {
    let printer = FunctionPrinter::new(module, f, sets);
    let head = match name {
        None => "main".to_owned(),
        Some(name) => {
            let params: Vec<String> = f.params.iter().map(|&v| printer.declare(v, Span::default())).collect();
            let results: Vec<String> = f.results.iter().map(|ty| sets.ty(ty)).collect();
            let arrow = if results.is_empty() { String::new() } else { format!(" -> ({})", results.join(", ")) };
            format!("function {}({}){arrow}", write_name(name), params.join(", "))
        }
    };
    line(out, 0, &format!("{head}{} {{", span(f.span)));
    for (i, m) in f.mutables.iter().enumerate() {
        let name = printer.mutable(MutableId(i as u32));
        let carried = if m.carried { " carried" } else { "" };
        line(out, 1, &format!("mutable {name}: {}{}{carried}{}", sets.ty(&m.ty), dimension(m.dim), span(m.span)));
    }
    printer.block(out, 1, &f.body);
    line(out, 0, "}");
}

struct FunctionPrinter<'a> {
    module: &'a Module,
    function: &'a Function,
    sets: &'a SetNames,
    values: Vec<String>,
    mutables: Vec<String>,
}

impl<'a> FunctionPrinter<'a> {
    fn new(module: &'a Module, function: &'a Function, sets: &'a SetNames) -> Self {
        // Numbered in the order of the text; a value defined twice (an error for the verifier)
        // keeps its first place.
        let mut order = Vec::new();
        order.extend(&function.params);
        definitions(&function.body, &mut order);
        let mut position = vec![usize::MAX; function.values.len()];
        let mut defined: Vec<ValueId> = Vec::new();
        for v in order {
            if let Some(p) = position.get_mut(v.0 as usize).filter(|p| **p == usize::MAX) {
                *p = defined.len();
                defined.push(v);
            }
        }
        let names = unique_names(defined.iter().map(|v| function.values[v.0 as usize].name.as_str()));
        let values = position.iter().enumerate().map(|(i, &p)| names.get(p).map_or_else(|| format!("%undefined_{i}"), |n| format!("%{n}")));
        let mutables = unique_names(function.mutables.iter().map(|m| m.name.as_str())).iter().map(|n| format!("@{n}")).collect();
        FunctionPrinter { module, function, sets, values: values.collect(), mutables }
    }

    fn value(&self, v: ValueId) -> &str {
        self.values.get(v.0 as usize).map_or("%unknown", String::as_str)
    }

    fn mutable(&self, m: MutableId) -> &str {
        self.mutables.get(m.0 as usize).map_or("@unknown", String::as_str)
    }

    fn list(&self, values: &[ValueId]) -> String {
        values.iter().map(|&v| self.value(v)).collect::<Vec<_>>().join(", ")
    }

    /// A value where it is assigned. Its range is written unless it is that of the statement.
    fn declare(&self, v: ValueId, statement: Span) -> String {
        let Some(value) = self.function.values.get(v.0 as usize) else { return self.value(v).to_owned() };
        let range = match value.span {
            s if s == statement => String::new(),
            s if s == Span::default() => " !0..0".to_owned(),
            s => span(s),
        };
        let storage = value.storage.map(|storage| format!(" {}", storage.word())).unwrap_or_default();
        format!("{}: {}{}{storage}{range}", self.value(v), self.sets.ty(&value.ty), dimension(value.dim))
    }

    fn declare_all(&self, values: &[ValueId], statement: Span) -> String {
        values.iter().map(|&v| self.declare(v, statement)).collect::<Vec<_>>().join(", ")
    }

    fn block(&self, out: &mut String, depth: usize, block: &Block) {
        block.statements.iter().for_each(|s| self.statement(out, depth, s));
    }

    fn statement(&self, out: &mut String, depth: usize, stmt: &Stmt) {
        let at = span(stmt.span);
        match &stmt.kind {
            StmtKind::Let { results, op } => {
                let equals = if results.is_empty() { "" } else { " = " };
                line(out, depth, &format!("{}{equals}{}{at}", self.declare_all(results, stmt.span), self.op(op)));
            }
            StmtKind::Store { mutable, value } => line(out, depth, &format!("{} := {}{at}", self.mutable(*mutable), self.value(*value))),
            StmtKind::Output { tag, value } => line(out, depth, &format!("Output({}, {}){at}", self.value(*tag), self.value(*value))),
            StmtKind::For { rounds, body } => {
                let head = match rounds {
                    Rounds::Sequence { sequence, element } => {
                        format!("for {} in {}", self.declare(*element, stmt.span), self.value(*sequence))
                    }
                    Rounds::Range { from, below, element } => {
                        format!("for {} from {} below {}", self.declare(*element, stmt.span), self.value(*from), self.value(*below))
                    }
                    Rounds::While(condition) => format!("while {}", self.mutable(*condition)),
                };
                line(out, depth, &format!("{head}{at} {{"));
                self.block(out, depth + 1, body);
                line(out, depth, "}");
            }
            StmtKind::Launch { kernel, args, results } => {
                let name = self.module.kernels.get(kernel.0 as usize).map_or("unknown", |k| &k.name);
                let equals = if results.is_empty() { "" } else { " = " };
                let results = self.declare_all(results, stmt.span);
                line(out, depth, &format!("{results}{equals}launch {}({}){at}", write_name(name), self.list(args)));
            }
            StmtKind::Return(values) => line(out, depth, &format!("return {}{at}", self.list(values))),
        }
    }

    fn callee(&self, id: crate::ir::op::FunctionId, args: &[ValueId]) -> String {
        let name = self.module.functions.get(id.0 as usize).map_or("unknown", |f| &f.name);
        format!("{}({})", write_name(name), self.list(args))
    }

    fn op(&self, op: &Op) -> String {
        let v = |id: &ValueId| self.value(*id);
        match op {
            Op::Real(x) => real(*x),
            Op::Bool(b) => b.to_string(),
            Op::Text(t) => escape(t, '"'),
            Op::CanonicalSet(set) => format!("{}()", set.name()),
            Op::Load(m) => self.mutable(*m).to_owned(),
            Op::InputScalar { name, default } => format!("InputScalar({}, {})", v(name), v(default)),
            Op::InputCollection { element, name, domain } => format!("{}({}, {})", element.word(), v(name), v(domain)),
            Op::Where { within, condition } => format!("Where({}, {})", v(within), v(condition)),
            Op::InputDomain { name, within } => format!("InputDomain({}, {})", v(name), v(within)),
            Op::InputSequence { name } => format!("InputSequence({})", v(name)),
            Op::InputTable { name, argument, value } => format!("InputTable({}, {}, {})", v(name), v(argument), v(value)),
            Op::InputTable2 { name, arguments: [first, second], value, part } => {
                format!("InputTable2({}, {}, {}, {}, {})", part.word(), v(name), v(first), v(second), v(value))
            }
            Op::Interpolate { table, argument } => format!("Interpolate({}, {})", v(table), v(argument)),
            Op::Step(a) => format!("Step({})", v(a)),
            Op::FirstCell(a) => format!("FirstCell({})", v(a)),
            Op::SecondCell(a) => format!("SecondCell({})", v(a)),
            Op::Shift { cells, by, beyond } => format!("Shift({}, {})", v(cells), print_kernel::offset(*by, *beyond)),
            Op::CellFact { fact, cells } => {
                let (word, numbers) = print_kernel::place_fact(*fact);
                format!("{word}({}, {numbers})", v(cells))
            }
            Op::GridNumber(GridNumber::Width(axis)) => format!("Width({axis})"),
            Op::GridNumber(GridNumber::Extent(axis)) => format!("Extent({axis})"),
            Op::IsEmpty(a) => format!("IsEmpty({})", v(a)),
            Op::OneCell(a) => format!("OneCell({})", v(a)),
            Op::Centroid(a) => format!("Centroid({})", v(a)),
            Op::FaceGap(a) => format!("FaceGap({})", v(a)),
            Op::FaceTransmissibility(a) => format!("FaceTransmissibility({})", v(a)),
            Op::Normal(a) => format!("Normal({})", v(a)),
            Op::Measure(a) => format!("Measure({})", v(a)),
            Op::Unary(op, a) => format!("{}({})", unary(*op), v(a)),
            Op::Arithmetic(op, a, b) => format!("{} {} {}", v(a), op.symbol(), v(b)),
            Op::Compare(op, a, b) => format!("{} {} {}", v(a), op.symbol(), v(b)),
            Op::Logic(op, a, b) => format!("{} {} {}", v(a), logic(*op), v(b)),
            Op::Select { condition, if_true, if_false } => format!("{} ? {} : {}", v(condition), v(if_true), v(if_false)),
            Op::On { data, target } => format!("{} On {}", v(data), v(target)),
            Op::Extend { data, domain } => format!("{} Extend {}", v(data), v(domain)),
            Op::Broadcast { value, domain } => format!("{} Broadcast {}", v(value), v(domain)),
            Op::Exchange { value, depth } => format!("exchange({}, {depth})", v(value)),
            Op::Gradient(a) => format!("Gradient({})", v(a)),
            Op::Divergence(a) => format!("Divergence({})", v(a)),
            Op::FaceReduce { reduction, first, second } => format!("{}({}, {})", reduction.name(), v(first), v(second)),
            Op::Dot(a, b) => format!("Dot({}, {})", v(a), v(b)),
            Op::Vector(components) => format!("Vector({})", self.list(components)),
            Op::Math(op, a, b) => format!("{}({}, {})", op.name(), v(a), v(b)),
            Op::TextIndex(a, i) => format!("{} index {i}", v(a)),
            Op::Component(a, i) => format!("{}[{i}]", v(a)),
            Op::Reduce(op, a) => format!("{}({})", reduction(*op), v(a)),
            Op::Call { function, args } => format!("call {}", self.callee(*function, args)),
            Op::Newton { residuals, captures, guesses, carried, equations } => {
                let empty = Vec::new();
                let residuals: Vec<String> =
                    residuals.iter().enumerate().map(|(i, r)| self.callee(*r, captures.get(i).unwrap_or(&empty))).collect();
                let places = |places: &[(u32, u32)]| places.iter().map(|(r, i)| format!("{r} {i}")).collect::<Vec<_>>().join(", ");
                let carried: Vec<String> = carried.iter().map(|c| format!("({}) ({})", places(&c.reads), places(&c.writes))).collect();
                let carrying = if carried.is_empty() { String::new() } else { format!(" carrying [{}]", carried.join(", ")) };
                let equations: Vec<String> = equations
                    .iter()
                    .map(|e| {
                        let name = self
                            .module
                            .kernels
                            .get(e.kernel.0 as usize)
                            .map_or_else(|| "unknown_kernel".to_owned(), |k| write_name(&k.name));
                        format!("{name}({})", self.list(&e.args))
                    })
                    .collect();
                let by = if equations.is_empty() { String::new() } else { format!(" by [{}]", equations.join(", ")) };
                format!("newton [{}] from [{}]{carrying}{by}", residuals.join(", "), self.list(guesses))
            }
        }
    }
}

fn definitions(block: &Block, order: &mut Vec<ValueId>) {
    for stmt in &block.statements {
        match &stmt.kind {
            StmtKind::Let { results, .. } | StmtKind::Launch { results, .. } => order.extend(results),
            StmtKind::For { rounds, body } => {
                order.extend(rounds.element());
                definitions(body, order);
            }
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
        }
    }
}
