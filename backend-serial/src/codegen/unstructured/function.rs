//! The general form: any grid, one entity after the other.

use equelle_front::backend::visit::{Node, visit_general};
use equelle_front::backend::{KernelNames, Namer};
use equelle_front::ir::{CheckKind, KExpr, KResult, Kernel, Module, Space};
use equelle_front::types::{Basic, EntityKind, SetId};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::method::{results, signature};
use super::outputs::Outputs;
use super::reals::Reals;
use super::text::{Level, blank, ident, mentions};
use super::writer::{Form, Writer, Written};

/// What of a kernel a general function evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Checks and body.
    Whole,
    /// Checks alone; for kernels whose Cartesian form does the rest.
    Checks,
}

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

/// Writes the function of the general form.
pub(super) fn function(
    module: &Module,
    kernel: &Kernel,
    names: &KernelNames,
    name: Ident,
    part: Part,
    functions: &mut Namer,
) -> Written<GeneralFunction> {
    let mut writer = Writer::new(module, kernel, names, Form::General, functions);
    let checks = checks(&mut writer)?;
    let staged = match part {
        Part::Whole => writer.stage()?,
        Part::Checks => TokenStream::new(),
    };
    let (statements, yields) = match part {
        Part::Whole => writer.block(&kernel.body)?,
        Part::Checks => (TokenStream::new(), Vec::new()),
    };
    let finish = match part {
        Part::Whole => results(&writer)?,
        Part::Checks => quote! { Ok(()) },
    };
    let body = match kernel.space {
        Space::Unit => {
            let vector = |result: &KResult| result.ty.basic == Basic::Vector;
            let yields = kernel.results.iter().zip(&yields).map(|(r, y)| {
                if vector(r) {
                    quote! { padded(#y) }
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
        Space::Set(set) => {
            let domain = writer.domain(set)?;
            let buffers = match part {
                Part::Whole => super::method::buffers(&writer, quote! { domain.len() })?,
                Part::Checks => TokenStream::new(),
            };
            let stores = super::method::stores(&writer, &quote! { position - range.start }, &yields)?;
            let outputs = match part {
                Part::Whole => Outputs::of(&writer, None),
                Part::Checks => Outputs::none(),
            };
            let loop_ = loop_over(&writer, set, &outputs, &TokenStream::new(), &quote! { #checks #statements #stores });
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
    let mut written = generic_function(module, kernel, names, name, &body, result, TokenStream::new(), &doc)?;
    let (names, items) = writer.cell_functions;
    *functions = names;
    written.item.extend(items);
    Ok(written)
}

/// A function of a body, generic over what the body asks of the grid. `extra` are arguments after the others.
#[allow(clippy::too_many_arguments)]
pub(super) fn generic_function(
    module: &Module,
    kernel: &Kernel,
    names: &KernelNames,
    name: Ident,
    body: &TokenStream,
    result: Option<TokenStream>,
    extra: TokenStream,
    doc: &str,
) -> Written<GeneralFunction> {
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

fn checks(writer: &mut Writer) -> Written<TokenStream> {
    let mut out = TokenStream::new();
    for check in &writer.kernel.checks {
        let condition = writer.expr(&check.condition)?;
        match (check.kind, writer.kernel.space) {
            (CheckKind::OnEmpty, Space::Set(_)) => {}
            (CheckKind::OnEmpty, Space::Unit) => return Err(writer.internal("a check without an element")),
        }
        let holds = condition.at(Level::Unary);
        out.extend(quote! { if !#holds { return Err(position); } });
    }
    Ok(out)
}

/// The loop over the elements of a set, range by range; `before` are statements at the beginning of a range. Where a condition of an element fails, the loop ends with the error
/// of the first such element.
pub(super) fn loop_over(writer: &Writer, set: SetId, outputs: &Outputs, before: &TokenStream, each: &TokenStream) -> TokenStream {
    let mut elements = None;
    let here = mentions(each, "here").then(|| {
        if writer.is_all(set) {
            quote! { let here = position as u32; }
        } else {
            elements = Some(quote! { let elements = domain.elements(); });
            quote! { let here = elements[position]; }
        }
    });
    let Outputs { whole, part } = outputs;
    let again = mentions(each, "range").then(|| quote! { .clone() });
    let each = quote! { #before for position in range #again { #here #each } };
    if writer.kernel.checks.is_empty() {
        quote! { #elements rt.each(domain.len(), #whole, move |range, #part| { #each }); }
    } else {
        let info = ident(&writer.names.info);
        quote! {
            #elements
            rt.try_each(domain.len(), #whole, move |range, #part| { #each Ok(()) })
                .map_err(|position| rt.on_empty_in_kernel(&#info, domain, position))?;
        }
    }
}
