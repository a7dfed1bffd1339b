//! Parsing of functions, statements and operations.

use std::collections::BTreeMap;

use crate::ir::kernel::KernelId;
use crate::ir::location::{IrLocation, Owner};
use crate::ir::op::{
    Block, Carried, Equation, Function, FunctionId, Module, Mutable, MutableId, Op, Rounds, Stmt, StmtKind, Storage, UnaryOp, Value,
    ValueId,
};
use crate::ir::text::lex::TokenKind;
use crate::ir::text::names::Name;
use crate::ir::text::parser::{Parsed, Parser};
use crate::ir::text::print;
use crate::ops::{
    Arithmetic, Beyond, BinaryMath, CellFact, Comparison, FaceReduction, GridNumber, InputElement, Logic, Offset, Reduction, SideMap,
    TablePart,
};
use crate::source::Span;

pub(super) fn function(parser: &mut Parser, module: &mut Module) -> Parsed<()> {
    let line = parser.line();
    let owner = Owner::Function(FunctionId(module.functions.len() as u32));
    parser.expect_word("function")?;
    let name = parser.plain_name()?;
    let mut p = FunctionParser::new(parser, module, owner);
    p.parser.locations.insert(IrLocation::Function(owner), line);
    p.function.name = name;
    p.parser.expect("(")?;
    p.function.params = {
        let mut params = Vec::new();
        while !p.parser.accept(")") {
            if !params.is_empty() {
                p.parser.expect(",")?;
            }
            params.push(p.declare()?);
        }
        params
    };
    p.set_spans(Span::default());
    if p.parser.accept("->") {
        p.parser.expect("(")?;
        p.function.results = p.parser.list(")", |parser| parser.ty(&module.sets))?;
    }
    let function = p.rest()?;
    module.functions.push(function);
    Ok(())
}

pub(super) fn main(parser: &mut Parser, module: &mut Module) -> Parsed<()> {
    let line = parser.line();
    parser.expect_word("main")?;
    parser.locations.insert(IrLocation::Function(Owner::Main), line);
    let function = FunctionParser::new(parser, module, Owner::Main).rest()?;
    module.main = function;
    Ok(())
}

struct FunctionParser<'a> {
    parser: &'a mut Parser,
    module: &'a Module,
    owner: Owner,
    function: Function,
    values: BTreeMap<(String, Option<u32>), ValueId>,
    mutables: BTreeMap<(String, Option<u32>), MutableId>,
    /// Values of the statement being read that have no range of their own.
    unplaced: Vec<ValueId>,
    statements: u32,
}

impl<'a> FunctionParser<'a> {
    fn new(parser: &'a mut Parser, module: &'a Module, owner: Owner) -> Self {
        let function = Function {
            name: "main".to_owned(),
            params: Vec::new(),
            values: Vec::new(),
            mutables: Vec::new(),
            body: Block::default(),
            results: Vec::new(),
            span: Span::default(),
        };
        let (values, mutables) = (BTreeMap::new(), BTreeMap::new());
        FunctionParser { parser, module, owner, function, values, mutables, unplaced: Vec::new(), statements: 0 }
    }

    /// From the range of the head to the closing brace.
    fn rest(mut self) -> Parsed<Function> {
        self.function.span = self.parser.span().unwrap_or_default();
        self.parser.expect("{")?;
        while self.parser.accept_word("mutable") {
            let TokenKind::Mutable(name) = self.parser.bump() else { return self.parser.error_before("expected `@name`") };
            let id = MutableId(self.function.mutables.len() as u32);
            if self.mutables.insert(name.key(), id).is_some() {
                return self.parser.error_before(format!("`@{}` is declared twice", name.base));
            }
            self.parser.expect(":")?;
            let ty = self.parser.ty(&self.module.sets)?;
            let dim = self.parser.dimension()?;
            let carried = self.parser.accept_word("carried");
            let span = self.parser.span().unwrap_or_default();
            self.function.mutables.push(Mutable { name: name.user().to_owned(), ty, dim, span, carried });
        }
        self.function.body = self.block(0)?;
        Ok(self.function)
    }

