//! `src/lib.rs`: the program at operation level and the launches of its kernels.
//!
//! One Rust function per function instance and `simulate` for the main program. IR statements of
//! one Equelle statement (they carry its span) become one group: a comment with the source line,
//! `rt.line(n)`, and one Rust statement whose temporaries live in a block of their own, so that
//! they are freed at once.

mod bindings;
mod checkpoints;
mod equations;
mod function;
mod memory;
mod newton;
mod operations;
mod program;
mod statements;
mod uses;

use std::collections::BTreeSet;

use equelle_front::backend::{BackendError, KernelNames, Namer};
use equelle_front::checkpoint;
use equelle_front::ir::interface::{Column, Data, ExpectedUnit};
use equelle_front::ir::{Block, Function, Module, Op, OpClass, Rounds, StmtKind, UnaryOp, ValueId};
use equelle_front::memory::geometry::kept_from;
use equelle_front::ops::Reduction;
use equelle_front::time_steps;
use equelle_front::types::Basic;
use equelle_runtime::{HaloNeeds, OutputKind, RankNeeds, RankRefusal, TableColumns};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::rust::{blank, format, ident, list};
use super::sets::entity_ident;
use super::source::{file_name, imported, newton_place, retries, solves, source_path};
use super::{PackageOptions, UnitOfOutput, input_kind, output_kind, output_unit, symbol, unit_text};
use function::FunctionWriter;
use operations::real;
use program::Program;

/// The file.
pub(super) fn text(module: &Module, ranks: &RankNeeds, options: &PackageOptions) -> Result<String, BackendError> {
    let mut globals = Namer::rust();
    globals.reserve(["rt", "simulate", "program", "R", "kernels", "Kernels", "Error", "EquelleRuntime", "Operations", "Implicit"]);
    globals.reserve([
        "AxisUnits",
        "CanonicalSet",
        "Checkpoint",
        "Observed",
        "Variable",
        "EntityKind",
        "Extent",
        "GeometryArray",
        "Program",
        "Source",
        "ImportedSource",
        "InputInfo",
        "InputKind",
        "InputUnit",
        "OutputInfo",
        "OutputKind",
        "OutputUnit",
        "HaloNeeds",
        "RankNeeds",
        "RankRefusal",
        "Retry",
        "Solve",
        "TableColumn",
        "TableColumns",
        "TablePart",
    ]);
    globals.reserve(["memory", "MemoryPlan", "SetMemory", "SolveMemory", "Buffers"]);
    globals.reserve(["Comparison", "Reduction", "BoolReduction", "Elementary", "BinaryMath", "FaceReduction"]);
    globals.reserve(options.backends.iter().map(|b| format!("kernels_{}", b.name())));
    let kernels = KernelNames::for_module(module);
    globals.reserve(kernels.iter().map(|k| k.arguments.clone()));
    let functions = module.functions.iter().map(|f| globals.fresh(&f.name)).collect();
    let needs = Needs::of(module);
    let memory = equelle_front::memory::Needs::on_back_ends(module, options.backends);
    let plan = memory::plan(&module.sets, &memory);
    let time_loops = time_steps::loops(module);
    let checkpoints = checkpoint::checkpoints(module);
    let (bound, planned, geometry) = (needs.bound(), plan.is_some(), kept_from(module));
    let program =
        Program { module, kernels, functions, globals, bound, planned, time_loops: &time_loops, checkpoints: &checkpoints, geometry };

    let (main, shows_variables) = FunctionWriter::new(&program, &module.main).main()?;
    let mut items = TokenStream::new();
    for (function, name) in module.functions.iter().zip(&program.functions) {
        items.extend(FunctionWriter::new(&program, function).item(name)?);
    }
    let header =
        format!(" `{}`, compiled by equellec {}. Names are those of the Equelle program.", file_name(module), env!("CARGO_PKG_VERSION"));
    let modules = modules(module, options);
    let needs = Needs { variables: shows_variables, ..needs };
    let imports = needs.imports(&program, !module.interface.inputs.is_empty(), plan.is_some().then_some(&memory), ranks);
    let program_info = program_info(&program, ranks);
    let blank = blank();
    format(quote! {
        #![doc = #header]

        #![allow(non_snake_case)]

        #blank
        #modules
        #imports
        #blank
        #program_info
        #plan
        #blank
        #main
        #items
    })
}

