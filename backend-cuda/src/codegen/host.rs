//! `kernels_cuda.rs`: for each kernel, the arguments and the launch.

use std::collections::BTreeSet;

use equelle_front::backend::{BackendError, Handle};
use equelle_front::ir::{Module, Rounding};
use equelle_front::ops::Reduction;
use equelle_front::types::{CanonicalSet, EntityKind, Extent};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

use super::emit::uses::GridUse;
use super::kernel::KernelText;
use super::launch::{ArgumentValue, DomainSource, EquationLaunch, KernelLaunch, Launch, ResultBuffer, ThreadLayout, ValuesLaunch};

/// The Rust file that launches the kernels.
///
/// # Errors
/// An internal error if the text made is not Rust.
pub(super) fn kernels_file(module: &Module, kernels: &[KernelText<'_>]) -> Result<String, BackendError> {
    let methods = kernels.iter().map(|made| Printer { made }.method(KernelLaunch::new(made, &module.sets).as_ref()));
    let imports = kernels.iter().filter(|made| !made.kernel.params.is_empty()).map(|made| ident(&made.names.arguments));
    let infos = kernels.iter().map(|made| ident(&made.names.info));
    let results = || kernels.iter().flat_map(|made| &made.kernel.results);
    let handles: BTreeSet<&str> = results().filter_map(|result| Handle::of(&result.ty)).map(Handle::name).collect();
    let runtime = ["Bool", "BoolCollection", "EntityCollection", "Vector", "VectorCollection"];
    let runtime = runtime.into_iter().filter(|name| handles.contains(name)).map(ident);
    let reductions = results().any(|result| matches!(result.reduce, Some(Reduction::Any | Reduction::All)));
    let reductions = reductions.then(|| quote!(BoolReduction,));
    let name = &module.name;
    let floating_point = ident(match module.numbers.rounding {
        Rounding::Strict => "Strict",
        Rounding::Fast => "Fast",
    });
    let title = format!("Kernels of {name} on a CUDA device: arguments and launches. The kernels themselves are in `kernels.cu`.");
    let file = quote! {
        #![doc = #title]
        #![allow(unused_imports, unused_variables)]

        use backend_cuda::runtime::{CudaRuntime, FloatingPoint, GridArrays, KernelModule, Scalar, ScalarCollection, #(#runtime),*};
        use equelle_runtime::{#reductions CanonicalSet, EntityKind, Error, Extent, Reduction};

        use crate::kernels::{Kernels, #(#imports,)* #(#infos,)*};

        /// The kernels' CUDA C++ text, compiled at start for the device.
        pub const KERNELS: KernelModule =
            KernelModule::constant(#name, include_str!("kernels.cu"), FloatingPoint::#floating_point);

        impl Kernels for CudaRuntime {
            #(#methods)*
        }
    };
    let parsed =
        syn::parse2(file).map_err(|e| BackendError::internal(Default::default(), format!("kernels_cuda.rs does not parse: {e}")))?;
    Ok(prettyplease::unparse(&parsed))
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// A kernel whose launch is being written.
#[derive(Clone, Copy)]
struct Printer<'a> {
    made: &'a KernelText<'a>,
}

impl Printer<'_> {
    /// The method of the trait `Kernels`.
    fn method(self, launch: Option<&KernelLaunch>) -> TokenStream {
        let KernelText { kernel, names, lines, .. } = self.made;
        let (method, arguments) = (ident(&names.method), ident(&names.arguments));
        let results: Vec<Ident> = kernel.results.iter().filter_map(|r| Handle::of(&r.ty)).map(|h| ident(h.name())).collect();
        let returned = match &results[..] {
            [one] => quote!(#one),
            many => quote!((#(#many),*)),
        };
        // The verifier demands the sets of a kernel.
        let Some(KernelLaunch { vector_sizes, general, cartesian, joined }) = launch else {
            return quote!(compile_error!("a kernel without its domain"););
        };
        let sizes = vector_sizes.iter().map(|&components| {
            let (components, info) = (Literal::usize_unsuffixed(components), ident(&names.info));
            quote!(self.vector_size(#components, &#info)?;)
        });
        let general = self.launch(general);
        let takes_grid = match joined {
            Some(per_axis) => {
                let kept = per_axis.iter().map(|&number| self.param(number));
                quote!(self.uses_closed_forms() #(&& args.#kept.is_per_axis())*)
            }
            None => quote!(self.uses_cartesian_forms()),
        };
        let body = match cartesian.as_ref().map(|launch| self.launch(launch)) {
            Some(cartesian) => quote! {
                if #takes_grid {
                    #cartesian
                } else {
                    #general
                }
            },
            None => general,
        };
        // A kernel without parameters has no argument struct.
        let parameter = if kernel.params.is_empty() { quote!() } else { quote!(args: #arguments<'_, Self>) };
        let docs = lines.iter().map(|line| format!(" {}", line.replace("->", "→")));
        quote! {
            #(#[doc = #docs])*
            fn #method(&mut self, #parameter) -> Result<#returned, Error> {
                #(#sizes)*
                #body
            }
        }
    }

    fn launch(self, launch: &Launch) -> TokenStream {
        match launch {
            Launch::Values(launch) => self.values(launch),
            Launch::Equation(launch) => self.equation(launch),
        }
    }

    /// Statements that launch an equation: what tells its pattern, unless that is known, then what
    /// evaluates.
    fn equation(self, launch: &EquationLaunch) -> TokenStream {
        let KernelText { names, .. } = self.made;
        let domain = self.domain(launch.domain);
        let result = self.result(0);
        let unknowns: Vec<Ident> = (0..launch.unknowns).map(|number| self.param(number)).collect();
        let through = launch.through.iter().map(|&number| self.param(number));
        let info = ident(&names.info);
        let passed = |arguments: &[ArgumentValue], called: TokenStream, launch: TokenStream| {
            let (before, passed) = self.passed(arguments);
            quote! {
                #before
                let call = #called #passed;
                #launch
            }
        };
        // The bytes of a kernel are those of its evaluation.
        let ((of_pattern, pattern), (of_evaluation, evaluation)) = (&launch.pattern, &launch.evaluation);
        let called = quote!(self.call(&KERNELS, #of_pattern)?);
        let tell = passed(pattern, called, quote!(self.launch_over(call, domain.len())?;));
        let called = quote!(self.call_over(&KERNELS, &#info, #of_evaluation, domain.len())?);
        let evaluate = passed(evaluation, called, quote!(self.launch_over_rows(call, &rows)?;));
        let slots = launch.has_slots;
        quote! {
            let domain = #domain;
            let mut builder = self.begin_pattern(&#info, &domain, &[#(args.#unknowns),*], &[#(args.#through),*], #slots)?;
            while let Some(pattern) = self.next_pattern(&mut builder)? {
                #tell
            }
            let rows = self.finish_pattern(builder)?;
            let #result = self.new_collection(&domain)?;
            let entries = self.new_entries(&rows)?;
            #evaluate
            Ok(self.equation(#result, &rows, entries))
        }
    }

    /// Statements that make arguments, and the calls that pass them.
    fn passed(self, arguments: &[ArgumentValue]) -> (TokenStream, TokenStream) {
        let (mut before, mut passed) = (TokenStream::new(), TokenStream::new());
        for (number, &argument) in arguments.iter().enumerate() {
            if let ArgumentValue::Dense(param) = argument {
                // The copy of a collection stored per axis must outlive the call: its memory must
                // not be handed out before.
                let (dense, field) = (self.dense_name(param), self.param(param));
                before.extend(quote!(let #dense = self.dense(args.#field)?;));
            }
            let value = self.argument(argument);
            let name = format_ident!("a{number}");
            before.extend(quote!(let #name = #value;));
            passed.extend(quote!(.arg(#name)));
        }
        (before, passed)
    }

    /// Statements that launch a function, or one for several cells of a row, and give its
    /// results.
    fn values(self, launch: &ValuesLaunch) -> TokenStream {
        let KernelText { names, .. } = self.made;
        let mut before = TokenStream::new();
        if let Some(domain) = launch.domain {
            let expr = self.domain(domain);
            before.extend(quote!(let domain = #expr;));
        }
        for (number, &result) in launch.results.iter().enumerate() {
            let (name, buffer) = (self.result(number), self.buffer(number, result));
            before.extend(quote!(let #name = #buffer;));
        }
        let (more, passed) = self.passed(&launch.arguments);
        before.extend(more);
        let device_name = &launch.function;
        let info = ident(&names.info);
        let elements = if launch.domain.is_some() { quote!(domain.len()) } else { quote!(1) };
        let wide = launch.is_wide.then(|| quote!(let call = call.wide();));
        let rows = launch.rows.as_ref().map(|rows| {
            let functions = rows.functions.iter().map(|(width, name)| {
                let width = Literal::u32_unsuffixed(*width);
                quote!((#width, #name))
            });
            let or_with = ident(if rows.by_planes { "or_by_planes" } else { "or_with_rows" });
            quote!(let call = call.#or_with(&KERNELS, &[#(#functions),*]);)
        });
        let run = match launch.threads {
            ThreadLayout::InsideAndBoundary => quote! {
                #rows
                self.launch_inside_and_boundary(call)?;
            },
            ThreadLayout::Cells => quote! {
                #rows
                self.launch_over_cells(call)?;
            },
            ThreadLayout::Single => quote!(self.launch_over(call, 1)?;),
            ThreadLayout::Leaves(first) => {
                let leaves = self.result(first);
                quote!(self.launch_over_leaves(call, #leaves.len())?;)
            }
            ThreadLayout::Axes => quote! {
                let count = self.per_axis_len(&domain);
                self.launch_over(call, count)?;
            },
            ThreadLayout::Elements => quote! {
                let count = domain.len();
                self.launch_over(call, count)?;
            },
        };
        let finished: Vec<TokenStream> =
            launch.results.iter().enumerate().map(|(number, &result)| finished(result, &self.result(number))).collect();
        let in_place = launch.writes_in_place.then(|| quote!(.in_place()));
        let stop = launch.host_waits.then(|| quote!(self.check_flag()?;));
        let value = match &finished[..] {
            [one] => quote!(Ok(#one)),
            many => quote!(Ok((#(#many),*))),
        };
        quote! {
            #before
            let call = self.call_over(&KERNELS, &#info, #device_name, #elements)? #passed #in_place;
            #wide
            #run
            #stop
            #value
        }
    }

    fn buffer(self, number: usize, result: ResultBuffer) -> TokenStream {
        match result {
            ResultBuffer::Vector => quote!(self.new_vector()?),
            ResultBuffer::Bool => quote!(self.new_bool()?),
            ResultBuffer::Number => quote!(self.new_number()?),
            ResultBuffer::Extreme(_) => {
                let key = Literal::usize_unsuffixed(number);
                quote!(self.extreme(#key)?)
            }
            ResultBuffer::BoolLeaves(reduction) => {
                let reduce = reduction_tokens(reduction);
                quote!(self.bool_leaves(#reduce, &domain)?)
            }
            ResultBuffer::VectorLeaves(reduction) => {
                let reduce = reduction_tokens(reduction);
                quote!(self.vector_leaves(#reduce, &domain)?)
            }
            ResultBuffer::Leaves(reduction) => {
                let reduce = reduction_tokens(reduction);
                quote!(self.leaves(#reduce, &domain)?)
            }
            ResultBuffer::PerAxis => quote!(self.new_per_axis_collection(&domain)?),
            ResultBuffer::Vectors => quote!(self.new_vector_collection(&domain)?),
            ResultBuffer::Bools => quote!(self.new_bool_collection(&domain)?),
            ResultBuffer::Entities(kind) => {
                let kind = kind_tokens(kind);
                quote!(self.new_entity_collection(&domain, #kind)?)
            }
            ResultBuffer::OfParam(param) => {
                let field = self.param(param);
                quote!(self.in_place(args.#field)?)
            }
            ResultBuffer::Numbers => quote!(self.new_collection(&domain)?),
        }
    }

    fn domain(self, domain: DomainSource) -> TokenStream {
        match domain {
            DomainSource::Canonical(canonical) => {
                let canonical = canonical_tokens(canonical);
                quote!(self.canonical_domain(#canonical)?)
            }
            DomainSource::Param(number) => {
                let field = self.param(number);
                quote!(args.#field.clone())
            }
        }
    }

    fn argument(self, argument: ArgumentValue) -> TokenStream {
        let ranks = |of: DomainSource, get: TokenStream| {
            let of = self.domain(of);
            quote!({
                let of = #of;
                self.#get(&of)?
            })
        };
        let info = ident(&self.made.names.info);
        match argument {
            ArgumentValue::SpaceInFileOrder => quote!(self.space_in_file_order(&domain)?),
            ArgumentValue::Space => quote!(self.space(&domain)?),
            ArgumentValue::Grid(needs) => {
                let arrays = grid_arrays(needs);
                quote!(self.grid_args(#arrays)?)
            }
            ArgumentValue::Cartesian => quote!(self.cartesian_args()?),
            ArgumentValue::Ranks(of) => ranks(of, quote!(ranks)),
            ArgumentValue::CartesianRanks(of) => ranks(of, quote!(cartesian_ranks)),
            ArgumentValue::Checks => quote!(self.checks(&#info, &domain)?),
            ArgumentValue::OneCellChecks => quote!(self.one_cell_checks(&#info, &domain)?),
            ArgumentValue::Dense(number) => {
                let dense = self.dense_name(number);
                quote!(#dense.pointer())
            }
            ArgumentValue::Pointer(number) => {
                let field = self.param(number);
                quote!(args.#field.pointer())
            }
            ArgumentValue::Scalar(number) => {
                let field = self.param(number);
                quote!(self.scalar_pointer(args.#field)?)
            }
            ArgumentValue::Bool(number) => {
                let field = self.param(number);
                quote!(self.bool_pointer(args.#field)?)
            }
            ArgumentValue::BySide(number) => {
                let field = self.param(number);
                quote!(self.by_side(args.#field)?)
            }
            ArgumentValue::Size(number) => {
                let field = self.param(number);
                quote!(args.#field.domain().len() as u32)
            }
            ArgumentValue::Rows => quote!(rows.args(&entries)),
            ArgumentValue::Slots => quote!(rows.slots()?),
            ArgumentValue::Pattern => quote!(pattern),
            ArgumentValue::FirstColumn(number) => {
                let field = self.param(number);
                quote!(self.first_column(args.#field)?)
            }
            ArgumentValue::SingleResult(number) => {
                let name = self.result(number);
                quote!(#name.address())
            }
            ArgumentValue::Result(number) => {
                let name = self.result(number);
                quote!(#name.pointer())
            }
        }
    }

    fn param(self, number: usize) -> Ident {
        ident(&self.made.names.params[number])
    }

    fn result(self, number: usize) -> Ident {
        format_ident!("{}_out", self.made.names.results[number])
    }

    fn dense_name(self, param: usize) -> Ident {
        format_ident!("{}_dense", self.made.names.params[param])
    }
}

/// The value of a result whose kernel has been launched.
fn finished(result: ResultBuffer, name: &Ident) -> TokenStream {
    match result {
        ResultBuffer::Vector => quote!(Vector(#name)),
        ResultBuffer::Bool => quote!(Bool::Device(#name)),
        ResultBuffer::Number => quote!(Scalar::Device(#name)),
        ResultBuffer::Extreme(reduction) => {
            let reduce = reduction_tokens(reduction);
            quote!(self.extreme_value(#reduce, #name)?)
        }
        ResultBuffer::BoolLeaves(_) => quote!(self.combine_bools(#name)?),
        ResultBuffer::VectorLeaves(_) => quote!(self.combine_vectors(#name)?),
        ResultBuffer::Leaves(_) => quote!(self.combine(#name)?),
        ResultBuffer::PerAxis
        | ResultBuffer::Numbers
        | ResultBuffer::Vectors
        | ResultBuffer::Bools
        | ResultBuffer::Entities(_)
        | ResultBuffer::OfParam(_) => quote!(#name),
    }
}

fn grid_arrays(needs: GridUse) -> TokenStream {
    let fields = [
        ("sides", needs.sides),
        ("side_faces", needs.side_faces),
        ("side_ranks", needs.side_ranks),
        ("face_cells", needs.face_cells),
        ("cell_volumes", needs.cell_volumes),
        ("cell_centroids", needs.cell_centroids),
        ("face_areas", needs.face_areas),
        ("face_centroids", needs.face_centroids),
        ("face_normals", needs.face_normals),
        ("face_gaps", needs.face_gaps),
        ("face_transmissibilities", needs.face_transmissibilities),
        ("edge_lengths", needs.edge_lengths),
        ("edge_centroids", needs.edge_centroids),
        ("vertex_positions", needs.vertex_positions),
    ];
    let set = fields.iter().filter(|(_, needed)| *needed).map(|(name, _)| {
        let name = ident(name);
        quote!(#name: true)
    });
    quote!(GridArrays { #(#set,)* ..GridArrays::default() })
}

fn reduction_tokens(reduction: Reduction) -> TokenStream {
    match reduction {
        Reduction::Max => quote!(Reduction::Max),
        Reduction::Min => quote!(Reduction::Min),
        Reduction::Sum => quote!(Reduction::Sum),
        Reduction::Prod => quote!(Reduction::Prod),
        Reduction::Any => quote!(BoolReduction::Any),
        Reduction::All => quote!(BoolReduction::All),
    }
}

fn kind_tokens(kind: EntityKind) -> TokenStream {
    match kind {
        EntityKind::Cell => quote!(EntityKind::Cell),
        EntityKind::Face => quote!(EntityKind::Face),
        EntityKind::Edge => quote!(EntityKind::Edge),
        EntityKind::Vertex => quote!(EntityKind::Vertex),
    }
}

fn canonical_tokens(set: CanonicalSet) -> TokenStream {
    let kind = kind_tokens(set.kind);
    let extent = match set.extent {
        Extent::Interior => quote!(Extent::Interior),
        Extent::Boundary => quote!(Extent::Boundary),
        Extent::All => quote!(Extent::All),
    };
    quote!(CanonicalSet::new(#kind, #extent))
}
