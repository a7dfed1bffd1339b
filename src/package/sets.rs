//! Sets of entities as expressions of Rust.

use equelle_front::types::{CanonicalSet, EntityKind, Extent};
use proc_macro2::TokenStream;
use quote::quote;

use super::rust::ident;

/// A canonical set.
pub(in crate::package) fn canonical_set(set: CanonicalSet) -> TokenStream {
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
