//! Signatures of the functions of a kernel: their arguments, results, and what they ask of the
//! grid.

use equelle_front::backend::{BackendError, KernelNames};
use equelle_front::ir::Kernel;
use equelle_front::types::{Basic, Shape};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::emit::reals::Reals;
use super::emit::text::{blank, ident};
use super::emit::uses::{Use, Uses};
use super::emit::writer::{Source, Written};

/// A function of the general form and what a call of it must give.
pub(super) struct GeneralFunction {
    /// Its name.
    pub name: Ident,
    /// Generic over the dimension.
    pub takes_dim: bool,
    /// Arrays of the grid that it reads, if it refers to the grid.
    pub grid: Option<GridUse>,
    /// The function.
    pub item: TokenStream,
    /// References of its text.
    pub uses: Uses,
}

/// Arrays of the grid that a function reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Returns the arrays that a function reads, if it refers to the grid.
    fn of(uses: &Uses) -> Option<Self> {
        uses.has(Use::Grid).then(|| GridUse {
            topology: uses.has(Use::FaceCells),
            sides: uses.has(Use::Sides),
            geometry: uses.has(Use::Geometry),
            edges: uses.has(Use::Edges),
            vertices: uses.has(Use::Vertices),
        })
    }

    /// Returns the arrays that either reads.
    pub(super) fn or(self, other: GridUse) -> Self {
        GridUse {
            topology: self.topology || other.topology,
            sides: self.sides || other.sides,
            geometry: self.geometry || other.geometry,
            edges: self.edges || other.edges,
            vertices: self.vertices || other.vertices,
        }
    }

    /// True if it reads any array.
    pub(super) fn any(self) -> bool {
        self.topology || self.sides || self.geometry || self.edges || self.vertices
    }
}

/// The argument struct for this runtime.
pub(super) fn args_type(kernel: &Kernel, names: &KernelNames) -> Option<TokenStream> {
    let name = ident(&names.arguments);
    (!kernel.params.is_empty()).then(|| quote! { #name<'_, SerialRuntime> })
}

/// The name of an argument, with an underscore where the body does not refer to it.
pub(super) fn argument(name: &str, uses: &Uses, what: Use) -> Ident {
    if uses.has(what) { ident(name) } else { ident(&format!("_{name}")) }
}

/// Type of what a kernel gives.
pub(super) fn result_type(kernel: &Kernel, uses: &mut Uses) -> Result<TokenStream, BackendError> {
    let mut collection = |name| {
        let name = uses.item(name);
        quote! { #name }
    };
    let mut types = Vec::new();
    for result in &kernel.results {
        types.push(match (result.ty.shape, result.ty.basic) {
            (Shape::Single, Basic::Scalar) => quote! { f64 },
            (Shape::Single, Basic::Bool) => quote! { bool },
            (Shape::Single, Basic::Vector) => quote! { [f64; 3] },
            (Shape::Collection(_), Basic::Scalar) => collection("ScalarCollection"),
            (Shape::Collection(_), Basic::Vector) => collection("VectorCollection"),
            (Shape::Collection(_), Basic::Bool) => collection("BoolCollection"),
            (Shape::Collection(_), Basic::Entity(_)) => collection("EntityCollection"),
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

/// The body of a function of the general form.
pub(super) struct GeneralBody {
    pub tokens: TokenStream,
    /// References of its text.
    pub uses: Uses,
    /// Type of its result, if that is not what the kernel gives.
    pub result: Option<TokenStream>,
    /// Arguments after the others.
    pub extra: TokenStream,
    pub doc: String,
}

/// `fn name<const DIM: usize>(rt: &mut SerialRuntime, args: &Args<..>, grid: &G) -> Result<..>`,
/// generic over what the body asks of the grid.
pub(super) fn generic_function(source: Source<'_>, name: Ident, body: GeneralBody) -> Written<GeneralFunction> {
    let Source { module, kernel, names, .. } = source;
    let GeneralBody { tokens: body, mut uses, result, extra, doc } = body;
    let grid = GridUse::of(&uses);
    let places = uses.has(Use::Places);
    let takes_dim = places || uses.has(Use::Dim);
    let dim = takes_dim.then(|| quote! { const DIM: usize });
    let reals = Reals::of(module, kernel);
    let precision = reals.argument();
    let generics = match (&grid, places) {
        (None, _) => quote! { #dim },
        (Some(_), false) => {
            let entities = uses.item("Entities");
            let dim = dim.map(|dim| quote! { #dim, });
            quote! { #dim G: #entities #precision }
        }
        (Some(_), true) => {
            let places = uses.item("Places");
            let precision = (reals == Reals::Single).then(|| quote! { , f32 });
            quote! { #dim, G: #places<DIM #precision> }
        }
    };
    let generics = (!generics.is_empty()).then(|| quote! { <#generics> });
    let rt = argument("rt", &uses, Use::Runtime);
    let args = args_type(kernel, names).map(|ty| {
        let args = argument("args", &uses, Use::Args);
        quote! { , #args: &#ty }
    });
    let grid_argument = grid.map(|_| quote! { , grid: &G });
    let result = match result {
        Some(result) => result,
        None => result_type(kernel, &mut uses)?,
    };
    let signature = quote! { fn #name #generics(#rt: &mut SerialRuntime #args #grid_argument #extra) -> Result<#result, Error> };
    let blank = blank();
    Ok(GeneralFunction { item: quote! { #blank #[doc = #doc] #signature { #body } }, name, takes_dim, grid, uses })
}
