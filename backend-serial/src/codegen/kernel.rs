//! The trait method of a kernel: picks the form.

use equelle_front::backend::forms::{ChosenForm, Refusal};
use equelle_front::backend::tabulated::{Tabulated, tabulated};
use equelle_front::backend::usage::KernelUsage;
use equelle_front::backend::{BackendError, KernelNames, Namer};
use equelle_front::ir::{Kernel, Param, ParamId, Space, reads_by_index, sums_over_faces};
use equelle_front::types::{Basic, Shape};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::cartesian::function::{Entry, Functions, cartesian_equation, cartesian_functions};
use super::cartesian::stencil_rows::{inside_rows, stencil_rows};
use super::emit::reals::Reals;
use super::emit::text::ident;
use super::emit::uses::{Use, Uses};
use super::emit::writer::{Failure, Source, Written};
use super::jacobian::unstructured::unstructured_equation;
use super::signature::{GeneralFunction, GridUse, args_type, result_type};
use super::unstructured::function::{Part, unstructured_function};

/// Text of a kernel.
pub(super) struct Method {
    /// The method of the trait.
    pub method: TokenStream,
    /// Functions that it calls.
    pub functions: TokenStream,
    /// References of all of them.
    pub uses: Uses,
    /// Its loop on a Cartesian grid.
    pub form: ChosenForm,
}

