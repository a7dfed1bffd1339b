//! Signatures of the functions of a kernel: their arguments, results, and what they ask of the grid.

use equelle_front::backend::visit::{Node, visit_general};
use equelle_front::backend::{BackendError, KernelNames};
use equelle_front::ir::{KExpr, Kernel, Module};
use equelle_front::types::{Basic, EntityKind, Shape};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::emit::reals::Reals;
use super::emit::text::{blank, ident, mentions};
use super::emit::writer::{Source, Written};

/// A function of the general form and what a call of it must give.
pub(super) struct GeneralFunction {
    /// Its name.
    pub name: Ident,
    /// Generic over the dimension.
    pub takes_dim: bool,
    /// What it asks the grid for, if anything.
    pub grid: Option<GridUse>,
    /// The function.
    pub item: TokenStream,
}

/// Which arrays of the grid a function reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GridUse {
    /// The cells of faces.
    pub topology: bool,
    /// The faces of cells.
    pub sides: bool,
    /// Measures, centroids, normals of cells and faces.
    pub geometry: bool,
    /// Lengths and midpoints of edges.
    pub edges: bool,
    /// Positions of vertices.
    pub vertices: bool,
}

impl GridUse {
    /// Whether it reads any array.
    pub(super) fn any(self) -> bool {
        self.topology || self.sides || self.geometry || self.edges || self.vertices
    }
}

/// The argument struct for this runtime.
pub(super) fn args_type(kernel: &Kernel, names: &KernelNames) -> Option<TokenStream> {
    let name = ident(&names.arguments);
    (!kernel.params.is_empty()).then(|| quote! { #name<'_, SerialRuntime> })
}

/// `fn name<const DIM: usize>(rt: &mut SerialRuntime, args: &Args<'_, SerialRuntime>, grid: &G) -> Result<.., Error>`; arguments that the body does not use
/// get an underscore.
#[allow(clippy::too_many_arguments)]
pub(super) fn signature(
    kernel: &Kernel,
    names: &KernelNames,
    name: &Ident,
    generics: &TokenStream,
    takes_grid: bool,
    body: &TokenStream,
    result: Option<TokenStream>,
    extra: TokenStream,
) -> Written<TokenStream> {
    let generics = (!generics.is_empty()).then(|| quote! { <#generics> });
    let rt = ident(if mentions(body, "rt") { "rt" } else { "_rt" });
    let args = args_type(kernel, names).map(|ty| {
        let args = ident(if mentions(body, "args") { "args" } else { "_args" });
        quote! { , #args: &#ty }
    });
    let grid = takes_grid.then(|| quote! { , grid: &G });
    let result = match result {
        Some(result) => result,
        None => result_type(kernel)?,
    };
    Ok(quote! { fn #name #generics(#rt: &mut SerialRuntime #args #grid #extra) -> Result<#result, Error> })
}

/// Type of what a kernel gives.
pub(super) fn result_type(kernel: &Kernel) -> Result<TokenStream, BackendError> {
    let mut types = Vec::new();
    for result in &kernel.results {
        types.push(match (result.ty.shape, result.ty.basic) {
            (Shape::Single, Basic::Scalar) => quote! { f64 },
            (Shape::Single, Basic::Bool) => quote! { bool },
            (Shape::Single, Basic::Vector) => quote! { [f64; 3] },
            (Shape::Collection(_), Basic::Scalar) => quote! { ScalarCollection },
            (Shape::Collection(_), Basic::Vector) => quote! { VectorCollection },
            (Shape::Collection(_), Basic::Bool) => quote! { BoolCollection },
            (Shape::Collection(_), Basic::Entity(_)) => quote! { EntityCollection },
            _ => {
                let span = kernel.spans.first().copied().unwrap_or_default();
                return Err(BackendError::new(
                    span,
                    format!("kernel `{}` gives a {:?}, which is not possible", kernel.name, result.ty.basic),
                ));
            }
        });
    }
    Ok(match types.as_slice() {
        [one] => one.clone(),
        many => quote! { (#(#many),*) },
    })
}

/// A function of a body, generic over what the body asks of the grid. `extra` are arguments after the others.
pub(super) fn generic_function(
    source: Source<'_>,
    name: Ident,
    body: &TokenStream,
    result: Option<TokenStream>,
    extra: TokenStream,
    doc: &str,
) -> Written<GeneralFunction> {
    let Source { module, kernel, names } = source;
    let mentioned = |names: &[&str]| names.iter().any(|name| mentions(body, name));
    let of_cells_and_faces = mentioned(&["cell_centroid", "face_centroid", "face_normal"]);
    // Variables of programs are called `edge_length` more often than not, and tables of edges are large: the word alone does not do.
    let (edges, vertices) = (asks_geometry_of(module, kernel, EntityKind::Edge), asks_geometry_of(module, kernel, EntityKind::Vertex));
    let of_edges_or_vertices = (edges && mentioned(&["edge_centroid"])) || (vertices && mentioned(&["vertex_position"]));
    let places = of_cells_and_faces || of_edges_or_vertices;
    let grid = mentioned(&["grid"]).then(|| GridUse {
        topology: mentioned(&["face_cells", "first_cell", "second_cell", "is_boundary_face"]),
        sides: mentioned(&["sides_of"]),
        geometry: of_cells_and_faces || mentioned(&["cell_volume", "face_area"]),
        edges: edges && mentioned(&["edge_length", "edge_centroid"]),
        vertices: vertices && mentioned(&["vertex_position"]),
    });
    let takes_dim = places || mentioned(&["DIM"]);
    let dim = takes_dim.then(|| quote! { const DIM: usize });
    let reals = Reals::of(module, kernel);
    let precision = reals.argument();
    let generics = match (&grid, places) {
        (None, _) => quote! { #dim },
        (Some(_), false) if takes_dim => quote! { #dim, G: Entities #precision },
        (Some(_), false) => quote! { G: Entities #precision },
        (Some(_), true) if reals == Reals::Single => quote! { #dim, G: Places<DIM, f32> },
        (Some(_), true) => quote! { #dim, G: Places<DIM> },
    };
    let signature = signature(kernel, names, &name, &generics, grid.is_some(), body, result, extra)?;
    let blank = blank();
    Ok(GeneralFunction { item: quote! { #blank #[doc = #doc] #signature { #body } }, name, takes_dim, grid })
}

/// Whether a kernel asks for the measure or the centroid of an entity of a kind.
fn asks_geometry_of(module: &Module, kernel: &Kernel, kind: EntityKind) -> bool {
    let mut asks = false;
    visit_general(kernel, &mut |node| {
        if let Node::Expr(KExpr::Measure(at) | KExpr::Centroid(at)) = node {
            asks |= kernel.path_kind(&module.sets, at) == Some(kind);
        }
    });
    asks
}