    /// `%name: type`; the same name again is the same value.
    fn declare(&mut self) -> Parsed<ValueId> {
        let TokenKind::Value(name) = self.parser.peek().clone() else { return self.parser.expected("`%name`") };
        self.parser.bump();
        self.parser.expect(":")?;
        let ty = self.parser.ty(&self.module.sets)?;
        let dim = self.parser.dimension()?;
        let storage = Storage::ALL.into_iter().find(|storage| self.parser.accept_word(storage.word()));
        let span = self.parser.span();
        if let Some(id) = self.values.get(&name.key()) {
            return Ok(*id);
        }
        let id = ValueId(self.function.values.len() as u32);
        self.function.values.push(Value { ty, name: name.user().to_owned(), dim, span: span.unwrap_or_default(), storage, array: None });
        self.values.insert(name.key(), id);
        if span.is_none() {
            self.unplaced.push(id);
        }
        Ok(id)
    }

    fn set_spans(&mut self, span: Span) {
        for id in std::mem::take(&mut self.unplaced) {
            self.function.values[id.0 as usize].span = span;
        }
    }

    fn value(&mut self) -> Parsed<ValueId> {
        let TokenKind::Value(name) = self.parser.peek().clone() else { return self.parser.expected("`%name`") };
        self.parser.bump();
        self.lookup(&name)
    }

    fn lookup(&mut self, name: &Name) -> Parsed<ValueId> {
        match self.values.get(&name.key()) {
            Some(id) => Ok(*id),
            None => self.parser.error_before(format!("unknown value `%{}`", name.base)),
        }
    }

    fn values_until(&mut self, end: &str) -> Parsed<Vec<ValueId>> {
        let mut values = Vec::new();
        while !self.parser.accept(end) {
            if !values.is_empty() {
                self.parser.expect(",")?;
            }
            values.push(self.value()?);
        }
        Ok(values)
    }

    fn mutable(&mut self) -> Parsed<MutableId> {
        let TokenKind::Mutable(name) = self.parser.bump() else { return self.parser.error_before("expected `@name`") };
        match self.mutables.get(&name.key()) {
            Some(id) => Ok(*id),
            None => self.parser.error_before(format!("unknown mutable `@{}`", name.base)),
        }
    }

    /// Statements up to the closing brace, which it takes.
    fn block(&mut self, depth: u32) -> Parsed<Block> {
        if depth > 200 {
            return self.parser.error("loops are nested deeper than 200");
        }
        let mut statements = Vec::new();
        while !self.parser.accept("}") {
            self.parser.locations.insert(IrLocation::Statement(self.owner, self.statements), self.parser.line());
            self.statements += 1;
            let (kind, span) = self.statement(depth)?;
            statements.push(Stmt { kind, span });
        }
        Ok(Block { statements })
    }

    fn statement(&mut self, depth: u32) -> Parsed<(StmtKind, Span)> {
        if matches!(self.parser.peek(), TokenKind::Mutable(_)) {
            let mutable = self.mutable()?;
            self.parser.expect(":=")?;
            let value = self.value()?;
            return Ok((StmtKind::Store { mutable, value }, self.parser.span().unwrap_or_default()));
        }
        if self.parser.accept_word("Output") {
            self.parser.expect("(")?;
            let tag = self.value()?;
            self.parser.expect(",")?;
            let value = self.value()?;
            self.parser.expect(")")?;
            return Ok((StmtKind::Output { tag, value }, self.parser.span().unwrap_or_default()));
        }
        if self.parser.accept_word("return") {
            let mut values = vec![self.value()?];
            while self.parser.accept(",") {
                values.push(self.value()?);
            }
            return Ok((StmtKind::Return(values), self.parser.span().unwrap_or_default()));
        }
        if self.parser.accept_word("for") {
            let element = self.declare()?;
            let rounds = if self.parser.accept_word("from") {
                let from = self.value()?;
                self.parser.expect_word("below")?;
                Rounds::Range { from, below: self.value()?, element }
            } else {
                self.parser.expect_word("in")?;
                Rounds::Sequence { sequence: self.value()?, element }
            };
            let span = self.parser.span().unwrap_or_default();
            self.set_spans(span);
            self.parser.expect("{")?;
            let body = self.block(depth + 1)?;
            return Ok((StmtKind::For { rounds, body }, span));
        }
        if self.parser.accept_word("while") {
            let rounds = Rounds::While(self.mutable()?);
            let span = self.parser.span().unwrap_or_default();
            self.parser.expect("{")?;
            let body = self.block(depth + 1)?;
            return Ok((StmtKind::For { rounds, body }, span));
        }
        let mut results = Vec::new();
        // A kernel of checks alone has no results, and no exchange has.
        if !self.parser.is_word("launch") && !self.parser.is_word("exchange") {
            if !matches!(self.parser.peek(), TokenKind::Value(_)) {
                return self.parser.expected("a statement");
            }
            results.push(self.declare()?);
            while self.parser.accept(",") {
                results.push(self.declare()?);
            }
            self.parser.expect("=")?;
        }
        let kind = if self.parser.accept_word("launch") {
            let name = self.parser.plain_name()?;
            let Some(kernel) = self.module.kernels.iter().position(|k| k.name == name) else {
                return self.parser.error_before(format!("unknown kernel `{name}`"));
            };
            self.parser.expect("(")?;
            let args = self.values_until(")")?;
            StmtKind::Launch { kernel: crate::ir::kernel::KernelId(kernel as u32), args, results }
        } else {
            StmtKind::Let { results, op: self.op()? }
        };
        let span = self.parser.span().unwrap_or_default();
        self.set_spans(span);
        Ok((kind, span))
    }