/// Writes a kernel.
pub(super) fn write(source: Source<'_>, usage: &KernelUsage, functions: &mut Namer) -> Result<Method, BackendError> {
    let Source { module, kernel, names, .. } = source;
    let mut names_with_tables = names.clone();
    let with_tables = tabulated(module, kernel).filter(|_| Reals::of(module, kernel) != Reals::Rounded);
    let [mut general_source, mut cartesian_source] = [source; 2];
    if let Some(Tabulated { kernel, general, cartesian }) = &with_tables {
        let mut namer = Namer::rust();
        namer.reserve(&names.params);
        names_with_tables.params.extend(kernel.params[names.params.len()..].iter().map(|param| namer.fresh(&param.name)));
        let of = |tables| Source { module, kernel, names: &names_with_tables, tables };
        (general_source, cartesian_source) = (of(general), of(cartesian));
    }
    let name = |functions: &mut Namer, suffix: &str| ident(&functions.fresh(&format!("{}_{suffix}", names.method)));
    // Only numbers are kept per axis.
    let kept = kernel.params.iter().all(|p| !p.per_axis || p.ty.basic == Basic::Scalar);
    let rows = match &general_source.kernel.jacobian {
        None if !kept || kernel.cartesian.is_some() => None,
        None if sums_over_faces(kernel) => Some(inside_rows(source, functions)),
        None => reads_by_index(kernel).then(|| stencil_rows(source, functions)),
        Some(form) => (kept && form.cartesian.is_none()).then(|| inside_rows(general_source, functions)),
    };
    // No other grid gets here.
    let rows_alone = reads_by_index(kernel) && matches!(rows, Some(Ok(_))) && !kernel.params.iter().any(|p| p.per_axis);
    let general_name = name(functions, "general");
    let general = match &general_source.kernel.jacobian {
        None => unwrap(kernel, unstructured_function(source, general_name, Part::Whole, functions))?,
        Some(form) => {
            let pattern_name = name(functions, "pattern");
            unwrap(kernel, unstructured_equation(general_source, form, [general_name, pattern_name], functions))?
        }
    };
    let reals = Reals::of(module, kernel);
    let mut items = TokenStream::new();
    let mut uses = if rows_alone { Uses::default() } else { general.uses.clone() };
    uses.add(Use::Info);
    let mut body = TokenStream::new();
    if let Some(dim) = usage.general.largest_component.map(|c| c as usize + 1).filter(|&dim| dim > 1) {
        uses.add(Use::Info);
        let (dim, info) = (Literal::usize_unsuffixed(dim), ident(&names.info));
        body.extend(quote! { self.needs_dimension(#dim, &#info)?; });
    }
    for &components in &usage.general.vector_sizes {
        uses.add(Use::Info);
        let (components, info) = (Literal::usize_unsuffixed(components), ident(&names.info));
        body.extend(quote! { self.vector_size(#components, &#info)?; });
    }
    let written = match (&cartesian_source.kernel.jacobian, &kernel.cartesian) {
        (Some(form), _) => match form.cartesian.as_ref().filter(|_| kept) {
            Some(block) => Some(cartesian_equation(cartesian_source, form, block, functions)),
            None => rows,
        },
        (None, Some(form)) if kept => {
            Some(rows_of_components(source, functions).map_or_else(|| cartesian_functions(source, form, functions), Ok))
        }
        (None, _) => rows,
    };
    let any_grid = ChosenForm::general(kernel, &module.sets);
    let form = if let Some(written) = written {
        match written {
            Ok(written) => {
                items.extend(written.items);
                uses.append(&written.uses);
                let mut before = TokenStream::new();
                if usage.can_fail {
                    let checks_name = name(functions, "checks");
                    let checks = unwrap(kernel, unstructured_function(source, checks_name, Part::Checks, functions))?;
                    let grid = checks.grid.map(|_| quote! { &grid });
                    let call = call(&checks.name, kernel, checks.generic(), &quote! { #grid });
                    items.extend(checks.item);
                    uses.append(&checks.uses);
                    before = quote! { #call?; };
                }
                body.extend(if rows_alone {
                    structured_call(kernel, reals, &written.entry, &before)
                } else {
                    cartesian_branch(kernel, reals, names, &written.entry, &before, kernel.takes_joined_sides(&module.sets))
                });
                written.form
            }
            // This back-end has no way to write it in that form; the general form gives the same
            // numbers.
            Err(Failure::Form(refusal)) => {
                body.extend(closed_form(kernel, reals, &general));
                // A kernel that mixes forms is told as such, whichever form refused it.
                match any_grid.refused {
                    Some(Refusal::NoCartesianBody) => ChosenForm { refused: Some(refusal), ..any_grid },
                    Some(_) | None => any_grid,
                }
            }
            Err(Failure::Error(error)) => return Err(error),
        }
    } else {
        body.extend(closed_form(kernel, reals, &general));
        any_grid
    };
    if !rows_alone {
        body.extend(with_arrays(kernel, reals, &general, &mut uses));
        items.extend(general.item);
    }
    let method = ident(&names.method);
    let args = args_type(kernel, names).map(|ty| quote! { , args: #ty });
    let result = result_type(kernel, &mut uses)?;
    let timer = timer(source, form)?;
    Ok(Method { method: quote! { fn #method(&mut self #args) -> Result<#result, Error> { #timer #body } }, functions: items, uses, form })
}

/// Rows for a kernel that has a Cartesian body and loads Vectors, which no row takes as a whole.
fn rows_of_components(source: Source<'_>, functions: &mut Namer) -> Option<Functions> {
    let is_loaded = |param: &Param| param.ty.basic == Basic::Vector && matches!(param.ty.shape, Shape::Collection(_));
    if !source.kernel.params.iter().any(is_loaded) {
        return None;
    }
    let mut namer = functions.clone();
    let rows = inside_rows(source, &mut namer).ok()?;
    *functions = namer;
    Some(rows)
}

/// `let _timer = ...;`, which measures the kernel with `--profile`.
fn timer(source: Source<'_>, form: ChosenForm) -> Result<TokenStream, BackendError> {
    let Source { module, kernel, names, .. } = source;
    let form = form.form.name();
    let info = ident(&names.info);
    let set = match kernel.space {
        Space::Set(set) if module.sets.get(set).canonical.is_none() => set,
        Space::Set(_) | Space::Unit => return Ok(quote! { let _timer = self.session_mut().time_kernel(&#info, #form); }),
    };
    let field = |index: usize| ident(&names.params[index]);
    let over = kernel.params.iter().position(|param| param.ty.shape == Shape::Collection(set)).map(field);
    let len = match (kernel.domain_param(set), over) {
        (Some(ParamId(index)), _) => {
            let domain = field(index as usize);
            quote! { args.#domain.len() }
        }
        (None, Some(collection)) => quote! { args.#collection.domain().len() },
        (None, None) => {
            let span = kernel.spans.first().copied().unwrap_or_default();
            return Err(BackendError::internal(span, format!("kernel `{}` runs over a set that is no parameter", kernel.name)));
        }
    };
    Ok(quote! { let _timer = self.session().time_kernel_over(&#info, #form, #len); })
}

/// The general function without the arrays of the grid, where they need not exist.
fn closed_form(kernel: &Kernel, reals: Reals, general: &GeneralFunction) -> TokenStream {
    // A sum over faces with derivatives visits each face from both sides and at every iterate:
    // faster through arrays than by divisions.
    if !general.grid.is_some_and(GridUse::any) || kernel.jacobian.is_some() {
        return TokenStream::new();
    }
    let call = call(&general.name, kernel, general.generic(), &quote! { &grid });
    let cartesian_grid = reals.cartesian_grid(false);
    quote! { if let Some(grid) = self.#cartesian_grid() { return #call; } }
}

/// The general function on the arrays of the grid.
fn with_arrays(kernel: &Kernel, reals: Reals, general: &GeneralFunction, uses: &mut Uses) -> TokenStream {
    let Some(needs) = general.grid else { return call(&general.name, kernel, general.generic(), &TokenStream::new()) };
    let topology = needs.topology.then(|| quote! { .with_topology() });
    let sides = needs.sides.then(|| quote! { .with_sides() });
    let geometry = needs.geometry.then(|| quote! { .with_geometry() });
    let edges = needs.edges.then(|| quote! { .with_edges() });
    let rounded = (reals == Reals::Single).then(|| quote! { .rounded::<f32>() });
    let vertices = needs.vertices.then(|| quote! { .with_vertices() });
    let call = call(&general.name, kernel, general.generic(), &quote! { &grid });
    let arrays = uses.item("Arrays");
    quote! {
        let grid = self.shared_grid();
        let grid = #arrays::of(&grid) #topology #sides #geometry #edges #vertices #rounded;
        #call
    }
}

fn unwrap<T>(kernel: &Kernel, written: Written<T>) -> Result<T, BackendError> {
    written.map_err(|failure| match failure {
        Failure::Error(error) => error,
        Failure::Form(_) => {
            let span = kernel.spans.first().copied().unwrap_or_default();
            BackendError::internal(span, format!("kernel `{}`: a construct of Cartesian forms outside one", kernel.name))
        }
    })
}

/// `if let Some(grid) = ... { return ... }`
fn cartesian_branch(kernel: &Kernel, reals: Reals, names: &KernelNames, entry: &Entry, before: &TokenStream, joined: bool) -> TokenStream {
    // The compiler keeps these parameters per axis only by convention, so this is checked; without
    // it the general form runs.
    let kept = kernel.params.iter().zip(&names.params).filter(|(p, _)| p.per_axis).map(|(_, name)| {
        let name = ident(name);
        quote! { && args.#name.per_axis().is_some() }
    });
    let (extra, cartesian_grid) = (quote! { &grid }, reals.cartesian_grid(joined));
    let dispatch = call_of_entry(entry, kernel, &quote! { &args, }, &extra);
    quote! {
        if let Some(grid) = self.#cartesian_grid() #(#kept)* {
            #before
            return #dispatch;
        }
    }
}

/// The call of a form for Cartesian grids, which are the only ones of the program.
fn structured_call(kernel: &Kernel, reals: Reals, entry: &Entry, before: &TokenStream) -> TokenStream {
    let rounded = (reals == Reals::Single).then(|| quote! { .rounded() });
    let args = if kernel.writes_what_it_reads() {
        quote! { args, }
    } else {
        quote! { &args, }
    };
    let dispatch = call_of_entry(entry, kernel, &args, &quote! { &grid });
    quote! {
        let grid = self.structured_grid()? #rounded;
        #before
        #dispatch
    }
}

/// Generic arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Generic {
    /// None that need be said.
    None,
    /// The dimension.
    Dim,
    /// The dimension and the kind of grid.
    DimAndGrid,
}

impl GeneralFunction {
    fn generic(&self) -> Generic {
        match (self.takes_dim, self.grid) {
            (false, _) => Generic::None,
            (true, None) => Generic::Dim,
            (true, Some(_)) => Generic::DimAndGrid,
        }
    }
}

/// A call of a free function, for the dimension of the grid if it is generic.
fn call(name: &Ident, kernel: &Kernel, generic: Generic, extra: &TokenStream) -> TokenStream {
    call_with(name, kernel, generic, &quote! { &args, }, extra)
}

/// A call of the function for the current grid.
fn call_of_entry(entry: &Entry, kernel: &Kernel, args: &TokenStream, extra: &TokenStream) -> TokenStream {
    let [one, two, three] = match entry {
        Entry::AnyDimension(name) => return call_with(name, kernel, Generic::Dim, args, extra),
        Entry::ByDimension(names) => names,
    };
    let args = (!kernel.params.is_empty()).then_some(args);
    quote! {
        match self.grid().dim() {
            1 => #one::<1>(self, #args #extra),
            2 => #two::<2>(self, #args #extra),
            _ => #three::<3>(self, #args #extra),
        }
    }
}

/// The same with these arguments, if there are any.
fn call_with(name: &Ident, kernel: &Kernel, generic: Generic, args: &TokenStream, extra: &TokenStream) -> TokenStream {
    let others = match generic {
        Generic::None => None,
        Generic::Dim => Some(TokenStream::new()),
        Generic::DimAndGrid => Some(quote! { , _ }),
    };
    let args = (!kernel.params.is_empty()).then_some(args);
    let Some(others) = others else { return quote! { #name(self, #args #extra) } };
    quote! {
        match self.grid().dim() {
            1 => #name::<1 #others>(self, #args #extra),
            2 => #name::<2 #others>(self, #args #extra),
            _ => #name::<3 #others>(self, #args #extra),
        }
    }
}
