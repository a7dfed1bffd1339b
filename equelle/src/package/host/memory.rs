//! `memory`: what collections and linear systems a program needs memory for.

use equelle_front::memory::{Buffers, Needs, SolveNeeds};
use equelle_front::types::{CanonicalSet, SetTable};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::rust::{blank, list};
use super::super::sets::canonical_set;

/// The table; `None` for programs without collections.
pub(super) fn plan(sets: &SetTable, needs: &Needs) -> Option<TokenStream> {
    if needs.sets.is_empty() && needs.solves.is_empty() {
        return None;
    }
    let collections = list(needs.sets.iter().map(|entry| {
        let name = &sets.get(entry.set).name;
        let canonical = sets.get(entry.set).canonical.is_some();
        let set = canonical_set(sets.canonical_superset(entry.set));
        let (general, cartesian, reduced) = (buffers(&entry.general), buffers(&entry.cartesian), entry.reduced);
        quote! {
            SetMemory { name: #name.into(), set: #set, canonical: #canonical, general: #general, cartesian: #cartesian, reduced: #reduced }
        }
    }));
    let solves = list(needs.solves.iter().map(|solve| self::solve(sets, solve)));
    let positions = list(needs.positions.iter().map(|set: &CanonicalSet| canonical_set(*set)));
    let lists = list(needs.lists.iter().map(|set: &CanonicalSet| canonical_set(*set)));
    let (topology, geometry) = (needs.topology, needs.geometry);
    let blank = blank();
    Some(quote! {
        #blank
        /// The most collections that live at the same time, and what linear systems there are.
        pub fn memory() -> MemoryPlan {
            MemoryPlan {
                collections: #collections,
                solves: #solves,
                topology: #topology,
                geometry: #geometry,
                positions: #positions,
                lists: #lists,
            }
        }
    })
}

fn buffers(buffers: &Buffers) -> TokenStream {
    let numbers = counts(&buffers.numbers);
    let (truths, entities) = (Literal::u32_unsuffixed(buffers.truths), Literal::u32_unsuffixed(buffers.entities));
    quote! { Buffers::new(#numbers, #truths, #entities) }
}

fn counts(counts: &[u32; 3]) -> TokenStream {
    let counts = counts.iter().map(|count| Literal::u32_unsuffixed(*count));
    quote! { [#(#counts),*] }
}

fn solve(sets: &SetTable, solve: &SolveNeeds) -> TokenStream {
    let line = Literal::u32_unsuffixed(solve.line);
    let unknowns = list(solve.unknowns.iter().map(|set| canonical_set(sets.canonical_superset(*set))));
    let entries = list(solve.entries.iter().map(counts));
    let additions = list(solve.additions.iter().map(counts));
    let (cartesian, blocks) = (solve.cartesian, solve.blocks);
    quote! {
        SolveMemory {
            line: #line, unknowns: #unknowns, entries: #entries, additions: #additions, cartesian: #cartesian,
            blocks: #blocks
        }
    }
}