    fn op(&mut self) -> Parsed<Op> {
        if let Some(value) = self.parser.real()? {
            return Ok(Op::Real(value));
        }
        if let Some(set) = self.parser.canonical_set()? {
            return Ok(Op::CanonicalSet(set));
        }
        match self.parser.peek() {
            TokenKind::Text(text) => {
                let text = text.clone();
                self.parser.bump();
                Ok(Op::Text(text))
            }
            TokenKind::Mutable(_) => Ok(Op::Load(self.mutable()?)),
            TokenKind::Value(_) => self.infix(),
            TokenKind::Name(_) => self.named(),
            TokenKind::Number(_) | TokenKind::Span(_) | TokenKind::Symbol(_) | TokenKind::End => self.parser.expected("an operation"),
        }
    }

    /// An operation that begins with a value.
    fn infix(&mut self) -> Parsed<Op> {
        let a = self.value()?;
        if self.parser.accept("[") {
            let index = self.parser.integer()?;
            self.parser.expect("]")?;
            return Ok(Op::Component(a, index));
        }
        if self.parser.accept("?") {
            let if_true = self.value()?;
            self.parser.expect(":")?;
            return Ok(Op::Select { condition: a, if_true, if_false: self.value()? });
        }
        if self.parser.accept_word("On") {
            return Ok(Op::On { data: a, target: self.value()? });
        }
        if self.parser.accept_word("Extend") {
            return Ok(Op::Extend { data: a, domain: self.value()? });
        }
        if self.parser.accept_word("index") {
            return Ok(Op::TextIndex(a, self.parser.integer()?));
        }
        if self.parser.accept_word("Broadcast") {
            return Ok(Op::Broadcast { value: a, domain: self.value()? });
        }
        if let Some(op) = self.parser.arithmetic() {
            return Ok(Op::Arithmetic(op, a, self.value()?));
        }
        if let Some(op) = self.parser.comparison() {
            return Ok(Op::Compare(op, a, self.value()?));
        }
        if let Some(op) = self.parser.logic() {
            return Ok(Op::Logic(op, a, self.value()?));
        }
        self.parser.expected("an operator")
    }

