//! Operations to method calls, by the types of their operands.

use equelle_front::backend::BackendError;
use equelle_front::ir::{FunctionId, KernelId, Op, UnaryOp, ValueId};
use equelle_front::ops::{Arithmetic, Comparison, Logic, Reduction};
use equelle_front::source::Span;
use equelle_front::types::{Basic, CanonicalSet, EntityKind, Extent, Shape, Type};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::super::rust::ident;
use super::function::FunctionWriter;

/// What the choice of a method looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Single Scalar.
    Scalar,
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
            (Shape::Collection(_), Basic::Scalar) => Class::Scalars,
            (Shape::Collection(_), Basic::Vector) => Class::Vectors,
            (Shape::Collection(_), Basic::Bool) => Class::Bools,
            (Shape::Collection(_) | Shape::Domain(_), Basic::Entity(_)) => Class::Entities,
            (Shape::Sequence, Basic::Scalar) => Class::Sequence,
            (Shape::Single, Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text)
            | (Shape::Collection(_), Basic::Text)
            | (Shape::Domain(_), Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Text)
            | (Shape::Sequence, Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text) => Class::Other,
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
                let name = &self.mutables[mutable.0 as usize];
                Ok(quote! { #name.clone() })
            }
            Op::Bool(_) => Err(unsupported(span, "a truth value on its own")),
            Op::Text(_) => Err(BackendError::internal(span, "text as an operation")),
            Op::InputScalar { name, default } => self.call("input_scalar", &[*name, *default]),
            Op::InputCollection { name, domain } => self.call("input_collection", &[*name, *domain]),
            Op::InputDomain { name, within } => self.call("input_domain", &[*name, *within]),
            Op::InputSequence { name } => self.call("input_sequence", &[*name]),
            Op::FirstCell(faces) => self.call_on_entities("first_cell", *faces),
            Op::SecondCell(faces) => self.call_on_entities("second_cell", *faces),
            Op::IsEmpty(entities) => self.call_on_entities("is_empty", *entities),
            Op::Centroid(entities) => self.call_on_entities("centroid", *entities),
            Op::Normal(faces) => self.call_on_entities("normal", *faces),
            Op::Measure(entities) => self.call_on_entities("measure", *entities),
            Op::Unary(op, a) => self.unary(*op, *a, span),
            Op::Arithmetic(op, a, b) => self.arithmetic(*op, *a, *b, span),
            Op::Compare(op, a, b) => self.compare(*op, *a, *b, span),
            Op::Logic(op, a, b) => {
                let method = match op {
                    Logic::And => "and",
                    Logic::Or => "or",
                    Logic::Xor => "xor",
                };
                if (self.class(*a), self.class(*b)) != (Class::Bools, Class::Bools) {
                    return Err(unsupported(span, "logic of anything but two Collections Of Bool"));
                }
                self.call(method, &[*a, *b])
            }
            Op::Select { condition, if_true, if_false } => self.select(*condition, *if_true, *if_false, span),
            Op::On { data, target } => {
                let method = match self.class(*data) {
                    Class::Scalars => "on",
                    Class::Vectors => "on_vectors",
                    Class::Bools => "on_bools",
                    Class::Entities => "on_entities",
                    Class::Scalar | Class::Sequence | Class::Other => return Err(unsupported(span, "`On` for data that is no collection")),
                };
                let (data, target) = (self.by_entities(*data)?, self.by_entities(*target)?);
                let method = ident(method);
                Ok(quote! { rt.#method(#data, #target)? })
            }
            Op::Extend { data, domain } => {
                let method = match self.class(*data) {
                    Class::Scalars => "extend",
                    Class::Vectors => "extend_vectors",
                    Class::Bools => "extend_bools",
                    Class::Entities => "extend_entities",
                    Class::Scalar | Class::Sequence | Class::Other => {
                        return Err(unsupported(span, "`Extend` for data that is no collection"));
                    }
                };
                let (data, domain) = (self.by_entities(*data)?, self.by_ref(*domain)?);
                let method = ident(method);
                Ok(quote! { rt.#method(#data, #domain)? })
            }
            Op::Spread { value, domain } => match self.class(*value) {
                Class::Scalar => self.call("spread", &[*value, *domain]),
                Class::Scalars | Class::Vectors | Class::Bools | Class::Entities | Class::Sequence | Class::Other => {
                    Err(unsupported(span, "`Extend` of one value that is no Scalar"))
                }
            },
            Op::Gradient(values) => self.call("gradient", &[*values]),
            Op::Divergence(values) => self.call("divergence", &[*values]),
            Op::Dot(a, b) => match (self.class(*a), self.class(*b)) {
                (Class::Vectors, Class::Vectors) => self.call("dot", &[*a, *b]),
                _ => Err(unsupported(span, "`Dot` of anything but two Collections Of Vector")),
            },
            Op::Component(vector, index) => {
                if self.class(*vector) != Class::Vectors {
                    return Err(unsupported(span, "the component of anything but a Collection Of Vector"));
                }
                let (vector, index) = (self.by_ref(*vector)?, Literal::u32_unsuffixed(*index));
                Ok(quote! { rt.component(#vector, #index)? })
            }
            Op::Reduce(reduction, values) => {
                let (values, reduction) = (self.by_ref(*values)?, reduction_name(*reduction));
                Ok(quote! { rt.reduce(Reduction::#reduction, #values)? })
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
            Op::Newton { residuals, captures, guesses } => self.newton(residuals, captures, guesses, span),
        }
    }

    /// The call that solves with Newton's method, with `?`. The residual is a closure that adds the captured arguments.
    fn newton(
        &mut self,
        residuals: &[FunctionId],
        captures: &[Vec<ValueId>],
        guesses: &[ValueId],
        span: Span,
    ) -> Result<TokenStream, BackendError> {
        if guesses.iter().any(|guess| self.class(*guess) != Class::Scalars) {
            return Err(unsupported(span, "Newton's method for an unknown that is no Collection Of Scalar"));
        }
        let program = self.program;
        let function = |id: &FunctionId| &program.module.functions[id.0 as usize];
        let names = self.names();
        let unknowns: Vec<Ident> = match residuals.first() {
            Some(first) => {
                let first = function(first);
                let params = first.params.iter().take(guesses.len());
                params.map(|param| self.fresh(&first.values[param.0 as usize].name)).collect()
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
        let guesses = guesses.iter().map(|guess| self.by_ref(*guess)).collect::<Result<Vec<_>, _>>()?;
        self.forget_names_since(names, &[]);
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
        let (params, names) = (&program.module.kernels[kernel.0 as usize].params, &program.kernels[kernel.0 as usize]);
        let method = ident(&names.method);
        if params.is_empty() {
            return Ok(quote! { rt.#method()? });
        }
        let arguments = ident(&names.arguments);
        let mut fields = Vec::new();
        for ((arg, param), field) in args.iter().zip(params).zip(&names.params) {
            let (field, value) = (ident(field), self.by_ref_as(*arg, &param.ty)?);
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
        let args = args.iter().map(|a| self.by_ref(*a)).collect::<Result<Vec<_>, _>>()?;
        let method = ident(method);
        Ok(quote! { rt.#method(#(#args),*)? })
    }

    fn call_on_entities(&mut self, method: &str, entities: ValueId) -> Result<TokenStream, BackendError> {
        let (method, entities) = (ident(method), self.by_entities(entities)?);
        Ok(quote! { rt.#method(#entities)? })
    }

    fn unary(&mut self, op: UnaryOp, a: ValueId, span: Span) -> Result<TokenStream, BackendError> {
        let method = match (op, self.class(a)) {
            (UnaryOp::Neg, Class::Scalar) => "scalar_neg",
            (UnaryOp::Neg, Class::Scalars) => "neg",
            (UnaryOp::Neg, Class::Vectors) => "vector_neg",
            (UnaryOp::Neg, Class::Sequence) => "sequence_neg",
            (UnaryOp::Not, Class::Bools) => "not",
            (UnaryOp::Abs, Class::Scalar) => "scalar_abs",
            (UnaryOp::Abs, Class::Scalars) => "abs",
            (UnaryOp::Sqrt, Class::Scalar) => "scalar_sqrt",
            (UnaryOp::Sqrt, Class::Scalars) => "sqrt",
            (UnaryOp::Length, Class::Vectors) => "length",
            (UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Length, _) => {
                return Err(unsupported(span, "this operation for an operand of this type"));
            }
        };
        self.call(method, &[a])
    }

    fn arithmetic(&mut self, op: Arithmetic, a: ValueId, b: ValueId, span: Span) -> Result<TokenStream, BackendError> {
        use Arithmetic::{Add, Div, Mul, Sub};
        let pick = |add, sub, mul, div| match op {
            Add => add,
            Sub => sub,
            Mul => mul,
            Div => div,
        };
        let (method, swapped) = match (op, self.class(a), self.class(b)) {
            (_, Class::Scalar, Class::Scalar) => (pick("scalars_add", "scalars_sub", "scalars_mul", "scalars_div"), false),
            (_, Class::Scalars, Class::Scalars) => (pick("add", "sub", "mul", "div"), false),
            (Mul, Class::Scalars, Class::Scalar) => ("mul_scalar", false),
            (Mul, Class::Scalar, Class::Scalars) => ("scalar_mul", false),
            (Div, Class::Scalars, Class::Scalar) => ("div_scalar", false),
            (Div, Class::Scalar, Class::Scalars) => ("scalar_div", false),
            (Add, Class::Vectors, Class::Vectors) => ("vector_add", false),
            (Sub, Class::Vectors, Class::Vectors) => ("vector_sub", false),
            (Mul, Class::Vectors, Class::Scalars) => ("vector_mul", false),
            (Mul, Class::Scalars, Class::Vectors) => ("vector_mul", true),
            (Div, Class::Vectors, Class::Scalars) => ("vector_div", false),
            (Mul, Class::Vectors, Class::Scalar) => ("vector_mul_scalar", false),
            (Mul, Class::Scalar, Class::Vectors) => ("vector_mul_scalar", true),
            (Div, Class::Vectors, Class::Scalar) => ("vector_div_scalar", false),
            (Mul, Class::Sequence, Class::Scalar) => ("sequence_mul", false),
            (Mul, Class::Scalar, Class::Sequence) => ("sequence_mul", true),
            (Div, Class::Sequence, Class::Scalar) => ("sequence_div", false),
            (Add | Sub | Mul | Div, _, _) => return Err(unsupported(span, "arithmetic of operands of these types")),
        };
        // Products commute, bit for bit.
        self.call(method, &if swapped { [b, a] } else { [a, b] })
    }

    fn compare(&mut self, op: Comparison, a: ValueId, b: ValueId, span: Span) -> Result<TokenStream, BackendError> {
        let method = match (self.class(a), self.class(b)) {
            (Class::Scalars, Class::Scalars) => "compare",
            (Class::Scalars, Class::Scalar) => "compare_scalar",
            (Class::Scalar, Class::Scalars) => "scalar_compare",
            (Class::Bools, Class::Bools) => return self.compare_bools(op, a, b, span),
            _ => return Err(unsupported(span, "a comparison of operands of these types")),
        };
        let (a, b) = (self.by_ref(a)?, self.by_ref(b)?);
        let (method, op) = (ident(method), comparison_name(op));
        Ok(quote! { rt.#method(Comparison::#op, #a, #b)? })
    }

    /// Unequal is exclusive or; equal is its inverse.
    fn compare_bools(&mut self, op: Comparison, a: ValueId, b: ValueId, span: Span) -> Result<TokenStream, BackendError> {
        let unequal = self.call("xor", &[a, b])?;
        match op {
            Comparison::NotEqual => Ok(unequal),
            Comparison::Equal => {
                let name = self.fresh("unequal");
                self.group.extend(quote! { let #name = #unequal; });
                Ok(quote! { rt.not(&#name)? })
            }
            Comparison::Less | Comparison::Greater | Comparison::LessEqual | Comparison::GreaterEqual => {
                Err(unsupported(span, "an order of truth values"))
            }
        }
    }

    fn select(&mut self, condition: ValueId, a: ValueId, b: ValueId, span: Span) -> Result<TokenStream, BackendError> {
        if self.class(condition) != Class::Bools {
            return Err(unsupported(span, "`? :` with a condition that is no Collection Of Bool"));
        }
        let method = match (self.class(a), self.class(b)) {
            (Class::Scalars, Class::Scalars) => "select",
            (Class::Entities, Class::Entities) => "select_entities",
            _ => return Err(unsupported(span, "`? :` with branches of these types")),
        };
        let (condition, a, b) = (self.by_ref(condition)?, self.by_entities(a)?, self.by_entities(b)?);
        let method = ident(method);
        Ok(quote! { rt.#method(#condition, #a, #b)? })
    }
}

fn unsupported(span: Span, what: &str) -> BackendError {
    BackendError::new(span, format!("{what} is not available at operation level yet"))
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

fn canonical_set(set: CanonicalSet) -> TokenStream {
    let kind = ident(match set.kind {
        EntityKind::Cell => "Cell",
        EntityKind::Face => "Face",
        EntityKind::Edge => "Edge",
        EntityKind::Vertex => "Vertex",
    });
    let extent = ident(match set.extent {
        Extent::Interior => "Interior",
        Extent::Boundary => "Boundary",
        Extent::All => "All",
    });
    quote! { CanonicalSet::new(EntityKind::#kind, Extent::#extent) }
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

fn reduction_name(reduction: Reduction) -> Ident {
    ident(match reduction {
        Reduction::Max => "Max",
        Reduction::Min => "Min",
        Reduction::Sum => "Sum",
        Reduction::Prod => "Prod",
    })
}
