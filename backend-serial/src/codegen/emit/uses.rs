//! References of a text, noted by whoever writes them.

use std::collections::BTreeSet;

use equelle_front::ir::{LocalId, ParamId};
use proc_macro2::{Ident, Span};

/// Something that a text refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::codegen) enum Use {
    /// The runtime, `rt`.
    Runtime,
    /// The arguments of the kernel, `args`.
    Args,
    /// The constant that describes the kernel.
    Info,
    /// The grid, `grid`.
    Grid,
    /// The cells of faces, of the grid.
    FaceCells,
    /// The faces of cells, of the grid.
    Sides,
    /// Measures, centroids, normals of cells and faces, of the grid.
    Geometry,
    /// Lengths and midpoints of edges, of the grid.
    Edges,
    /// Positions of vertices, of the grid.
    Vertices,
    /// Geometry that is made of Vectors, of the grid.
    Places,
    /// The dimension, `DIM`.
    Dim,
    /// The current element, `here`.
    Here,
    /// The volume of the current cell in a row of cells, `volume_at`.
    VolumeHere,
    /// The cells of the current face, `cells_here`.
    CellsHere,
    /// The current range of elements, `range`.
    Range,
    /// Position of the cell in a Cartesian grid, `at`.
    At,
    /// The axis of a side, `axis`.
    Axis,
    /// The position of the face of a side on the boundary, `boundary_face`.
    BoundaryFace,
    /// A local.
    Local(LocalId),
    /// The element of a parameter at the current element: before a sum, or in slices of a range.
    LoadedHere(ParamId),
    /// True if the cell that sums is the first one of a face.
    Outward(LocalId),
    /// The sign of a sum, by its face.
    Sign(LocalId),
    /// The first and second cell of a face, which one sums being unknown.
    Ends(LocalId),
    /// An item that the file imports.
    Item(&'static str),
}

/// References of a text.
#[derive(Clone, Debug, Default)]
pub(in crate::codegen) struct Uses(BTreeSet<Use>);

impl Uses {
    pub(in crate::codegen) fn add(&mut self, what: Use) {
        self.0.insert(what);
    }

    pub(in crate::codegen) fn add_all<const N: usize>(&mut self, what: [Use; N]) {
        self.0.extend(what);
    }

    pub(in crate::codegen) fn has(&self, what: Use) -> bool {
        self.0.contains(&what)
    }

    /// With what a text refers to that this one has in it.
    pub(in crate::codegen) fn append(&mut self, other: &Uses) {
        self.0.extend(&other.0);
    }

    /// An item that the file imports.
    pub(in crate::codegen) fn item(&mut self, name: &'static str) -> Ident {
        self.add(Use::Item(name));
        Ident::new(name, Span::call_site())
    }

    pub(in crate::codegen) fn items(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter_map(|what| match what {
            Use::Item(name) => Some(*name),
            _ => None,
        })
    }
}