    /// An operation that begins with a word.
    fn named(&mut self) -> Parsed<Op> {
        let word = self.parser.plain_name()?;
        if let Some(element) = InputElement::ALL.into_iter().find(|element| element.word() == word) {
            let (name, domain) = self.pair()?;
            return Ok(Op::InputCollection { element, name, domain });
        }
        if let Some(op) = BinaryMath::ALL.into_iter().find(|op| op.name() == word) {
            let (a, b) = self.pair()?;
            return Ok(Op::Math(op, a, b));
        }
        if let Some(reduction) = FaceReduction::ALL.into_iter().find(|reduction| reduction.name() == word) {
            let (first, second) = self.pair()?;
            return Ok(Op::FaceReduce { reduction, first, second });
        }
        let constructor: fn(ValueId) -> Op = match word.as_str() {
            "true" => return Ok(Op::Bool(true)),
            "false" => return Ok(Op::Bool(false)),
            "call" => {
                let (function, args) = self.callee()?;
                return Ok(Op::Call { function, args });
            }
            "newton" => return self.newton(),
            "InputScalar" => return self.two(|name, default| Op::InputScalar { name, default }),
            "InputDomain" => return self.two(|name, within| Op::InputDomain { name, within }),
            "Where" => return self.two(|within, condition| Op::Where { within, condition }),
            "InputTable" => {
                self.parser.expect("(")?;
                let [name, argument, value] = [self.value()?, self.next_value()?, self.next_value()?];
                self.parser.expect(")")?;
                return Ok(Op::InputTable { name, argument, value });
            }
            "InputTable2" => {
                self.parser.expect("(")?;
                let Some(part) = TablePart::ALL.into_iter().find(|part| self.parser.accept_word(part.word())) else {
                    return self.parser.error_before("expected a part of a table of two arguments");
                };
                let [name, first, second, value] = [self.next_value()?, self.next_value()?, self.next_value()?, self.next_value()?];
                self.parser.expect(")")?;
                return Ok(Op::InputTable2 { name, arguments: [first, second], value, part });
            }
            "Shift" => {
                self.parser.expect("(")?;
                let cells = self.value()?;
                self.parser.expect(",")?;
                let (by, beyond) = self.parser.offset()?;
                self.parser.expect(")")?;
                return Ok(Op::Shift { cells, by, beyond });
            }
            "Outside" | "Index" | "Even" => {
                self.parser.expect("(")?;
                let cells = self.value()?;
                self.parser.expect(",")?;
                let fact = self.parser.place_fact(&word.to_lowercase())?;
                self.parser.expect(")")?;
                return Ok(Op::CellFact { fact, cells });
            }
            "Width" | "Extent" => {
                self.parser.expect("(")?;
                let axis = self.parser.axis()?;
                self.parser.expect(")")?;
                return Ok(Op::GridNumber(if word == "Width" { GridNumber::Width(axis) } else { GridNumber::Extent(axis) }));
            }
            "exchange" => {
                self.parser.expect("(")?;
                let value = self.value()?;
                self.parser.expect(",")?;
                let depth = self.parser.integer()?;
                self.parser.expect(")")?;
                return Ok(Op::Exchange { value, depth });
            }
            "Interpolate" => return self.two(|table, argument| Op::Interpolate { table, argument }),
            "Dot" => return self.two(Op::Dot),
            "Vector" => {
                self.parser.expect("(")?;
                return Ok(Op::Vector(self.values_until(")")?));
            }
            "InputSequence" => |name| Op::InputSequence { name },
            "Step" => Op::Step,
            "FirstCell" => Op::FirstCell,
            "SecondCell" => Op::SecondCell,
            "IsEmpty" => Op::IsEmpty,
            "OneCell" => Op::OneCell,
            "Centroid" => Op::Centroid,
            "Normal" => Op::Normal,
            "FaceGap" => Op::FaceGap,
            "FaceTransmissibility" => Op::FaceTransmissibility,
            "Measure" => Op::Measure,
            "Gradient" => Op::Gradient,
            "Divergence" => Op::Divergence,
            "any" => |v| Op::Reduce(Reduction::Any, v),
            "all" => |v| Op::Reduce(Reduction::All, v),
            "max" => |v| Op::Reduce(Reduction::Max, v),
            "min" => |v| Op::Reduce(Reduction::Min, v),
            "sum" => |v| Op::Reduce(Reduction::Sum, v),
            "prod" => |v| Op::Reduce(Reduction::Prod, v),
            word => match UnaryOp::all().find(|op| print::unary(*op) == word) {
                Some(op) => return Ok(Op::Unary(op, self.one()?)),
                None => return self.parser.error_before(format!("unknown operation `{word}`")),
            },
        };
        Ok(constructor(self.one()?))
    }

    /// `, %b`
    fn next_value(&mut self) -> Parsed<ValueId> {
        self.parser.expect(",")?;
        self.value()
    }

    /// `(%a)`
    fn one(&mut self) -> Parsed<ValueId> {
        self.parser.expect("(")?;
        let v = self.value()?;
        self.parser.expect(")")?;
        Ok(v)
    }

    fn two(&mut self, constructor: fn(ValueId, ValueId) -> Op) -> Parsed<Op> {
        let (a, b) = self.pair()?;
        Ok(constructor(a, b))
    }

    /// `(%a, %b)`
    fn pair(&mut self) -> Parsed<(ValueId, ValueId)> {
        self.parser.expect("(")?;
        let a = self.value()?;
        self.parser.expect(",")?;
        let b = self.value()?;
        self.parser.expect(")")?;
        Ok((a, b))
    }

    /// `name(%a, %b)`
    fn callee(&mut self) -> Parsed<(FunctionId, Vec<ValueId>)> {
        let name = self.parser.plain_name()?;
        let Some(index) = self.module.functions.iter().position(|f| f.name == name) else {
            return self.parser.error_before(format!("unknown function `{name}`; a function calls only functions before it"));
        };
        self.parser.expect("(")?;
        Ok((FunctionId(index as u32), self.values_until(")")?))
    }

