//! Cells inside the grid, where the terms of faces are cheap: a cell evaluates those of all its
//! faces from its neighbours.
//!
//! Neighbours are so many cells away, whatever the cell, so that one loop runs over a row or over
//! several rows, end to end. Only at the ends of rows a face is on the boundary: what the loop
//! finds for those cells is from a cell of another row, and is made again with the term of the
//! boundary.

use equelle_front::backend::forms::Refusal;
use equelle_front::backend::{KernelNames, Namer};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::codegen::emit::outputs::tuple;
use crate::codegen::emit::stencil_point::End;
use crate::codegen::emit::text::{Level, blank, ident};
use crate::codegen::emit::uses::{Use, Uses};
use crate::codegen::emit::writer::{Failure, Writer, Written};
use crate::codegen::flux::dag::{At, Node};
use crate::codegen::flux::function_writer::{Adjacent, Arg, Body, FunctionWriter, face_position};

/// The function of one cell, and the one of many.
pub(in crate::codegen) struct Inside {
    cell: Ident,
    many: Ident,
    args: Vec<Arg>,
    pub items: TokenStream,
    /// References of their text.
    pub uses: Uses,
}

/// Writes both.
pub(in crate::codegen) fn inside(function_writer: &FunctionWriter, names: &KernelNames, functions: &mut Namer) -> Written<Inside> {
    let method = &names.method;
    let mut body = function_writer.body(0);
    body.single = true;
    let outputs: Vec<Ident> = names.results.iter().map(|output| ident(&body.namer.fresh(output))).collect();
    let ends = ident(&body.namer.fresh("row_ends"));
    let sums = body.sums(&ends)?;
    let statements = body.statements(&function_writer.analysis.yields)?;
    let values: Vec<TokenStream> =
        function_writer.analysis.yields.iter().map(|value| Ok(body.value(*value)?.at(Level::Choice))).collect::<Written<_>>()?;
    let (args, mut uses) = (body.args, body.uses);
    let (mut of_cell, mut of_many, mut lanes, mut elements) = (Vec::new(), Vec::new(), TokenStream::new(), Vec::new());
    let real = function_writer.writer.reals.ty();
    for (arg, name) in &args {
        match arg {
            Arg::Grid | Arg::Param(_) | Arg::PerAxis(_) => {
                let param = function_writer.same_for_all(*arg, name, &mut uses)?;
                of_cell.push(param.clone());
                of_many.push(param);
                elements.push(quote! { #name });
            }
            Arg::Load(..) => {
                let element = function_writer.element(*arg);
                of_cell.push(quote! { #name: #element, });
                of_many.push(quote! { #name: &[#element], });
                lanes.extend(quote! { let #name = &#name[..len]; });
                elements.push(quote! { #name[i] });
            }
            Arg::Adjacent(..) => {
                let element = function_writer.element(*arg);
                of_cell.push(quote! { #name: [#element; DIM], });
                of_many.push(quote! { #name: [&[#element]; DIM], });
                lanes.extend(quote! { let #name = #name.map(|side| &side[..len]); });
                elements.push(quote! { #name.map(|side| side[i]) });
            }
            Arg::Stored(..) | Arg::Terms(_) => return Err(Failure::Form(Refusal::OtherElement)),
        }
    }
    let (cell, many) = (ident(&functions.fresh(&format!("{method}_cell"))), ident(&functions.fresh(&format!("{method}_inside"))));
    let terms = Literal::usize_unsuffixed(function_writer.analysis.terms.len());
    let (ty, value, first, blank) = (tuple(vec![quote! { #real }; outputs.len()]), tuple(values), &outputs[0], blank());
    let rest = &outputs[1..];
    let stored = tuple(outputs.iter().map(|output| quote! { #output[i] }).collect());
    let doc_cell = format!(
        " [`Kernels::{method}`] for a cell whose sides are interior but for those along the row of which `{ends}` has the terms, low and high."
    );
    let doc_many =
        format!(" [`Kernels::{method}`] for rows inside the grid, as if they were one row: values at their ends are to be made again.");
    let items = quote! {
        #blank
        #[doc = #doc_cell]
        #[inline(always)]
        fn #cell<const DIM: usize>(#ends: [Option<[#real; #terms]>; 2], #(#of_cell)*) -> #ty {
            #sums
            #statements
            #value
        }
        #blank
        #[doc = #doc_many]
        #[inline(never)]
        fn #many<const DIM: usize>(#(#outputs: &mut [#real],)* #(#of_many)*) {
            let len = #first.len();
            #(let #rest = &mut #rest[..len];)*
            #lanes
            for i in 0..len {
                #stored = #cell::<DIM>([None; 2], #(#elements),*);
            }
        }
    };
    Ok(Inside { cell, many, args: args.into_iter().map(|(arg, _)| arg).collect(), items, uses })
}

impl Inside {
    /// Which function cuts the grid to rows: values of faces do not follow one another from row to
    /// row.
    pub(in crate::codegen) fn rows(&self) -> TokenStream {
        let of_faces = self.args.iter().any(|arg| matches!(arg, Arg::Adjacent(_, Adjacent::Face, _)));
        if of_faces {
            quote! { strips }
        } else {
            quote! { blocks }
        }
    }

    /// Writes the calls for `row`.
    pub(in crate::codegen) fn row(&self, writer: &mut Writer) -> Written<TokenStream> {
        let (mut many, mut one) = (Vec::new(), Vec::new());
        for arg in &self.args {
            match *arg {
                Arg::Grid | Arg::Param(_) | Arg::PerAxis(_) => {
                    let value = arg.read(writer)?;
                    many.push(value.clone());
                    one.push(value);
                }
                Arg::Load(id, At::Here) => {
                    let name = writer.read(id)?;
                    many.push(quote! { &#name[row.start..][..len] });
                    one.push(quote! { #name[side.cell] });
                }
                Arg::Adjacent(id, Adjacent::Cell, side) => {
                    let name = writer.read(id)?;
                    let of = |cell: TokenStream| match side {
                        End::Low => quote! { #cell - grid.stride[axis] },
                        End::High => quote! { #cell + grid.stride[axis] },
                    };
                    let (first, cell) = (of(quote! { row.start }), of(quote! { side.cell }));
                    many.push(quote! { std::array::from_fn(|axis| &#name[#first..][..len]) });
                    one.push(quote! { std::array::from_fn(|axis| #name[#cell]) });
                }
                Arg::Adjacent(id, Adjacent::Face, side) => {
                    let (name, position, high) = (writer.read(id)?, face_position(writer, id)?, side.is_high());
                    let first = format_ident!("{position}_run");
                    many.push(quote! { std::array::from_fn(|axis| &#name[grid.#first(row.at, axis, #high)..][..len]) });
                    one.push(quote! { std::array::from_fn(|axis| #name[grid.#position(side.at, axis, #high)]) });
                }
                Arg::Load(..) | Arg::Stored(..) | Arg::Terms(_) => return Err(Failure::Form(Refusal::OtherElement)),
            }
        }
        let side_type = writer.uses.item("Side");
        writer.uses.add(Use::Grid);
        let (cell, name, slices) = (&self.cell, &self.many, &writer.slices);
        let stores = tuple(slices.iter().map(|slice| quote! { #slice[side.cell - range.start] }).collect());
        Ok(quote! {
            #name::<DIM>(#(&mut #slices[row.start - range.start..][..len],)* #(#many),*);
            sweep.each_end(&row, &faces, &boundary, |side: &#side_type, terms| {
                #stores = #cell::<DIM>(terms, #(#one),*);
            });
        })
    }
}

impl Body<'_, '_, '_> {
    /// `let mut sum = 0.0; sum -= low; sum += high; ..`, as every form of the kernel adds.
    fn sums(&mut self, ends: &Ident) -> Written<TokenStream> {
        let function_writer = self.function_writer;
        let names = function_writer.analysis.sums.iter().map(|sum| function_writer.writer.local(*sum)).collect::<Written<Vec<_>>>()?;
        let mut out = quote! { #(let mut #names = 0.0;)* };
        for axis in 0..3 {
            let mut both = TokenStream::new();
            for side in [End::Low, End::High] {
                (self.axis, self.side) = (axis, Some(side));
                let roots: Vec<Node> = function_writer.analysis.terms.iter().map(|terms| terms[axis]).collect();
                let statements = self.statements(&roots)?;
                let terms = roots.iter().map(|root| Ok(self.value(*root)?.at(Level::Choice))).collect::<Written<Vec<_>>>()?;
                let add = if side == End::Low {
                    quote! { -= }
                } else {
                    quote! { += }
                };
                let added = if axis == 0 {
                    let wanted = names.iter().map(|name| ident(&self.namer.fresh(&format!("{name}_{}", side.name()))));
                    let (of_end, end) = (wanted.collect::<Vec<_>>(), Literal::usize_unsuffixed(usize::from(side.is_high())));
                    let evaluated = if statements.is_empty() {
                        quote! { [#(#terms),*] }
                    } else {
                        quote! { { #statements [#(#terms),*] } }
                    };
                    quote! {
                        let [#(#of_end),*] = #ends[#end].unwrap_or_else(|| #evaluated);
                        #(#names #add #of_end;)*
                    }
                } else if statements.is_empty() {
                    quote! { #(#names #add #terms;)* }
                } else {
                    quote! { { #statements #(#names #add #terms;)* } }
                };
                both.extend(added);
                (self.axis, self.side) = (0, None);
                self.bound.clear();
            }
            let number = Literal::usize_unsuffixed(axis);
            out.extend(if axis == 0 {
                both
            } else {
                quote! { if DIM > #number { #both } }
            });
        }
        Ok(out)
    }
}
