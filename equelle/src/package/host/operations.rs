//! Operations to method calls, by the types of their operands.

use equelle_front::backend::BackendError;
use equelle_front::ir::{Carried, FunctionId, KernelId, Op, ParamId, UnaryOp, ValueId};
use equelle_front::ops::{Arithmetic, CellFact, Comparison, FaceReduction, GridNumber, InputElement, Logic, Reduction};
use equelle_front::source::Span;
use equelle_front::types::{Basic, Shape, Type};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::super::rust::ident;
use super::super::sets::canonical_set;
use super::bindings::Binding;
use super::function::FunctionWriter;

/// Class of a value, by which a method is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Single Scalar.
    Scalar,
    /// Single Vector.
    Vector,
    /// Single Bool.
    Bool,
    /// Collection Of Scalar.
    Scalars,
    /// Collection Of Vector.
    Vectors,
    /// Collection Of Bool.
    Bools,
    /// Entity collection or domain.
    Entities,
    /// Sequence Of Scalar.
    Sequence,
    /// Anything the operation level has no operations for.
    Other,
}

impl Class {
    fn of(ty: &Type) -> Self {
        match (ty.shape, ty.basic) {
            (Shape::Single, Basic::Scalar) => Class::Scalar,
            (Shape::Single, Basic::Vector) => Class::Vector,
            (Shape::Single, Basic::Bool) => Class::Bool,
            (Shape::Collection(_), Basic::Scalar) => Class::Scalars,
            (Shape::Collection(_), Basic::Vector) => Class::Vectors,
            (Shape::Collection(_), Basic::Bool) => Class::Bools,
            (Shape::Collection(_) | Shape::Domain(_), Basic::Entity(_)) => Class::Entities,
            (Shape::Sequence, Basic::Scalar) => Class::Sequence,
            (Shape::Single, Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_))
            | (Shape::Collection(_), Basic::Text | Basic::Table | Basic::Axis(_))
            | (Shape::Domain(_), Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_))
            | (Shape::Sequence, Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_)) => {
                Class::Other
            }
        }
    }
}

