//! Sets of entities as expressions of Rust.

use equelle_front::types::{CanonicalSet, EntityKind, Extent};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::rust::ident;

/// The variant of the runtime's kinds of entities.
pub(in crate::package) fn entity_ident(kind: EntityKind) -> Ident {
    ident(match kind {
        EntityKind::Cell => "Cell",
        EntityKind::Face => "Face",
        EntityKind::Edge => "Edge",
        EntityKind::Vertex => "Vertex",
    })
}

/// The runtime's kind of entities.
pub(in crate::package) fn entity_kind(kind: EntityKind) -> equelle_runtime::EntityKind {
    match kind {
        EntityKind::Cell => equelle_runtime::EntityKind::Cell,
        EntityKind::Face => equelle_runtime::EntityKind::Face,
        EntityKind::Edge => equelle_runtime::EntityKind::Edge,
        EntityKind::Vertex => equelle_runtime::EntityKind::Vertex,
    }
}

/// A canonical set.
pub(in crate::package) fn canonical_set(set: CanonicalSet) -> TokenStream {
    let kind = entity_ident(set.kind);
    let extent = ident(match set.extent {
        Extent::Interior => "Interior",
        Extent::Boundary => "Boundary",
        Extent::All => "All",
    });
    quote! { CanonicalSet::new(EntityKind::#kind, Extent::#extent) }
}
