//! `kernels_cuda.rs`: for each kernel, the arguments and the launch.

use std::collections::BTreeSet;

use equelle_front::backend::{BackendError, Handle};
use equelle_front::ir::{CheckKind, Module, ParamId, Rounding};
use equelle_front::ops::Reduction;
use equelle_front::types::{Basic, CanonicalSet, EntityKind, Extent, SetId, SetTable, Shape};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

use super::emit::uses::GridUse;
use super::kernel::{CartesianFunction, Functions, KernelText};
use super::leaves::goes_by_leaves;
use super::signature::{Argument, EquationText, Function, LaunchBounds};

/// The Rust file that launches the kernels.
///
/// # Errors
/// An internal error if the text made is not Rust.
pub(super) fn kernels_file(module: &Module, kernels: &[KernelText<'_>]) -> Result<String, BackendError> {
    let methods = kernels.iter().map(|made| Launch { made, sets: &module.sets }.method());
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
            KernelModule { name: #name, source: include_str!("kernels.cu"), floating_point: FloatingPoint::#floating_point };

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
struct Launch<'a> {
    made: &'a KernelText<'a>,
    sets: &'a SetTable,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    General,
    Cells,
    PerAxis,
}

impl Launch<'_> {
    /// The method of the trait `Kernels`.
    fn method(self) -> TokenStream {
        let KernelText { kernel, names, usage, lines, functions } = self.made;
        let (method, arguments) = (ident(&names.method), ident(&names.arguments));
        let results: Vec<Ident> = kernel.results.iter().filter_map(|r| Handle::of(&r.ty)).map(|h| ident(h.name())).collect();
        let returned = match &results[..] {
            [one] => quote!(#one),
            many => quote!((#(#many),*)),
        };
        let sizes = usage.general.vector_sizes.iter().map(|&components| {
            let (components, info) = (Literal::usize_unsuffixed(components), ident(&names.info));
            quote!(self.vector_size(#components, &#info)?;)
        });
        let (general, cartesian) = match functions {
            Functions::Equation { general, cartesian } => {
                (self.equation(general, Form::General), cartesian.as_ref().map(|text| self.equation(text, Form::Cells)))
            }
            Functions::Cells(function, rows) => (self.launch(function, Form::Cells, rows.as_deref()), None),
            Functions::Values { general, cartesian } => {
                let cartesian = cartesian.as_ref().map(|function| match &**function {
                    CartesianFunction::Cells(function, rows) => self.launch(function, Form::Cells, rows.as_ref()),
                    CartesianFunction::PerAxis(function) => self.launch(function, Form::PerAxis, None),
                });
                (self.launch(general, Form::General, None), cartesian)
            }
        };
        let body = match cartesian {
            Some(cartesian) => quote! {
                if self.uses_cartesian_forms() {
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

    /// Statements that launch an equation: what tells its pattern, unless that is known, then what
    /// evaluates.
    fn equation(self, EquationText { evaluation, pattern }: &EquationText, form: Form) -> TokenStream {
        let KernelText { kernel, names, .. } = self.made;
        let Some(domain) = kernel.space_set().map(|set| self.domain_of(set)) else {
            // The verifier demands a set.
            return quote!(compile_error!("an equation that is over no set"));
        };
        let result = format_ident!("{}_out", names.results[0]);
        let count = kernel.jacobian.as_ref().map_or(0, |form| form.unknowns as usize);
        let unknowns: Vec<Ident> = names.params.iter().take(count).map(|p| ident(p)).collect();
        // Paths lead through these; the pattern is that of their entities.
        let through = kernel.params.iter().zip(&names.params).filter(|(p, _)| Handle::of(&p.ty) == Some(Handle::EntityCollection));
        let through = through.map(|(_, name)| ident(name));
        let results = [result.clone()];
        let info = ident(&names.info);
        let passed = |function: &Function, called: TokenStream, launch: TokenStream| {
            let (mut before, mut passed) = (TokenStream::new(), TokenStream::new());
            for (number, &argument) in function.arguments.iter().enumerate() {
                let value = match argument {
                    // Values kept per axis are broadcast, but never those of an unknown.
                    Argument::Param(param) if param < count => {
                        let field = ident(&names.params[param]);
                        quote!(args.#field.pointer())
                    }
                    Argument::Param(param) if self.needs_dense(form, param) => {
                        let (dense, field) = (self.dense_name(param), ident(&names.params[param]));
                        before.extend(quote!(let #dense = self.dense(args.#field)?;));
                        self.argument_tokens(function, form, argument, &results)
                    }
                    _ => self.argument_tokens(function, form, argument, &results),
                };
                let name = format_ident!("a{number}");
                before.extend(quote!(let #name = #value;));
                passed.extend(quote!(.arg(#name)));
            }
            quote! {
                #before
                let call = #called #passed;
                #launch
            }
        };
        // The bytes of a kernel are those of its evaluation.
        let (of_pattern, of_evaluation) = (&pattern.name, &evaluation.name);
        let called = quote!(self.call(&KERNELS, #of_pattern)?);
        let tell = passed(pattern, called, quote!(self.launch_over(call, domain.len())?;));
        let called = quote!(self.call_over(&KERNELS, &#info, #of_evaluation, domain.len())?);
        let evaluate = passed(evaluation, called, quote!(self.launch_over_rows(call, &rows)?;));
        let slots = evaluation.arguments.contains(&Argument::Slots);
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

    /// Statements that launch a function, or one for several cells of a row, and give its
    /// results.
    fn launch(self, function: &Function, form: Form, rows: Option<&Function>) -> TokenStream {
        let KernelText { kernel, names, usage, .. } = self.made;
        let mut before = TokenStream::new();
        let domain = kernel.space_set().map(|set| {
            let expr = self.domain_of(set);
            before.extend(quote!(let domain = #expr;));
            quote!(domain)
        });
        let mut result_names = Vec::new();
        let by_leaves = goes_by_leaves(kernel);
        for (number, result) in kernel.results.iter().enumerate() {
            let name = format_ident!("{}_out", names.results[number]);
            let buffer = match (&domain, result.reduce, form) {
                (None, ..) => match result.ty.basic {
                    Basic::Vector => quote!(self.new_vector()?),
                    Basic::Bool => quote!(self.new_bool()?),
                    Basic::Scalar | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => quote!(self.new_number()?),
                },
                (Some(_), Some(_), _) if !by_leaves => {
                    let key = Literal::usize_unsuffixed(number);
                    quote!(self.extreme(#key)?)
                }
                (Some(_), Some(reduction), _) => {
                    let reduce = reduction_tokens(reduction);
                    match (reduction, result.ty.basic) {
                        (Reduction::Any | Reduction::All, _) => quote!(self.bool_leaves(#reduce, &domain)?),
                        (_, Basic::Vector) => quote!(self.vector_leaves(#reduce, &domain)?),
                        (Reduction::Max | Reduction::Min | Reduction::Sum | Reduction::Prod, _) => quote!(self.leaves(#reduce, &domain)?),
                    }
                }
                (Some(_), None, Form::PerAxis) => quote!(self.new_per_axis_collection(&domain)?),
                (Some(_), None, Form::General | Form::Cells) => match result.ty.basic {
                    Basic::Vector => quote!(self.new_vector_collection(&domain)?),
                    Basic::Bool => quote!(self.new_bool_collection(&domain)?),
                    Basic::Entity(kind) => {
                        let kind = kind_tokens(kind);
                        quote!(self.new_entity_collection(&domain, #kind)?)
                    }
                    Basic::Scalar | Basic::Text | Basic::Table | Basic::Axis(_) => match result.in_place {
                        Some(ParamId(param)) => {
                            let field = ident(&names.params[param as usize]);
                            quote!(self.in_place(args.#field)?)
                        }
                        None => quote!(self.new_collection(&domain)?),
                    },
                },
            };
            before.extend(quote!(let #name = #buffer;));
            result_names.push(name);
        }
        let reduced = kernel.results.iter().position(|r| by_leaves && r.reduce.is_some());
        let mut passed = TokenStream::new();
        for (number, &argument) in function.arguments.iter().enumerate() {
            if let Argument::Param(param) = argument
                && self.needs_dense(form, param)
            {
                // The copy of a collection stored per axis must outlive the call: its memory must
                // not be handed out before.
                let (dense, field) = (self.dense_name(param), ident(&names.params[param]));
                before.extend(quote!(let #dense = self.dense(args.#field)?;));
            }
            let value = self.argument_tokens(function, form, argument, &result_names);
            let name = format_ident!("a{number}");
            before.extend(quote!(let #name = #value;));
            passed.extend(quote!(.arg(#name)));
        }
        let device_name = &function.name;
        let info = ident(&names.info);
        let elements = if domain.is_some() { quote!(domain.len()) } else { quote!(1) };
        let wide = (function.bounds == LaunchBounds::Wide).then(|| quote!(let call = call.wide();));
        let rows = rows.map(|rows| {
            let functions = rows.row_widths.iter().map(|&width| {
                let (name, width) = (rows.name_of_width(width), Literal::u32_unsuffixed(width));
                quote!((#width, #name))
            });
            let or_with = ident(if rows.bounds == LaunchBounds::Planes { "or_by_planes" } else { "or_with_rows" });
            quote!(let call = call.#or_with(&KERNELS, &[#(#functions),*]);)
        });
        let run = match (&domain, reduced, form) {
            (_, _, Form::Cells) if function.apart => quote! {
                #rows
                self.launch_inside_and_boundary(call)?;
            },
            (_, _, Form::Cells) => quote! {
                #rows
                self.launch_over_cells(call)?;
            },
            (None, ..) => quote!(self.launch_over(call, 1)?;),
            (Some(_), Some(first), _) => {
                let leaves = &result_names[first];
                quote!(self.launch_over_leaves(call, #leaves.len())?;)
            }
            (Some(_), None, Form::PerAxis) => quote! {
                let count = self.per_axis_len(&domain);
                self.launch_over(call, count)?;
            },
            (Some(_), None, Form::General) => quote! {
                let count = domain.len();
                self.launch_over(call, count)?;
            },
        };
        let finished: Vec<TokenStream> = kernel
            .results
            .iter()
            .zip(&result_names)
            .map(|(result, name)| match (&domain, result.reduce, result.ty.basic) {
                (None, _, Basic::Vector) => quote!(Vector(#name)),
                (None, _, Basic::Bool) => quote!(Bool::Device(#name)),
                (None, _, Basic::Scalar | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_)) => quote!(Scalar::Device(#name)),
                (Some(_), Some(reduction), _) if !by_leaves => {
                    let reduce = reduction_tokens(reduction);
                    quote!(self.extreme_value(#reduce, #name)?)
                }
                (Some(_), Some(Reduction::Any | Reduction::All), _) => quote!(self.combine_bools(#name)?),
                (Some(_), Some(_), Basic::Vector) => quote!(self.combine_vectors(#name)?),
                (Some(_), Some(_), _) => quote!(self.combine(#name)?),
                (Some(_), None, _) => quote!(#name),
            })
            .collect();
        let in_place = kernel.writes_what_it_reads().then(|| quote!(.in_place()));
        let stop = usage.host_waits.then(|| quote!(self.check_flag()?;));
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

    /// The domain of a set: a parameter, or a canonical set.
    fn domain_of(self, set: SetId) -> TokenStream {
        let KernelText { kernel, names, .. } = self.made;
        match self.sets.get(set).canonical {
            Some(canonical) => {
                let canonical = canonical_tokens(canonical);
                quote!(self.canonical_domain(#canonical)?)
            }
            None => match kernel.domain_param(set) {
                Some(ParamId(number)) => {
                    let field = ident(&names.params[number as usize]);
                    quote!(args.#field.clone())
                }
                // The verifier demands the parameter.
                None => quote!(compile_error!("a kernel without its domain")),
            },
        }
    }

    fn argument_tokens(self, function: &Function, form: Form, argument: Argument, results: &[Ident]) -> TokenStream {
        let KernelText { kernel, names, .. } = self.made;
        match argument {
            Argument::Space if goes_by_leaves(kernel) => quote!(self.space_in_file_order(&domain)?),
            Argument::Space => quote!(self.space(&domain)?),
            Argument::Grid => {
                let arrays = grid_arrays(function.grid);
                quote!(self.grid_args(#arrays)?)
            }
            Argument::Cartesian => quote!(self.cartesian_args()?),
            Argument::Ranks(set) => {
                let of = self.domain_of(set);
                let get = if form == Form::General { quote!(ranks) } else { quote!(cartesian_ranks) };
                quote!({
                    let of = #of;
                    self.#get(&of)?
                })
            }
            Argument::Checks => {
                let info = ident(&names.info);
                // The checks of a kernel are of one kind.
                match kernel.checks.first().map(|check| check.kind) {
                    Some(CheckKind::OnEmpty) | None => quote!(self.checks(&#info, &domain)?),
                    Some(CheckKind::OneCell) => quote!(self.one_cell_checks(&#info, &domain)?),
                }
            }
            Argument::Param(number) => {
                let field = ident(&names.params[number]);
                let param = &kernel.params[number];
                if param.ty.shape == Shape::Single {
                    match param.ty.basic {
                        Basic::Vector => quote!(args.#field.pointer()),
                        Basic::Bool => quote!(self.bool_pointer(args.#field)?),
                        Basic::Table => quote!(args.#field.pointer()),
                        Basic::Scalar | Basic::Entity(_) | Basic::Text | Basic::Axis(_) => quote!(self.scalar_pointer(args.#field)?),
                    }
                } else if self.needs_dense(form, number) {
                    let dense = self.dense_name(number);
                    quote!(#dense.pointer())
                } else {
                    quote!(args.#field.pointer())
                }
            }
            Argument::BySide(number) => {
                let field = ident(&names.params[number]);
                quote!(self.by_side(args.#field)?)
            }
            Argument::Size(number) => {
                let field = ident(&names.params[number]);
                quote!(args.#field.domain().len() as u32)
            }
            Argument::Rows => quote!(rows.args(&entries)),
            Argument::Slots => quote!(rows.slots()?),
            Argument::Pattern => quote!(pattern),
            Argument::First(number) => {
                let field = ident(&names.params[number]);
                quote!(self.first_column(args.#field)?)
            }
            Argument::Result(number) => {
                let name = &results[number];
                if kernel.space_set().is_none() { quote!(#name.address()) } else { quote!(#name.pointer()) }
            }
        }
    }

    /// Whether a parameter is read as one value per element of a collection of numbers.
    fn needs_dense(self, form: Form, param: usize) -> bool {
        let info = &self.made.kernel.params[param];
        Handle::of(&info.ty) == Some(Handle::ScalarCollection) && !(info.per_axis && form != Form::General)
    }

    fn dense_name(self, param: usize) -> Ident {
        format_ident!("{}_dense", self.made.names.params[param])
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
