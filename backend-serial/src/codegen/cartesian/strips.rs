//! The text of a body in [`super::parts`]: one loop after the other over a strip of cells.

use std::collections::{BTreeMap, BTreeSet};

use equelle_front::backend::COMMENT_MARK;
use equelle_front::ir::{KStmt, LocalId};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::parts::{Parts, Target, Value};
use crate::codegen::emit::text::{Text, blank, ident};
use crate::codegen::emit::writer::{Writer, Written};

/// Loops over a strip.
pub(super) struct Strips {
    /// The buffers that they need.
    pub buffers: Vec<Ident>,
    /// Statements before the loops.
    before: TokenStream,
    parts: Vec<Part>,
}

/// One loop.
struct Part {
    doc: String,
    /// The slices of elements that it reads, by number.
    slices: BTreeSet<usize>,
    /// The names of buffers in the loop, and which these are: those that it reads, those that it
    /// writes.
    strips: [Vec<(Ident, usize)>; 2],
    body: TokenStream,
}

/// Writes the loops of a body.
pub(super) fn strips(writer: &mut Writer, parts: &Parts) -> Written<Strips> {
    let mut before = TokenStream::new();
    for statement in &parts.same {
        before.extend(writer.statement(statement)?);
    }
    let last_reads = last_reads(parts);
    let mut places = Places::default();
    let mut made: BTreeMap<LocalId, (Ident, usize)> = BTreeMap::new();
    let mut written = Vec::new();
    for (number, part) in parts.parts.iter().enumerate() {
        writer.stencil.touched.clear();
        let own: BTreeSet<LocalId> = part.iter().filter_map(Value::local).collect();
        let read: BTreeSet<LocalId> = part.iter().flat_map(Value::stored).copied().filter(|local| !own.contains(local)).collect();
        let mut body = TokenStream::new();
        let mut reads = Vec::new();
        for local in read {
            let (strip, place) = made[&local].clone();
            let name = writer.local(local)?;
            body.extend(quote! { let #name = #strip[i]; });
            reads.push((strip, place));
        }
        let (mut writes, mut repeated, mut names) = (Vec::new(), BTreeSet::new(), Vec::new());
        for value in part {
            for &repeat in value.repeated().iter().filter(|repeat| repeated.insert(**repeat)) {
                let (local, value) = parts.repeated[repeat].clone();
                body.extend(writer.statement(&KStmt::Let { local, value })?);
            }
            let text = writer.expr(&value.value)?;
            match value.target {
                Target::Result(result) => {
                    let (name, stored) = (&writer.results[result], writer.reals.stored(&text));
                    body.extend(quote! { #name[i] = #stored; });
                    names.push(name.to_string());
                }
                Target::Local(local) => {
                    let name = writer.local(local)?;
                    names.push(name.to_string());
                    let is_read_later = last_reads.get(&local).is_some_and(|last| *last > number);
                    body.extend(store(writer, &name, &text, is_read_later.then_some(local), &mut made, &mut writes, &mut places));
                }
            }
        }
        for (&local, (_, place)) in &made {
            if last_reads.get(&local) == Some(&number) {
                places.free(*place);
            }
        }
        let slices = std::mem::take(&mut writer.stencil.touched);
        written.push(Part { doc: shown(&names), slices, strips: [reads, writes], body });
    }
    let buffers = (0..places.number).map(|number| ident(&writer.namer.fresh(&format!("strip_{number}")))).collect();
    Ok(Strips { buffers, before, parts: written })
}

/// Lists the values of a part in one line.
fn shown(names: &[String]) -> String {
    let shown = names[..names.len().min(6)].join(", ");
    if names.len() > 6 { format!("{shown} and {} more", names.len() - 6) } else { shown }
}

/// The definition of a local, and where others read it later, its place in a buffer.
fn store(
    writer: &mut Writer,
    name: &Ident,
    value: &Text,
    local: Option<LocalId>,
    made: &mut BTreeMap<LocalId, (Ident, usize)>,
    writes: &mut Vec<(Ident, usize)>,
    places: &mut Places,
) -> TokenStream {
    let Some(local) = local else { return quote! { let #name = #value; } };
    let strip = (ident(&writer.namer.fresh(&format!("{name}_strip"))), places.take());
    let buffer = &strip.0;
    let text = quote! { let #name = #value; #buffer[i] = #name; };
    made.insert(local, strip.clone());
    writes.push(strip);
    text
}

/// The last part that reads each local.
fn last_reads(parts: &Parts) -> BTreeMap<LocalId, usize> {
    let reads = |(number, part): (usize, &Vec<Value>)| -> Vec<(LocalId, usize)> {
        part.iter().flat_map(Value::stored).map(|local| (*local, number)).collect()
    };
    parts.parts.iter().enumerate().flat_map(reads).collect()
}

impl Value {
    fn local(&self) -> Option<LocalId> {
        match self.target {
            Target::Local(local) => Some(local),
            Target::Result(_) => None,
        }
    }
}

/// Free buffers.
#[derive(Default)]
struct Places {
    number: usize,
    free: BTreeSet<usize>,
}

impl Places {
    fn take(&mut self) -> usize {
        self.free.pop_first().unwrap_or_else(|| {
            self.number += 1;
            self.number - 1
        })
    }

    fn free(&mut self, place: usize) {
        self.free.insert(place);
    }
}

impl Strips {
    /// The statements of the function; `slice` gives the text of a slice of elements.
    pub(super) fn text(&self, slice: impl Fn(usize) -> TokenStream) -> TokenStream {
        let (before, comment) = (&self.before, ident(COMMENT_MARK));
        let names = &self.buffers;
        let mut text = quote! { let [#(#names),*] = strips; #before };
        for part in &self.parts {
            let Part { doc, slices, strips: [reads, writes], body } = part;
            let slices = slices.iter().map(|&number| slice(number));
            let reads = reads.iter().map(|(name, place)| {
                let strip = &names[*place];
                quote! { let #name = &#strip[..len]; }
            });
            let writes = writes.iter().map(|(name, place)| {
                let strip = &names[*place];
                quote! { let #name = &mut #strip[..len]; }
            });
            let blank = blank();
            text.extend(quote! {
                #blank
                #comment!(#doc);
                {
                    #(#slices)*
                    #(#reads)*
                    #(#writes)*
                    for i in 0..len { #body }
                }
            });
        }
        text
    }

    /// `strips: &mut [[f64; STRIP]; 20]`
    pub(super) fn param(&self, real: &Ident, strip: &Ident) -> TokenStream {
        let number = Literal::usize_unsuffixed(self.buffers.len());
        quote! { strips: &mut [[#real; #strip]; #number], }
    }
}