/// The unit of an input.
fn unit_tokens(module: &Module, unit: Option<ExpectedUnit>) -> TokenStream {
    let Some(unit) = unit else { return quote! { None } };
    let (text, factor) = (unit_text(module, &unit), real(unit.factor));
    let dimension = unit.dimension.0.map(|exponent| {
        let size = Literal::u32_unsuffixed(exponent.unsigned_abs());
        if exponent < 0 {
            quote! { -#size }
        } else {
            quote! { #size }
        }
    });
    quote! { Some(InputUnit { text: #text.into(), factor: #factor, dimension: [#(#dimension),*] }) }
}

/// `pub fn program`
fn program_info(program: &Program, ranks: &RankNeeds) -> TokenStream {
    let module = program.module;
    let (name, file) = (&module.name, file_name(module));
    let source = match source_path(module) {
        Some(path) => {
            let path = format!("../{path}");
            quote! { include_str!(#path).into() }
        }
        None => quote! { "".into() },
    };
    let imports = imported(module).into_iter().map(|(file, path, _)| {
        let path = format!("../{path}");
        quote! { ImportedSource { file: #file.into(), text: include_str!(#path).into() } }
    });
    let inputs = module.interface.inputs.iter().map(|input| {
        let (name, domain) = (&input.name, &input.domain);
        let kind = match &input.columns[..] {
            [argument, rest @ .., value] => {
                let column = |column: &Column| {
                    let (name, unit) = (&column.name, unit_tokens(module, column.unit));
                    quote! { TableColumn { name: #name.into(), unit: #unit } }
                };
                let (argument, value) = (column(argument), column(value));
                let second = match rest.first() {
                    Some(second) => {
                        let second = column(second);
                        quote! { Some(Box::new(#second)) }
                    }
                    None => quote! { None },
                };
                quote! { InputKind::Table(TableColumns { argument: #argument, second: #second, value: #value }) }
            }
            _ => {
                let kind = ident(&format!("{:?}", input_kind(input, TableColumns::default())));
                quote! { InputKind::#kind }
            }
        };
        let unit = unit_tokens(module, input.unit);
        let default = input.default.map(|d| d.to_string()).unwrap_or_default();
        let line = Literal::u32_unsuffixed(input.line);
        quote! { InputInfo { name: #name.into(), kind: #kind, domain: #domain.into(), unit: #unit, default: #default.into(), line: #line } }
    });
    let min_dim = Literal::u32_unsuffixed(module.interface.min_dim);
    let retries = retries(module, program.time_loops).into_iter().map(|retry| {
        let line = Literal::u32_unsuffixed(retry.line);
        let obstacle = match retry.obstacle {
            Some((construct, line)) => {
                let (construct, line) = (&*construct, Literal::u32_unsuffixed(line));
                quote! { Some((#construct.into(), #line)) }
            }
            None => quote! { None },
        };
        quote! { Retry { line: #line, obstacle: #obstacle } }
    });
    let solves = solves(module).into_iter().map(|(line, unknowns)| {
        let (line, unknowns) = (Literal::u32_unsuffixed(line), list(unknowns.into_iter().map(|unknown| quote! { #unknown.into() })));
        quote! { Solve { line: #line, unknowns: #unknowns } }
    });
    let outputs = module.interface.named_outputs().map(|output| {
        let tag = &output.name;
        let kind = ident(match output_kind(module, output) {
            OutputKind::Number => "Number",
            OutputKind::Vector => "Vector",
            OutputKind::Numbers(_) => "Numbers",
            OutputKind::Vectors(_) => "Vectors",
        });
        let entities = output.ty.mapping().map(|set| entity_ident(module.sets.get(set).kind));
        let kind = entities.map_or_else(|| quote! { #kind }, |entities| quote! { #kind(EntityKind::#entities) });
        let unit = match output_unit(module, output) {
            Some(UnitOfOutput::Divided(unit)) => quote! { Some(OutputUnit::Divided(#unit.into())) },
            Some(UnitOfOutput::Si(unit)) => quote! { Some(OutputUnit::Si(#unit.into())) },
            None => quote! { None },
        };
        quote! { OutputInfo { tag: #tag.into(), kind: OutputKind::#kind, unit: #unit } }
    });
    let unit = |dimension| symbol(dimension).map_or_else(|| quote! { None }, |unit| quote! { Some(#unit.into()) });
    let (imports, inputs, retries) = (list(imports), list(inputs), list(retries));
    let (solves, outputs) = (list(solves), list(outputs));
    let ranks = rank_needs(ranks);
    let (coordinates, time) = (unit(module.interface.coordinates), unit(module.interface.time));
    quote! {
        /// Facts of the program for messages at run time.
        pub fn program() -> Program {
            Program {
                name: #name.into(),
                source: Source { file: #file.into(), text: #source, imports: #imports },
                inputs: #inputs,
                min_dim: #min_dim,
                retries: #retries,
                solves: #solves,
                outputs: #outputs,
                axes: AxisUnits { coordinates: #coordinates, time: #time },
                ranks: #ranks,
            }
        }
    }
}

fn rank_needs(ranks: &RankNeeds) -> TokenStream {
    match ranks {
        RankNeeds::Unknown => quote! { RankNeeds::Unknown },
        RankNeeds::Halo(HaloNeeds { layers, cuts, wraps }) => {
            let layers = Literal::u32_unsuffixed(*layers);
            quote! { RankNeeds::Halo(HaloNeeds { layers: #layers, cuts: [#(#cuts),*], wraps: [#(#wraps),*] }) }
        }
        RankNeeds::Refused(RankRefusal { construct, line }) => {
            let (construct, line) = (&**construct, Literal::u32_unsuffixed(*line));
            quote! { RankNeeds::Refused(RankRefusal { construct: #construct.into(), line: #line }) }
        }
    }
}

fn modules(module: &Module, options: &PackageOptions) -> TokenStream {
    if module.kernels.is_empty() {
        return TokenStream::new();
    }
    let back_ends = options.backends.iter().map(|backend| {
        let name = ident(&format!("kernels_{}", backend.name()));
        // The program hands its kernels to the runtime.
        if backend.compiles_at_start() { quote!(pub mod #name;) } else { quote!(mod #name;) }
    });
    let blank = blank();
    quote! { pub mod kernels; #(#back_ends)* #blank }
}

/// Features that the text of a program uses.
#[derive(Default)]
struct Needs {
    launches: bool,
    operations: bool,
    newton: bool,
    domains: bool,
    /// Loops that are over no sequence.
    round_lengths: bool,
    variables: bool,
    /// Enums of the runtime that name operations.
    enums: BTreeSet<&'static str>,
}

impl Needs {
    fn of(module: &Module) -> Self {
        let mut needs = Needs::default();
        for function in module.functions.iter().chain([&module.main]) {
            needs.block(function, &function.body);
        }
        needs
    }

    fn block(&mut self, function: &Function, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { op, .. } => self.operation(function, op),
                StmtKind::Launch { .. } => self.launches = true,
                StmtKind::For { rounds, body } => {
                    self.round_lengths |= !matches!(rounds, Rounds::Sequence { .. });
                    self.block(function, body);
                }
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    fn operation(&mut self, function: &Function, op: &Op) {
        match op.class() {
            OpClass::Domain => self.domains = true,
            OpClass::Solve => {
                self.newton = true;
                self.launches |= !op.equations().is_empty();
            }
            OpClass::Topology | OpClass::Geometry | OpClass::Pointwise | OpClass::Transfer | OpClass::FiniteVolume | OpClass::Reduction => {
                self.operations = true;
                self.enums.extend(enum_of(function, op));
            }
            OpClass::Literal | OpClass::Text | OpClass::Load | OpClass::Input | OpClass::Call | OpClass::Exchange => {}
        }
    }

    fn bound(&self) -> TokenStream {
        let traits = [(self.launches, "Kernels"), (self.operations, "Operations"), (self.newton, "Implicit")];
        let used: Vec<Ident> = traits.into_iter().filter(|(used, _)| *used).map(|(_, name)| ident(name)).collect();
        if used.is_empty() {
            quote! { EquelleRuntime }
        } else {
            quote! { #(#used)+* }
        }
    }

    fn imports(
        &self,
        program: &Program,
        has_inputs: bool,
        memory: Option<&equelle_front::memory::Needs>,
        ranks: &RankNeeds,
    ) -> TokenStream {
        let mut names = vec!["AxisUnits", "Error", "Program", "RankNeeds", "Source"];
        names.extend(match ranks {
            RankNeeds::Unknown => None,
            RankNeeds::Halo(_) => Some("HaloNeeds"),
            RankNeeds::Refused(_) => Some("RankRefusal"),
        });
        names.extend((!program.module.source.imported().is_empty()).then_some("ImportedSource"));
        if has_inputs {
            names.extend(["InputInfo", "InputKind"]);
            let inputs = &program.module.interface.inputs;
            let has_unit = |input: &Data| input.unit.is_some() || input.columns.iter().any(|column| column.unit.is_some());
            names.extend(inputs.iter().any(has_unit).then_some("InputUnit"));
            let has_tables = inputs.iter().any(|input| !input.columns.is_empty());
            names.extend(has_tables.then_some(["TableColumn", "TableColumns"]).into_iter().flatten());
            names.extend(inputs.iter().any(|input| input.columns.len() > 2).then_some("TablePart"));
        }
        let mut outputs = program.module.interface.named_outputs().peekable();
        names.extend(outputs.peek().is_some().then_some(["OutputInfo", "OutputKind"]).into_iter().flatten());
        let has_unit = |output: &Data| output_unit(program.module, output).is_some();
        names.extend(program.module.interface.named_outputs().any(has_unit).then_some("OutputUnit"));
        let names_entities = self.domains || memory.is_some() || outputs.any(|output| output.ty.mapping().is_some());
        names.extend(names_entities.then_some("EntityKind"));
        names.extend((!program.checkpoints.loops.is_empty()).then_some(["Checkpoint", "Observed"]).into_iter().flatten());
        names.extend(self.variables.then_some("Variable"));
        names.extend((!program.time_loops.is_empty()).then_some("Retry"));
        names.extend(self.round_lengths.then_some("RoundLength"));
        names.extend(newton_place(program.module).is_some().then_some("Solve"));
        if let Some(memory) = memory {
            names.push("MemoryPlan");
            names.extend((!memory.sets.is_empty()).then_some(["SetMemory", "Buffers"]).into_iter().flatten());
            names.extend((!memory.solves.is_empty()).then_some("SolveMemory"));
        }
        names.extend(program.geometry.iter().any(|(_, kept)| !kept.is_empty()).then_some("GeometryArray"));
        if self.domains || memory.is_some() {
            names.extend(["CanonicalSet", "Extent"]);
        }
        names.extend(&self.enums);
        names.extend(self.newton.then_some("Implicit"));
        names.extend(self.operations.then_some("Operations"));
        if !(self.launches || self.operations || self.newton) {
            names.push("EquelleRuntime");
        }
        names.sort_unstable();
        let names = names.into_iter().map(ident);
        let kernels = self.launches.then(|| {
            let with_arguments = program.module.kernels.iter().zip(&program.kernels).filter(|(k, _)| !k.params.is_empty());
            let mut names: Vec<&str> = with_arguments.map(|(_, n)| n.arguments.as_str()).chain(["Kernels"]).collect();
            names.sort_unstable();
            let names = names.into_iter().map(ident);
            quote! { use kernels::{#(#names),*}; }
        });
        quote! {
            use equelle_runtime::{#(#names),*};
            #kernels
        }
    }
}

/// The enum of the runtime that tells the method of an operation what to do.
fn enum_of(function: &Function, op: &Op) -> Option<&'static str> {
    let ty = |v: &ValueId| function.values[v.0 as usize].ty;
    if let Op::Compare(_, a, _) = op {
        // Equality of truth values is made of logic, that of entities has a method of its own.
        return (ty(a).basic == Basic::Scalar).then_some("Comparison");
    }
    if let Op::Reduce(reduction, _) = op {
        return Some(match reduction {
            Reduction::Max | Reduction::Min | Reduction::Sum | Reduction::Prod => "Reduction",
            Reduction::Any | Reduction::All => "BoolReduction",
        });
    }
    match op {
        Op::FaceReduce { .. } => Some("FaceReduction"),
        Op::Unary(UnaryOp::Elementary(_), _) => Some("Elementary"),
        Op::Math(..) => Some("BinaryMath"),
        _ => None,
    }
}
