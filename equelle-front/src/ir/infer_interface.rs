//! Finds what a program reads and writes by walking its statements.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::body_usage::BodyUsage;
use crate::ir::expected_unit::{AllUses, Uses};
use crate::ir::interface::{Column, Data, DataKind, ExpectedUnit, Interface};
use crate::ir::{Block, Function, FunctionId, Module, Op, Rounds, StmtKind, UnaryOp, ValueId};
use crate::ops::TablePart;
use crate::time_steps::computed_step;
use crate::types::{Dimension, Type};

/// The interface of a module to which no pass has been applied.
pub fn interface(module: &Module) -> Interface {
    let interface = Interface { min_dim: 1, coordinates: Dimension::LENGTH, time: time(&module.main), ..Interface::default() };
    let (uses, functions) = (Uses::of(&module.main), AllUses::of(module));
    let (definitions, numbers) = (BTreeMap::new(), BTreeMap::new());
    let mut walk = Walk { module, interface, in_loop: false, uses, definitions, functions, seen: BTreeSet::new(), numbers };
    walk.function(&module.main, &[]);
    walk.interface
}

/// The dimension of the lengths of rounds.
fn time(main: &Function) -> Dimension {
    let length = main.body.statements.iter().find_map(|statement| match &statement.kind {
        StmtKind::For { rounds: Rounds::Sequence { element, .. }, .. } => Some(*element),
        StmtKind::For { body, .. } => computed_step(body),
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Launch { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => None,
    });
    length.map_or(Dimension::NONE, |length| main.values[length.0 as usize].dim)
}

struct Walk<'a> {
    module: &'a Module,
    interface: Interface,
    /// The statement that is looked at is in a loop.
    in_loop: bool,
    /// Uses of the values of the function that is looked at.
    uses: Uses<'a>,
    /// Operations that define the values of that function.
    definitions: BTreeMap<ValueId, &'a Op>,
    /// Those of all functions.
    functions: AllUses<'a>,
    /// Calls that have been looked at: function, Text arguments, in a loop. Another one like it
    /// adds nothing.
    seen: BTreeSet<(FunctionId, Vec<Option<String>>, bool)>,
    /// Inputs and outputs of the interface, by name.
    numbers: BTreeMap<(Direction, String), Vec<usize>>,
}

/// Side of the interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Input,
    Output,
}

impl<'a> Walk<'a> {
    /// `texts` are the Text arguments, by parameter.
    fn function(&mut self, function: &'a Function, texts: &[Option<String>]) {
        let mut known: Vec<Option<String>> = vec![None; function.values.len()];
        for (param, text) in function.params.iter().zip(texts) {
            known[param.0 as usize].clone_from(text);
        }
        let mut definitions = BTreeMap::new();
        define(&function.body, &mut definitions);
        let outside = (std::mem::replace(&mut self.uses, Uses::of(function)), std::mem::replace(&mut self.definitions, definitions));
        self.block(function, &function.body, &mut known);
        (self.uses, self.definitions) = outside;
    }

    /// A function where it is called.
    fn call(&mut self, callee: FunctionId, texts: Vec<Option<String>>) {
        if self.seen.insert((callee, texts.clone(), self.in_loop)) {
            self.function(&self.module.functions[callee.0 as usize], &texts);
        }
    }