impl FunctionWriter<'_> {
    fn class(&self, value: ValueId) -> Class {
        Class::of(&self.ty(value))
    }

    /// The call that computes an operation, with `?`.
    pub(super) fn operation(&mut self, op: &Op, results: &[ValueId], span: Span) -> Result<TokenStream, BackendError> {
        match op {
            Op::Real(number) => {
                let number = real(*number);
                Ok(quote! { rt.scalar(#number) })
            }
            Op::CanonicalSet(set) => {
                let set = canonical_set(*set);
                Ok(quote! { rt.domain(#set)? })
            }
            Op::Load(mutable) => {
                let name = &self.bindings.mutables[mutable.0 as usize];
                Ok(quote! { #name.clone() })
            }
            Op::Bool(truth) => Ok(quote! { rt.bool(#truth) }),
            Op::Text(text) => Ok(quote! { #text.to_owned() }),
            Op::TextIndex(text, index) => {
                let (text, format) = (self.bindings.by_ref(*text)?, format!("{{}}_{index}"));
                Ok(quote! { format!(#format, #text) })
            }
            Op::InputScalar { name, default } => self.call("input_scalar", &[*name, *default]),
            Op::InputCollection { element, name, domain } => {
                let method = match element {
                    InputElement::Scalar => "input_collection",
                    InputElement::Vector => "input_vectors",
                    InputElement::Bool => "input_bools",
                };
                self.call(method, &[*name, *domain])
            }
            Op::InputDomain { name, within } => self.call("input_domain", &[*name, *within]),
            Op::Where { within, condition } => {
                let set = results.first().and_then(|result| self.ty(*result).mapping());
                let name = set.map_or("", |set| &self.program.module.sets.get(set).name);
                let name = name.to_owned();
                let (within, condition) = (self.bindings.by_ref(*within)?, self.bindings.by_ref(*condition)?);
                Ok(quote! { rt.domain_where(#name, #within, #condition)? })
            }
            Op::InputSequence { name } => self.call("input_sequence", &[*name]),
            Op::InputTable { name, argument, value } => self.call("input_table", &[*name, *argument, *value]),
            Op::InputTable2 { name, arguments: [first, second], value, part } => {
                let [name, first, second, value] = [
                    self.bindings.by_ref(*name)?,
                    self.bindings.by_ref(*first)?,
                    self.bindings.by_ref(*second)?,
                    self.bindings.by_ref(*value)?,
                ];
                let part = ident(&format!("{part:?}"));
                Ok(quote! { rt.input_table2(#name, #first, #second, #value, TablePart::#part)? })
            }
            Op::Interpolate { table, argument } => self.call("interpolate", &[*table, *argument]),
            Op::Step(length) => self.call("take_step", &[*length]),
            Op::FirstCell(faces) => self.call_on_entities("first_cell", *faces),
            Op::SecondCell(faces) => self.call_on_entities("second_cell", *faces),
            Op::Shift { cells, by, beyond } => {
                let cells = self.by_entities(*cells)?;
                let [a, b, c] = by.map(proc_macro2::Literal::i8_unsuffixed);
                let maps = beyond.iter().map(|map| ident(&format!("{map:?}")));
                Ok(quote! { rt.offset_cells(#cells, [#a, #b, #c], [#(equelle_runtime::grid::SideMap::#maps),*])? })
            }
            Op::CellFact { fact, cells } => {
                let cells = self.by_entities(*cells)?;
                Ok(match *fact {
                    CellFact::Outside { axis, by } => {
                        let (axis, by) = (proc_macro2::Literal::u8_unsuffixed(axis), proc_macro2::Literal::i8_unsuffixed(by));
                        quote! { rt.is_outside(#cells, #axis, #by)? }
                    }
                    CellFact::Index(axis) => {
                        let axis = proc_macro2::Literal::u8_unsuffixed(axis);
                        quote! { rt.index_along(#cells, #axis)? }
                    }
                    CellFact::Even([a, b, c]) => quote! { rt.is_even(#cells, [#a, #b, #c])? },
                })
            }
            Op::GridNumber(number) => {
                let (method, axis) = match number {
                    GridNumber::Width(axis) => ("cell_width", axis),
                    GridNumber::Extent(axis) => ("cells_along", axis),
                };
                let (method, axis) = (ident(method), proc_macro2::Literal::u8_unsuffixed(*axis));
                Ok(quote! { rt.#method(#axis)? })
            }
            Op::IsEmpty(entities) => self.call_on_entities("is_empty", *entities),
            Op::OneCell(faces) => self.call_on_entities("one_cell", *faces),
            Op::Centroid(entities) => self.call_on_entities("centroid", *entities),
            Op::Normal(faces) => self.call_on_entities("normal", *faces),
            Op::FaceGap(faces) => self.call_on_entities("face_gap", *faces),
            Op::FaceTransmissibility(faces) => self.call_on_entities("face_transmissibility", *faces),
            Op::Measure(entities) => self.call_on_entities("measure", *entities),
            Op::Unary(op, a) => self.unary(*op, *a),
            Op::Arithmetic(op, a, b) => self.arithmetic(*op, *a, *b),
            Op::Compare(op, a, b) => self.compare(*op, *a, *b, span),
            Op::Logic(op, a, b) => self.logic(*op, *a, *b),
            Op::Select { condition, if_true, if_false } => {
                let ty = results.first().map_or(Type::SCALAR, |result| self.ty(*result));
                self.select(*condition, *if_true, *if_false, &ty)
            }
            Op::On { data, target } => {
                let (data, target) = (self.by_entities(*data)?, self.by_entities(*target)?);
                Ok(quote! { rt.on(#data, #target)? })
            }
            Op::Extend { data, domain } => {
                let (data, domain) = (self.by_entities(*data)?, self.bindings.by_ref(*domain)?);
                Ok(quote! { rt.extend(#data, #domain)? })
            }
            Op::Broadcast { value, domain } => {
                let (value, domain) = (self.bindings.by_ref(*value)?, self.domain_of(*domain)?);
                Ok(quote! { rt.broadcast(#value, #domain)? })
            }
            Op::Exchange { value, depth } => {
                let (value, depth) = (exchanged(self, *value)?, Literal::u32_unsuffixed(*depth));
                Ok(quote! { rt.exchange(#value, #depth)? })
            }
            Op::Gradient(values) => self.call("gradient", &[*values]),
            Op::Divergence(values) => self.call("divergence", &[*values]),
            Op::FaceReduce { reduction, first, second } => {
                let (reduction, first, second) =
                    (face_reduction_name(*reduction), self.bindings.by_ref(*first)?, self.bindings.by_ref(*second)?);
                Ok(quote! { rt.face_reduce(#reduction, #first, #second)? })
            }
            Op::Dot(a, b) => self.call("dot", &[*a, *b]),
            Op::Component(vector, index) => {
                let (vector, index) = (self.bindings.by_ref(*vector)?, Literal::u32_unsuffixed(*index));
                Ok(quote! { rt.component(#vector, #index)? })
            }
            Op::Vector(components) => self.vector(components),
            Op::Math(op, a, b) => {
                let (op, a, b) = (ident(op.name()), self.bindings.by_ref(*a)?, self.bindings.by_ref(*b)?);
                Ok(quote! { rt.math(BinaryMath::#op, #a, #b)? })
            }
            Op::Reduce(reduction, values) => {
                let (values, reduction) = (self.bindings.by_ref(*values)?, reduction_name(*reduction));
                Ok(quote! { rt.reduce(#reduction, #values)? })
            }
            Op::Call { function, args } => {
                let callee = &self.program.module.functions[function.0 as usize];
                let name = ident(&self.program.functions[function.0 as usize]);
                let mut tokens = Vec::new();
                for (arg, param) in args.iter().zip(&callee.params) {
                    tokens.push(self.by_ref_as(*arg, &callee.values[param.0 as usize].ty)?);
                }
                // The callee leaves its own lines behind.
                self.line = None;
                if results.len() != callee.results.len() {
                    return Err(BackendError::internal(span, format!("`{}` has {} results", callee.name, callee.results.len())));
                }
                Ok(quote! { #name(rt #(, #tokens)*)? })
            }
            Op::Newton { residuals, captures, guesses, equations, .. } if !equations.is_empty() => {
                self.newton_by_kernels(residuals, captures, guesses, equations, span)
            }
            Op::Newton { residuals, captures, guesses, carried, .. } => self.newton(residuals, captures, guesses, carried, span),
        }
    }

    /// The call that solves with Newton's method, with `?`. The residual is a closure that adds the
    /// captured arguments.
    fn newton(
        &mut self,
        residuals: &[FunctionId],
        captures: &[Vec<ValueId>],
        guesses: &[ValueId],
        carried: &[Carried],
        span: Span,
    ) -> Result<TokenStream, BackendError> {
        if !carried.is_empty() {
            return self.newton_carrying(residuals, captures, guesses, carried, span);
        }
        if guesses.iter().any(|guess| self.class(*guess) != Class::Scalars) {
            return Err(unsupported(span, "Newton's method for an unknown that is no Collection Of Scalar"));
        }
        let program = self.program;
        let function = |id: &FunctionId| &program.module.functions[id.0 as usize];
        let names = self.bindings.names();
        let unknowns: Vec<Ident> = match residuals.first() {
            Some(first) => {
                let first = function(first);
                let params = first.params.iter().take(guesses.len());
                params.map(|param| self.bindings.fresh(&first.values[param.0 as usize].name)).collect()
            }
            None => return Err(BackendError::internal(span, "Newton's method without a residual")),
        };
        let mut equations = Vec::with_capacity(residuals.len());
        for (residual, captures) in residuals.iter().zip(captures) {
            let callee = function(residual);
            if callee.results.len() != 1 {
                return Err(BackendError::internal(span, format!("residual `{}` has {} results", callee.name, callee.results.len())));
            }
            let mut args = Vec::with_capacity(captures.len());
            for (capture, param) in captures.iter().zip(callee.params.iter().skip(guesses.len())) {
                args.push(self.by_ref_as(*capture, &callee.values[param.0 as usize].ty)?);
            }
            let name = ident(&program.functions[residual.0 as usize]);
            equations.push(quote! { #name(rt #(, #unknowns)* #(, #args)*) });
        }
        let guesses = guesses.iter().map(|guess| self.bindings.by_ref(*guess)).collect::<Result<Vec<_>, _>>()?;
        self.bindings.forget_names_since(names, &[]);
        // The residuals leave their own lines behind.
        self.line = None;
        Ok(match (guesses.as_slice(), equations.as_slice()) {
            ([guess], [equation]) => quote! { rt.newton_solve(#guess, &mut |rt, #(#unknowns),*| #equation)? },
            _ => quote! { rt.newton_solve_system([#(#guesses),*], &mut |rt, [#(#unknowns),*]| Ok([#(#equations?),*]))?.into() },
        })
    }

    /// The call that launches a kernel, with `?`.
    pub(super) fn launch(&mut self, kernel: KernelId, args: &[ValueId]) -> Result<TokenStream, BackendError> {
        let program = self.program;
        let (kernel, names) = (&program.module.kernels[kernel.0 as usize], &program.kernels[kernel.0 as usize]);
        let params = &kernel.params;
        let method = ident(&names.method);
        if params.is_empty() {
            return Ok(quote! { rt.#method()? });
        }
        let arguments = ident(&names.arguments);
        let mut fields = Vec::new();
        for (((id, arg), param), field) in (0..).map(ParamId).zip(args).zip(params).zip(&names.params) {
            let given = kernel.result_in(id).is_some();
            let (field, value) = (ident(field), if given { self.bindings.given_away(*arg)? } else { self.by_ref_as(*arg, &param.ty)? });
            // A parameter of the surrounding function is a reference of the same name, perhaps.
            fields.push(if field == value.to_string() {
                quote! { #field }
            } else {
                quote! { #field: #value }
            });
        }
        Ok(quote! { rt.#method(#arguments { #(#fields),* })? })
    }

    /// `rt.method(&a, &b)?`
    fn call(&mut self, method: &str, args: &[ValueId]) -> Result<TokenStream, BackendError> {
        let args = args.iter().map(|a| self.bindings.by_ref(*a)).collect::<Result<Vec<_>, _>>()?;
        let method = ident(method);
        Ok(quote! { rt.#method(#(#args),*)? })
    }

    /// Reference to a domain, or to that of a collection of values.
    fn domain_of(&self, value: ValueId) -> Result<TokenStream, BackendError> {
        let data = self.bindings.by_ref(value)?;
        Ok(match self.class(value) {
            Class::Scalars | Class::Vectors | Class::Bools => quote! { &rt.domain_of(#data) },
            Class::Entities | Class::Scalar | Class::Vector | Class::Bool | Class::Sequence | Class::Other => data,
        })
    }

    fn call_on_entities(&mut self, method: &str, entities: ValueId) -> Result<TokenStream, BackendError> {
        let (method, entities) = (ident(method), self.by_entities(entities)?);
        Ok(quote! { rt.#method(#entities)? })
    }

    fn unary(&mut self, op: UnaryOp, a: ValueId) -> Result<TokenStream, BackendError> {
        let method = match op {
            UnaryOp::Neg => "neg",
            UnaryOp::Not => "not",
            UnaryOp::Abs => "abs",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::Length => "length",
            UnaryOp::Elementary(function) => {
                // The runtime names them as the language does.
                let (function, a) = (ident(function.name()), self.bindings.by_ref(a)?);
                return Ok(quote! { rt.elementary(Elementary::#function, #a)? });
            }
        };
        self.call(method, &[a])
    }

    fn arithmetic(&mut self, op: Arithmetic, a: ValueId, b: ValueId) -> Result<TokenStream, BackendError> {
        let method = match op {
            Arithmetic::Add => "add",
            Arithmetic::Sub => "sub",
            Arithmetic::Mul => "mul",
            Arithmetic::Div => "div",
        };
        // A back-end has products of Vectors and sequences by numbers; they commute, bit for bit.
        let is_number = |class| matches!(class, Class::Scalar | Class::Scalars);
        let is_swapped = op == Arithmetic::Mul && is_number(self.class(a)) && !is_number(self.class(b));
        self.call(method, &if is_swapped { [b, a] } else { [a, b] })
    }

    fn compare(&mut self, op: Comparison, a: ValueId, b: ValueId, span: Span) -> Result<TokenStream, BackendError> {
        match self.class(a) {
            Class::Bool | Class::Bools => {
                let unequal = self.logic(Logic::Xor, a, b)?;
                self.equality(op, unequal, false, span)
            }
            Class::Entities => {
                let (a, b) = (self.by_entities(a)?, self.by_entities(b)?);
                self.equality(op, quote! { rt.same_entities(#a, #b)? }, true, span)
            }
            Class::Scalar | Class::Vector | Class::Scalars | Class::Vectors | Class::Sequence | Class::Other => {
                let (op, a, b) = (comparison_name(op), self.bindings.by_ref(a)?, self.bindings.by_ref(b)?);
                Ok(quote! { rt.compare(Comparison::#op, #a, #b)? })
            }
        }
    }

    /// `==` or `!=` from one of the two, which `equal` tells.
    fn equality(&mut self, op: Comparison, known: TokenStream, equal: bool, span: Span) -> Result<TokenStream, BackendError> {
        match op {
            Comparison::Equal if equal => Ok(known),
            Comparison::NotEqual if !equal => Ok(known),
            Comparison::Equal | Comparison::NotEqual => {
                let name = self.bindings.fresh(if equal { "same" } else { "unequal" });
                self.group.extend(quote! { let #name = #known; });
                Ok(quote! { rt.not(&#name)? })
            }
            Comparison::Less | Comparison::Greater | Comparison::LessEqual | Comparison::GreaterEqual => {
                Err(unsupported(span, "an order of truth values or entities"))
            }
        }
    }

    fn logic(&mut self, op: Logic, a: ValueId, b: ValueId) -> Result<TokenStream, BackendError> {
        let method = match op {
            Logic::And => "and",
            Logic::Or => "or",
            Logic::Xor => "xor",
        };
        // One truth value for all elements comes second; all three commute.
        let is_swapped = self.class(a) == Class::Bool && self.class(b) == Class::Bools;
        self.call(method, &if is_swapped { [b, a] } else { [a, b] })
    }

    /// Composes Vectors from single components, or from collections with single ones broadcast.
    fn vector(&mut self, components: &[ValueId]) -> Result<TokenStream, BackendError> {
        let sample = components.iter().copied().find(|c| self.class(*c) == Class::Scalars);
        let mut parts = Vec::with_capacity(components.len());
        for &component in components {
            let part = self.bindings.by_ref(component)?;
            parts.push(match sample {
                Some(sample) if self.class(component) == Class::Scalar => {
                    let (name, domain) = (self.bindings.fresh("component"), self.domain_of(sample)?);
                    self.group.extend(quote! { let #name = rt.broadcast(#part, #domain)?; });
                    quote! { &#name }
                }
                Some(_) | None => part,
            });
        }
        Ok(quote! { rt.vector(&[#(#parts),*])? })
    }

    fn select(&mut self, condition: ValueId, a: ValueId, b: ValueId, ty: &Type) -> Result<TokenStream, BackendError> {
        let given = self.bindings.by_ref(condition)?;
        if self.class(condition) == Class::Bool {
            let (a, b) = (self.by_ref_as(a, ty)?, self.by_ref_as(b, ty)?);
            return Ok(quote! { rt.choose(#given, #a, #b)? });
        }
        let (a, b) = (self.by_entities(a)?, self.by_entities(b)?);
        Ok(quote! { rt.select(#given, #a, #b)? })
    }
}

fn unsupported(span: Span, what: &str) -> BackendError {
    BackendError::internal(span, format!("{what}, which the checker should have refused"))
}

/// `&mut u`, for a value that an exchange changes.
fn exchanged(writer: &FunctionWriter<'_>, value: ValueId) -> Result<TokenStream, BackendError> {
    let name = match writer.bindings.binding(value)? {
        Binding::Local(name) => name,
        Binding::Mutable(mutable) => &writer.bindings.mutables[mutable.0 as usize],
        Binding::Param(_) | Binding::Text(_) => {
            return Err(BackendError::internal(writer.function.span, "an exchange of what is no variable"));
        }
    };
    Ok(quote! { &mut #name })
}

/// A literal of type f64 that reads back to the same bits.
pub(super) fn real(number: f64) -> TokenStream {
    if number.is_nan() {
        quote! { f64::NAN }
    } else if number == f64::INFINITY {
        quote! { f64::INFINITY }
    } else if number == f64::NEG_INFINITY {
        quote! { f64::NEG_INFINITY }
    } else if number.is_sign_negative() {
        let magnitude = Literal::f64_unsuffixed(-number);
        quote! { -#magnitude }
    } else {
        let number = Literal::f64_unsuffixed(number);
        quote! { #number }
    }
}

fn comparison_name(op: Comparison) -> Ident {
    ident(match op {
        Comparison::Less => "Less",
        Comparison::Greater => "Greater",
        Comparison::LessEqual => "LessEqual",
        Comparison::GreaterEqual => "GreaterEqual",
        Comparison::Equal => "Equal",
        Comparison::NotEqual => "NotEqual",
    })
}

fn face_reduction_name(reduction: FaceReduction) -> TokenStream {
    match reduction {
        FaceReduction::Sum => quote! { FaceReduction::Sum },
        FaceReduction::Max => quote! { FaceReduction::Max },
        FaceReduction::Min => quote! { FaceReduction::Min },
    }
}

fn reduction_name(reduction: Reduction) -> TokenStream {
    match reduction {
        Reduction::Max => quote! { Reduction::Max },
        Reduction::Min => quote! { Reduction::Min },
        Reduction::Sum => quote! { Reduction::Sum },
        Reduction::Prod => quote! { Reduction::Prod },
        Reduction::Any => quote! { BoolReduction::Any },
        Reduction::All => quote! { BoolReduction::All },
    }
}
