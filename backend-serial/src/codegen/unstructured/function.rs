//! The general form: any grid, one entity after the other.

use equelle_front::backend::Namer;
use equelle_front::ir::{CheckKind, KExpr, KResult, Kernel, ParamId, Path, Space};
use equelle_front::ops::Reduction;
use equelle_front::types::{Basic, SetId, Shape};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::elementwise::{is_elementwise, loop_over_slices};
use super::functions_of_elements::{FunctionsOfElements, functions_of_elements};
use crate::codegen::emit::outputs::{Outputs, Values, buffers, empty_stores, reduction_of_numbers, results, stores};
use crate::codegen::emit::path::cells_here;
use crate::codegen::emit::text::Level;
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Form, Source, Writer, Written};
use crate::codegen::signature::{GeneralBody, GeneralFunction, generic_function};

/// Part of a kernel that a general function evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Part {
    /// Checks and body.
    Whole,
    /// Checks alone; for kernels whose Cartesian form does the rest.
    Checks,
}

/// Writes the function of the general form.
pub(in crate::codegen) fn unstructured_function(
    source: Source<'_>,
    name: Ident,
    part: Part,
    functions: &mut Namer,
) -> Written<GeneralFunction> {
    let Source { kernel, names, .. } = source;
    let mut writer = Writer::new(source, Form::General, functions);
    writer.elementwise = part == Part::Whole && is_elementwise(kernel);
    let checks = checks(&mut writer, part)?;
    let (staged, staged_uses) = match part {
        Part::Whole => writer.noted(|writer| writer.stage())?,
        Part::Checks => Default::default(),
    };
    let functions_here = match part {
        Part::Whole if !writer.elementwise => functions_of_elements(&mut writer)?,
        Part::Whole | Part::Checks => None,
    };
    let (statements, yields) = match part {
        Part::Whole => writer.block(functions_here.as_ref().map_or(&kernel.body, |functions| &functions.body))?,
        Part::Checks => (TokenStream::new(), Vec::new()),
    };
    let body = match kernel.space {
        Space::Unit => {
            let vector = |result: &KResult| result.ty.basic == Basic::Vector;
            let yields = kernel.results.iter().zip(&yields).map(|(r, y)| {
                if vector(r) {
                    let padded = writer.uses.item("padded");
                    quote! { #padded(#y) }
                } else {
                    quote! { #y }
                }
            });
            let yields: Vec<TokenStream> = yields.collect();
            let result = match yields.as_slice() {
                [one] => quote! { Ok(#one) },
                many => quote! { Ok((#(#many),*)) },
            };
            let prelude = writer.prelude();
            quote! { #prelude #checks #statements #result }
        }
        Space::Set(_) if part == Part::Whole && reduced_collection(kernel).is_some() => reduction_of_collection(&mut writer)?,
        Space::Set(set) => {
            let domain = writer.domain(set)?;
            let values = match part {
                Part::Whole => Values::of(&mut writer),
                Part::Checks => Values::stored(&writer, Outputs::none()),
            };
            let (buffers, finish) = match (&values, part) {
                (Values::Reduced { result, .. }, _) => (TokenStream::new(), quote! { Ok(#result) }),
                (_, Part::Checks) => (TokenStream::new(), quote! { Ok(()) }),
                (_, Part::Whole) => (buffers(&mut writer, quote! { domain.len() })?, results(&mut writer)?),
            };
            let loop_ = if writer.elementwise {
                let stores = stores(&mut writer, &quote! { i }, &yields)?;
                loop_over_slices(&mut writer, set, &values, &quote! { #statements #stores })
            } else {
                let stores = stores(&mut writer, &quote! { position - range.start }, &yields)?;
                let each = quote! { #checks #statements #stores };
                match &functions_here {
                    None => loop_over(&mut writer, set, &values, &TokenStream::new(), &each),
                    Some(functions) => loop_over_strips(&mut writer, set, &values, functions, &each),
                }
            };
            let prelude = writer.prelude();
            quote! {
                #prelude
                #staged
                let domain = #domain;
                #buffers
                #loop_
                #finish
            }
        }
    };
    let result = match part {
        Part::Whole => None,
        Part::Checks => Some(quote! { () }),
    };
    let doc = match part {
        Part::Whole => format!(" [`Kernels::{}`] on any grid.", names.method),
        Part::Checks => format!(" Conditions of [`Kernels::{}`].", names.method),
    };
    let mut uses = writer.function_uses();
    uses.append(&staged_uses);
    let body = GeneralBody { tokens: body, uses, result, extra: TokenStream::new(), doc };
    let mut written = generic_function(source, name, body)?;
    let (names, items) = writer.cell_functions;
    *functions = names;
    written.item.extend(items);
    Ok(written)
}

/// The collection that a kernel reduces as it is.
fn reduced_collection(kernel: &Kernel) -> Option<(ParamId, Reduction)> {
    let (Space::Set(set), [result], [], [KExpr::Load { param, at: Path::Here }], []) =
        (kernel.space, &kernel.results[..], &kernel.body.statements[..], &kernel.body.yields[..], &kernel.checks[..])
    else {
        return None;
    };
    let read = kernel.params.get(param.0 as usize)?;
    let plain = read.ty.basic == Basic::Scalar && read.ty.shape == Shape::Collection(set);
    result.reduce.filter(|_| plain).map(|reduction| (*param, reduction))
}

/// Without a copy of the values.
fn reduction_of_collection(writer: &mut Writer) -> Written<TokenStream> {
    let reduced = reduced_collection(writer.kernel).and_then(|(param, of)| Some((param, reduction_of_numbers(writer, of)?)));
    let Some((param, reduction)) = reduced else { return Err(writer.internal("it reduces no collection")) };
    writer.uses.add_all([Use::Runtime, Use::Args]);
    let (info, field) = (writer.info(), writer.field(param));
    Ok(quote! { Ok(rt.reduce_collection_in_kernel(#reduction, args.#field, &#info)?) })
}

/// Conditions of an element. One of the halo of a rank may come from values of an earlier round: it
/// goes without a value.
fn checks(writer: &mut Writer, part: Part) -> Written<TokenStream> {
    let mut out = TokenStream::new();
    let instead = match part {
        Part::Whole if !writer.kernel.checks.is_empty() => empty_stores(writer, &quote! { position - range.start }),
        Part::Whole | Part::Checks => TokenStream::new(),
    };
    for check in &writer.kernel.checks {
        let condition = writer.expr(&check.condition)?;
        match (check.kind, writer.kernel.space) {
            (CheckKind::OnEmpty | CheckKind::OneCell, Space::Set(_)) => {}
            (CheckKind::OnEmpty | CheckKind::OneCell, Space::Unit) => return Err(writer.internal("a check without an element")),
        }
        let holds = condition.at(Level::Unary);
        out.extend(quote! {
            if !#holds {
                if domain.is_own(position) {
                    return Err(position);
                }
                #instead
                continue;
            }
        });
    }
    Ok(out)
}

/// The loop over the elements of a set, range by range; `before` are statements at the beginning of
/// a range, `each` is the text of the writer.
pub(in crate::codegen) fn loop_over(
    writer: &mut Writer,
    set: SetId,
    values: &Values,
    before: &TokenStream,
    each: &TokenStream,
) -> TokenStream {
    let again = writer.uses.has(Use::Range).then(|| quote! { .clone() });
    loop_over_positions(writer, set, values, |each_position| quote! { #before for position in range #again { #each_position #each } })
}

/// The same strip by strip, with functions made for a strip beforehand.
fn loop_over_strips(writer: &mut Writer, set: SetId, values: &Values, functions: &FunctionsOfElements, each: &TokenStream) -> TokenStream {
    let FunctionsOfElements { buffers, fill, reads, strip, .. } = functions;
    let length = writer.uses.item("STRIP");
    loop_over_positions(writer, set, values, |each_position| {
        quote! {
            #buffers
            for first in range.clone().step_by(#length) {
                let #strip = first..range.end.min(first + #length);
                #fill
                for position in #strip.clone() { #each_position #reads #each }
            }
        }
    })
}

/// `write` gets the statements that the element at `position` begins with.
fn loop_over_positions(writer: &mut Writer, set: SetId, values: &Values, write: impl FnOnce(TokenStream) -> TokenStream) -> TokenStream {
    let mut elements = None;
    let here = writer.uses.has(Use::Here).then(|| {
        if writer.is_all(set) {
            quote! { let here = position as u32; }
        } else {
            elements = Some(quote! { let elements = domain.elements(); });
            quote! { let here = elements[position]; }
        }
    });
    let cells = cells_here(writer);
    let each = write(quote! { #here #cells });
    let each = values.each(writer, &each);
    quote! { #elements #each }
}