    /// `[f(%a), g(%b)] from [%u, %v]`, then perhaps `carrying [(0 0, 1 2) (0 1)]`: what a variable
    /// is read by and written by, as residual and number; then perhaps
    /// `by [kernel(%a), other(%b)]`.
    fn newton(&mut self) -> Parsed<Op> {
        self.parser.expect("[")?;
        let (mut residuals, mut captures) = (Vec::new(), Vec::new());
        while !self.parser.accept("]") {
            if !residuals.is_empty() {
                self.parser.expect(",")?;
            }
            let (function, args) = self.callee()?;
            residuals.push(function);
            captures.push(args);
        }
        self.parser.expect_word("from")?;
        self.parser.expect("[")?;
        let guesses = self.values_until("]")?;
        let mut carried = Vec::new();
        if self.parser.accept_word("carrying") {
            self.parser.expect("[")?;
            carried = self.parser.list("]", |parser| {
                let place = |parser: &mut Parser| Ok((parser.integer()?, parser.integer()?));
                parser.expect("(")?;
                let reads = parser.list(")", place)?;
                parser.expect("(")?;
                let writes = parser.list(")", place)?;
                Ok(Carried { reads, writes })
            })?;
        }
        let mut equations = Vec::new();
        if self.parser.accept_word("by") {
            self.parser.expect("[")?;
            while !self.parser.accept("]") {
                if !equations.is_empty() {
                    self.parser.expect(",")?;
                }
                let name = self.parser.plain_name()?;
                let Some(index) = self.module.kernels.iter().position(|k| k.name == name) else {
                    return self.parser.error_before(format!("unknown kernel `{name}`"));
                };
                self.parser.expect("(")?;
                equations.push(Equation { kernel: KernelId(index as u32), args: self.values_until(")")? });
            }
        }
        Ok(Op::Newton { residuals, captures, guesses, carried, equations })
    }
}

impl Parser {
    /// `1, 0, -2, wrap, never, ...`
    pub fn offset(&mut self) -> Parsed<(Offset, Beyond)> {
        let (mut by, mut beyond) = (Offset::default(), Beyond::default());
        for (i, number) in by.iter_mut().enumerate() {
            if i > 0 {
                self.expect(",")?;
            }
            *number = self.integer()?;
        }
        for map in &mut beyond {
            self.expect(",")?;
            match SideMap::ALL.into_iter().find(|map| self.accept_word(map.word())) {
                Some(known) => *map = known,
                None => return self.expected("what stands beyond a side"),
            }
        }
        Ok((by, beyond))
    }

    /// The numbers of a fact about the place of a cell.
    pub fn place_fact(&mut self, word: &str) -> Parsed<CellFact> {
        let first = self.axis()?;
        match word {
            "outside" => {
                self.expect(",")?;
                Ok(CellFact::Outside { axis: first, by: self.integer()? })
            }
            "index" => Ok(CellFact::Index(first)),
            _ => {
                let mut axes = [first != 0, false, false];
                for axis in &mut axes[1..] {
                    self.expect(",")?;
                    *axis = self.axis()? != 0;
                }
                Ok(CellFact::Even(axes))
            }
        }
    }

    /// The number of an axis.
    pub fn axis(&mut self) -> Parsed<u8> {
        let axis: u8 = self.integer()?;
        if axis > 2 { self.error_before("an axis is 0, 1 or 2".to_owned()) } else { Ok(axis) }
    }

    /// An arithmetic operator if one stands here.
    pub fn arithmetic(&mut self) -> Option<Arithmetic> {
        [("+", Arithmetic::Add), ("-", Arithmetic::Sub), ("*", Arithmetic::Mul), ("/", Arithmetic::Div)]
            .into_iter()
            .find_map(|(symbol, op)| self.accept(symbol).then_some(op))
    }

    /// A comparison if one stands here.
    pub fn comparison(&mut self) -> Option<Comparison> {
        Comparison::ALL.into_iter().find(|op| self.accept(op.symbol()))
    }

    /// A logical operator if one stands here.
    pub fn logic(&mut self) -> Option<Logic> {
        [("and", Logic::And), ("or", Logic::Or), ("xor", Logic::Xor)]
            .into_iter()
            .find_map(|(word, op)| self.accept_word(word).then_some(op))
    }
}