    fn block(&mut self, function: &'a Function, block: &'a Block, known: &mut Vec<Option<String>>) {
        for statement in &block.statements {
            let source = &self.module.source;
            let line = if source.text().is_empty() { 0 } else { source.line(statement.span.start) };
            match &statement.kind {
                StmtKind::Let { results, op } => self.operation(function, results, op, known, line),
                StmtKind::Output { tag, value } => {
                    let Some(name) = known[tag.0 as usize].clone() else { continue };
                    let is_element = matches!(self.definitions.get(tag), Some(Op::TextIndex(..)));
                    let output = Data { unit: self.uses.divisor(*value), is_element, ..self.data(function, *value, name, line) };
                    let sets = &self.module.sets;
                    let what = |o: &Data| (o.kind, o.ty.basic, o.ty.mapping().map(|set| sets.get(set).kind), o.is_element);
                    let outputs = &mut self.interface.outputs;
                    let named = self.numbers.entry((Direction::Output, output.name.clone())).or_default();
                    match named.iter().copied().find(|&number| what(&outputs[number]) == what(&output)) {
                        Some(number) => {
                            let known = &mut outputs[number];
                            known.per_step |= output.per_step;
                            known.unit = known.unit.filter(|own| output.unit.is_some_and(|unit| unit.is_same_as(own)));
                        }
                        None => {
                            named.push(outputs.len());
                            outputs.push(output);
                        }
                    }
                }
                StmtKind::For { body, .. } => {
                    let outside = std::mem::replace(&mut self.in_loop, true);
                    self.block(function, body, known);
                    self.in_loop = outside;
                }
                StmtKind::Launch { kernel, .. } => {
                    let usage = BodyUsage::from_general_form(&self.module.kernels[kernel.0 as usize], &self.module.sets);
                    self.needs_axes(usage.largest_component.map_or(0, |index| index.saturating_add(1)));
                }
                StmtKind::Store { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    /// A value under a name, on the domain that it is on.
    fn data(&self, function: &Function, value: ValueId, name: String, line: u32) -> Data {
        let value = &function.values[value.0 as usize];
        let (kind, domain) = (DataKind::of(&value.ty), self.set_name(&value.ty));
        Data {
            name,
            kind,
            domain,
            ty: value.ty,
            dim: value.dim,
            unit: None,
            columns: Vec::new(),
            default: None,
            line,
            span: value.span,
            per_step: self.in_loop,
            is_element: false,
        }
    }

    fn set_name(&self, ty: &Type) -> String {
        ty.mapping().map(|set| self.module.sets.get(set).name.clone()).unwrap_or_default()
    }

    fn needs_axes(&mut self, axes: u32) {
        self.interface.min_dim = self.interface.min_dim.max(axes);
    }

    fn operation(&mut self, function: &'a Function, results: &[ValueId], op: &'a Op, known: &mut [Option<String>], line: u32) {
        let text = |known: &[Option<String>], value: &ValueId| known[value.0 as usize].clone();
        match op {
            Op::Text(literal) => results.iter().for_each(|result| known[result.0 as usize] = Some(literal.clone())),
            Op::TextIndex(base, index) => {
                let numbered = text(known, base).map(|base| format!("{base}_{index}"));
                results.iter().for_each(|result| known[result.0 as usize].clone_from(&numbered));
            }
            Op::InputScalar { name, default } => {
                let default = self.constant(*default);
                self.input(function, results, text(known, name), |input| Data { default, ..input }, line);
            }
            Op::InputCollection { name, domain: on, .. } | Op::InputDomain { name, within: on } => {
                let domain = self.set_name(&function.values[on.0 as usize].ty);
                self.input(function, results, text(known, name), |input| Data { domain, ..input }, line);
            }
            Op::Where { .. } | Op::Step(_) | Op::Exchange { .. } => {}
            Op::InputSequence { name } => self.input(function, results, text(known, name), |input| input, line),
            Op::InputTable { name, argument, value } => {
                let (Some(argument), Some(value), Some(&table)) = (text(known, argument), text(known, value), results.first()) else {
                    return;
                };
                let (of_argument, of_value) =
                    (self.functions.unit_of_arguments(&self.uses, table), self.functions.unit_of_values(&self.uses, table));
                let columns = vec![Column { name: argument, unit: of_argument }, Column { name: value, unit: of_value }];
                self.input(function, results, text(known, name), |input| Data { columns, ..input }, line);
            }
            // One input, seen where its first part is read.
            Op::InputTable2 { name, arguments: [first, second], value, part: TablePart::First } => {
                let (Some(of_first), Some(of_second), Some(of_value)) = (text(known, first), text(known, second), text(known, value))
                else {
                    return;
                };
                let sibling = |part| part_of_table(&function.body, op, part);
                let (uses, all) = (&self.uses, &self.functions);
                let argument = |part| sibling(part).and_then(|table| all.unit_of_arguments(uses, table));
                let of_value_column = sibling(TablePart::Value).and_then(|table| all.unit_of_sums(uses, table));
                let columns = vec![
                    Column { name: of_first, unit: argument(TablePart::First) },
                    Column { name: of_second, unit: argument(TablePart::Second) },
                    Column { name: of_value, unit: of_value_column },
                ];
                self.input(function, results, text(known, name), |input| Data { columns, ..input }, line);
            }
            Op::InputTable2 { .. } => {}
            Op::Component(_, index) => self.needs_axes(index.saturating_add(1)),
            Op::Vector(components) => {
                let axes = components.len() as u32;
                self.needs_axes(axes);
                self.interface.exact_dim = self.interface.exact_dim.max(Some(axes));
            }
            Op::Call { function: callee, args } => self.call(*callee, args.iter().map(|a| text(known, a)).collect()),
            Op::Newton { residuals, captures, guesses, .. } => {
                self.interface.implicit = true;
                for (residual, captures) in residuals.iter().zip(captures) {
                    self.call(*residual, guesses.iter().chain(captures).map(|a| text(known, a)).collect());
                }
            }
            other => debug_assert!(other.class().is_pure() || matches!(other, Op::Load(_)), "nothing else reaches outside"),
        }
    }

    /// Notes an input, if its name is known.
    fn input(&mut self, function: &Function, results: &[ValueId], name: Option<String>, with: impl FnOnce(Data) -> Data, line: u32) {
        let (Some(name), Some(&result)) = (name, results.first()) else { return };
        let unit = self.uses.unit(result);
        let input = with(Data { domain: String::new(), unit, ..self.data(function, result, name, line) });
        let same = |i: &Data| {
            let columns = i.columns.iter().map(|c| &c.name).eq(input.columns.iter().map(|c| &c.name));
            columns && (i.ty.basic, i.kind, &i.domain) == (input.ty.basic, input.kind, &input.domain)
        };
        let inputs = &mut self.interface.inputs;
        let named = self.numbers.entry((Direction::Input, input.name.clone())).or_default();
        match named.iter().copied().find(|&number| same(&inputs[number])) {
            Some(number) => {
                let known = &mut inputs[number];
                known.unit = common_unit(known.unit, unit);
                for (column, other) in known.columns.iter_mut().zip(&input.columns) {
                    column.unit = common_unit(column.unit, other.unit);
                }
            }
            None => {
                named.push(inputs.len());
                inputs.push(input);
            }
        }
    }

    /// The number that a value is, if its function says so.
    fn constant(&self, value: ValueId) -> Option<f64> {
        let op = self.definitions.get(&value)?;
        if let Op::Unary(UnaryOp::Neg, number) = op {
            return self.constant(*number).map(|number| -number);
        }
        if let Op::Real(number) = op { Some(*number) } else { None }
    }
}

/// Notes how a body, loops in it included, makes its values.
fn define<'a>(block: &'a Block, definitions: &mut BTreeMap<ValueId, &'a Op>) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Let { results, op } => definitions.extend(results.iter().map(|result| (*result, op))),
            StmtKind::For { body, .. } => define(body, definitions),
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

/// The unit that both places give an input.
fn common_unit(a: Option<ExpectedUnit>, b: Option<ExpectedUnit>) -> Option<ExpectedUnit> {
    a.filter(|a| b.is_some_and(|b| b.is_same_as(a)))
}

/// Another part of the table of two arguments that an operation reads a part of.
fn part_of_table(block: &Block, of: &Op, wanted: TablePart) -> Option<ValueId> {
    let Op::InputTable2 { name, arguments, value, .. } = of else { return None };
    let sibling = Op::InputTable2 { name: *name, arguments: *arguments, value: *value, part: wanted };
    block.statements.iter().find_map(|statement| match &statement.kind {
        StmtKind::Let { results, op } if *op == sibling => results.first().copied(),
        StmtKind::For { body, .. } => part_of_table(body, of, wanted),
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => None,
    })
}
