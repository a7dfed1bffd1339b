//! State shared by the functions of one kernel: names, and the values they read.

use std::collections::BTreeMap;

use equelle_front::backend::forms::Refusal;
use equelle_front::backend::inside::FaceAcross;
use equelle_front::backend::tabulated::TablesOfCells;
use equelle_front::backend::{BackendError, KernelNames, Namer};
use equelle_front::ir::{Kernel, LocalId, Module, Param, ParamId, Path};
use equelle_front::source::Span;
use equelle_front::types::{CanonicalSet, EntityKind, Extent, SetId, Shape};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::derivatives::Derivatives;
use super::reals::Reals;
use super::stencil_point::{FaceNames, Leaf, SideFunctions, StencilPoint};
use super::stencil_reads::StencilReads;
use super::text::{canonical_set, ident};
use super::uses::{Use, Uses};

/// Names that the written functions use for their own purposes.
const RESERVED: &str = "Side around boundary end Reach RowEntries cells_in with_next side cells faces sweep Sweep Entries \
range entries next pattern row_ptr rows slots stencil rt args grid at axis here position domain row \
len i elements boundary_face first step terms NONE DIM SerialRuntime CartesianGrid SubsetRanks \
Kernels Error ErrorKind CanonicalSet EntityKind Extent Reduction component components dot lane \
length lanes segment cell_rows lane_rows lanes_of ends ENDS LANES ROWS CUTS READS Cuts Reads TileCache Lane LaneRow RowOffset STRIP strips SideMap \
after_in_row is_beyond lanes_of_truths copies copies_of_truths idle_copies idle_copies_of_truths LANES_OF_TRUTHS start mul_add vector_add vector_at vector_div vector_mul vector_neg vector_sub vector_of vector \
INSIDE Inside cells_here volume_at padded places math std f64 f32 u32 usize bool value Arrays Entities Places Positions G";

/// Takes the names out of circulation that the written functions use for their own purposes.
pub(in crate::codegen) fn reserve(namer: &mut Namer) {
    namer.reserve(RESERVED.split(' '));
}

/// Kind of the function being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Form {
    /// Any grid: `here` is an entity (u32), `position` its position in the space.
    General,
    /// One cell of a Cartesian grid: `here` is its index (usize), `at` its position; in a side
    /// block `axis` is the axis.
    Cell,
    /// Values per axis: in a face space `axis` is the axis.
    PerAxis,
    /// The inside of a row, or a function it calls: what it reads are [`Leaf`]s.
    Row,
    /// A part of a row of a kernel that reads by index: see [`super::stencil`].
    Stencil,
}

/// Reason why a function cannot be written.
#[derive(Debug)]
pub(in crate::codegen) enum Failure {
    /// A construct that no form of this back-end can express.
    Error(BackendError),
    /// A construct that this Cartesian form cannot express; the general form can.
    Form(Refusal),
}

impl From<BackendError> for Failure {
    fn from(error: BackendError) -> Self {
        Failure::Error(error)
    }
}

/// Result of writing.
pub(in crate::codegen) type Written<T> = Result<T, Failure>;

/// A kernel, where it stands, and what its text is called.
#[derive(Clone, Copy)]
pub(in crate::codegen) struct Source<'a> {
    pub module: &'a Module,
    pub kernel: &'a Kernel,
    pub names: &'a KernelNames,
    /// Values of tables that the last parameters stand for, which are no arguments.
    pub tables: &'a [TablesOfCells],
}

/// Writes functions of one kernel.
pub(in crate::codegen) struct Writer<'a> {
    pub module: &'a Module,
    pub kernel: &'a Kernel,
    pub names: &'a KernelNames,
    pub tables: &'a [TablesOfCells],
    pub form: Form,
    pub reals: Reals,
    pub namer: Namer,
    /// Names that stand for parameters. `[params]`
    pub params: Vec<Ident>,
    /// Names of the buffers of results. `[results]`
    pub results: Vec<Ident>,
    /// Names of the parts of these buffers that a range of elements writes. `[results]`
    pub slices: Vec<Ident>,
    /// Names of locals. `[locals]`
    pub locals: Vec<Ident>,
    /// Entity locals of Cartesian forms that have a closed form.
    pub places: BTreeMap<LocalId, StencilPoint>,
    /// Entity locals of row functions that are one of two places: the name of the condition, the
    /// place where it holds, the other.
    pub choices: BTreeMap<LocalId, (Ident, StencilPoint, StencilPoint)>,
    /// Inside a side block: whether there is a cell beyond.
    pub side_interior: Option<bool>,
    /// Form::General: the faces of the sums around, innermost last.
    pub known_faces: Vec<FaceNames>,
    /// Form::General: whether the current element is element `i` of slices, see
    /// `unstructured::elementwise`.
    pub elementwise: bool,
    /// Form::General, in a sum: elements that belong to the current element, by parameter.
    pub loaded_here: BTreeMap<ParamId, (Ident, TokenStream)>,
    /// References of the text, except for [`Writer::prelude`].
    pub uses: Uses,
    pub(super) prelude_uses: Uses,
    /// Statements that make what the body reads, by key, in order of first use.
    prelude: Vec<(String, Ident, TokenStream)>,
    /// The same for canonical domains.
    domains: Vec<(String, Ident, TokenStream)>,
    /// Form::Row: what was read so far, with the name that stands for it.
    pub leaves: Vec<(Leaf, Ident)>,
    /// Form::Row: locals that need no leaf because the function itself defines them.
    pub own_locals: Vec<LocalId>,
    /// Form::Row: whether this is the loop over a row, where elements are `u[i]`, and not a
    /// function of one cell that it calls.
    pub in_row: bool,
    /// Form::General: the grid is Cartesian, and numbers per axis are stored so; `places` is the
    /// grid as any other.
    pub on_cartesian_grid: bool,
    /// True if the Cartesian form also takes grids with joined sides; the others are spared the
    /// question which sides these are.
    pub takes_joined_sides: bool,
    /// Form::Stencil: locals that stand for faces, in the body for cells inside the grid.
    pub faces_across: BTreeMap<LocalId, FaceAcross>,
    /// Form::Stencil: what was read so far.
    pub stencil: StencilReads,
    /// Functions for the interior sides of sums, low and high, by the order in which the sums
    /// stand; shared by the cell and row functions.
    pub side_functions: Vec<SideFunctions>,
    /// Number of sums written so far.
    pub sums_written: usize,
    /// Destination of derivatives, in the functions of an equation.
    pub derivatives: Option<Derivatives<'a>>,
    /// Form::General: sums whose terms have been made before the loop: the terms of all faces, by
    /// the local of the face.
    pub staged: BTreeMap<LocalId, Ident>,
    /// Names for functions over cells that the function being written may call, and those that it
    /// calls.
    pub cell_functions: (Namer, TokenStream),
}

impl<'a> Writer<'a> {
    pub(in crate::codegen) fn new(source: Source<'a>, form: Form, functions: &Namer) -> Self {
        let Source { module, kernel, names, tables } = source;
        let mut namer = functions.clone();
        reserve(&mut namer);
        namer.reserve([&names.arguments, &names.info]);
        let unknowns = kernel.jacobian.as_ref().map_or(0, |form| form.unknowns as usize);
        for unknown in names.params.iter().take(unknowns) {
            namer.reserve(["own_", "low_by_", "high_by_"].map(|before| format!("{before}{unknown}")));
        }
        let params = names.params.iter().map(|p| ident(&namer.fresh(p))).collect();
        let results: Vec<Ident> = names.results.iter().map(|r| ident(&namer.fresh(r))).collect();
        let slices = results.iter().map(|r| ident(&namer.fresh(&format!("{r}_values")))).collect();
        let locals = kernel.locals.iter().map(|l| ident(&namer.fresh(&l.name))).collect();
        Writer {
            module,
            kernel,
            names,
            tables,
            form,
            reals: Reals::of(module, kernel),
            namer,
            params,
            results,
            slices,
            locals,
            places: BTreeMap::new(),
            choices: BTreeMap::new(),
            side_interior: None,
            known_faces: Vec::new(),
            elementwise: false,
            loaded_here: BTreeMap::new(),
            uses: Uses::default(),
            prelude_uses: Uses::default(),
            prelude: Vec::new(),
            domains: Vec::new(),
            leaves: Vec::new(),
            own_locals: Vec::new(),
            in_row: false,
            on_cartesian_grid: false,
            takes_joined_sides: source.kernel.takes_joined_sides(&source.module.sets),
            faces_across: BTreeMap::new(),
            stencil: StencilReads::default(),
            side_functions: Vec::new(),
            sums_written: 0,
            derivatives: None,
            staged: BTreeMap::new(),
            cell_functions: (functions.clone(), TokenStream::new()),
        }
    }

    /// Span for messages about the kernel.
    pub(in crate::codegen) fn span(&self) -> Span {
        self.kernel.spans.first().copied().unwrap_or_default()
    }

    pub(in crate::codegen) fn internal(&self, what: &str) -> Failure {
        Failure::Error(BackendError::internal(self.span(), format!("kernel `{}`: {what}", self.kernel.name)))
    }

    pub(in crate::codegen) fn param(&self, id: ParamId) -> Written<(&'a Param, Ident)> {
        match (self.kernel.params.get(id.0 as usize), self.params.get(id.0 as usize)) {
            (Some(param), Some(name)) => Ok((param, name.clone())),
            _ => Err(self.internal("a parameter that it does not have")),
        }
    }

    /// Field of the argument struct.
    pub(in crate::codegen) fn field(&self, id: ParamId) -> Ident {
        ident(self.names.params.get(id.0 as usize).map_or("missing", String::as_str))
    }

    /// A local where it is read.
    pub(in crate::codegen) fn read_local(&mut self, id: LocalId) -> Written<Ident> {
        self.uses.add(Use::Local(id));
        self.local(id)
    }

    pub(in crate::codegen) fn local(&self, id: LocalId) -> Written<Ident> {
        self.locals.get(id.0 as usize).cloned().ok_or_else(|| self.internal("a local that it does not have"))
    }

    /// Statements before the loop.
    pub(in crate::codegen) fn prelude(&self) -> TokenStream {
        // Domains first: asking for one changes the runtime, which nothing may borrow yet.
        self.domains.iter().chain(&self.prelude).map(|(_, _, tokens)| tokens.clone()).collect()
    }

    /// Returns the references of a function that has the text and the prelude.
    pub(in crate::codegen) fn function_uses(&self) -> Uses {
        let mut uses = self.uses.clone();
        uses.append(&self.prelude_uses);
        uses
    }

    /// Returns the result of `write` and the references of that. Whoever takes the text appends
    /// them.
    pub(in crate::codegen) fn noted<T>(&mut self, write: impl FnOnce(&mut Self) -> Written<T>) -> Written<(T, Uses)> {
        let outer = std::mem::take(&mut self.uses);
        let written = write(self);
        let uses = std::mem::replace(&mut self.uses, outer);
        Ok((written?, uses))
    }

    /// The name of something that the text refers to.
    pub(in crate::codegen) fn grid(&mut self) -> Ident {
        self.uses.add(Use::Grid);
        ident(if self.form == Form::General && self.on_cartesian_grid { "places" } else { "grid" })
    }

    /// The constant that describes the kernel.
    pub(in crate::codegen) fn info(&mut self) -> Ident {
        self.uses.add(Use::Info);
        ident(&self.names.info)
    }

    /// `NONE`, the entity that is none.
    pub(in crate::codegen) fn none(&mut self) -> Ident {
        self.uses.item("NONE")
    }

    /// A name made by a statement before the loop; `make` gets the name.
    pub(in crate::codegen) fn prepared(&mut self, key: String, wanted: Option<&str>, make: impl FnOnce(&Ident) -> TokenStream) -> Ident {
        if let Some((_, name, _)) = self.prelude.iter().find(|(k, _, _)| *k == key) {
            return name.clone();
        }
        let name = match wanted {
            Some(wanted) => ident(&self.namer.fresh(wanted)),
            None => ident(&key),
        };
        let tokens = make(&name);
        self.prelude.push((key, name.clone(), tokens));
        name
    }

    /// True if a parameter is an unknown of an equation, whose derivatives are not lost.
    pub(super) fn is_unknown(&self, id: ParamId) -> bool {
        self.derivatives.is_some() && self.kernel.jacobian.as_ref().is_some_and(|form| id.0 < form.unknowns)
    }

    /// The parameter's values per axis.
    pub(in crate::codegen) fn read_per_axis(&mut self, id: ParamId) -> Written<Ident> {
        let ((_, name), field, ty) = (self.param(id)?, self.field(id), self.reals.ty());
        self.prelude_uses.add(Use::Args);
        // The function that picks the form has looked that they are there.
        Ok(self.prepared(name.to_string(), None, |_| quote! { let #name = args.#field.per_axis().unwrap_or([#ty::NAN; 3]); }))
    }

    /// An expression of type `&Arc<Domain>`.
    pub(in crate::codegen) fn domain(&mut self, set: SetId) -> Written<TokenStream> {
        if let Some(canonical) = self.module.sets.get(set).canonical {
            let key = canonical.name();
            if let Some((_, name, _)) = self.domains.iter().find(|(k, _, _)| *k == key) {
                return Ok(quote! { &#name });
            }
            let name = ident(&self.namer.fresh(&equelle_front::backend::snake_case(&key)));
            let canonical = canonical_set(canonical, &mut self.prelude_uses);
            self.prelude_uses.add(Use::Runtime);
            self.domains.push((key, name.clone(), quote! { let #name = rt.canonical_domain(#canonical)?; }));
            return Ok(quote! { &#name });
        }
        self.prelude_uses.add(Use::Args);
        if let Some(id) = self.kernel.domain_param(set) {
            let field = self.field(id);
            return Ok(quote! { args.#field });
        }
        let over = self.kernel.params.iter().position(|p| p.ty.shape == Shape::Collection(set));
        match over {
            Some(index) => {
                let name = ident(&self.names.params[index]);
                Ok(quote! { args.#name.domain() })
            }
            None => Err(self.internal("it names a domain that is not among its parameters")),
        }
    }

    /// Positions of entities in a set.
    pub(in crate::codegen) fn ranks(&mut self, set: SetId) -> Written<Ident> {
        let canonical = self.module.sets.get(set).canonical.is_some();
        let domain = self.domain(set)?;
        let wanted = self.rank_name(set);
        self.prelude_uses.add(Use::Grid);
        // Ranks come from a method of `Entities`, which Cartesian forms name nowhere else.
        self.prelude_uses.add_all(["Entities", "Positions"].map(Use::Item));
        Ok(self.prepared(format!("ranks of {}", set.0), Some(&wanted), |name| {
            if canonical {
                quote! { let #name = grid.canonical_ranks(#domain); }
            } else {
                quote! { let #name = grid.ranks(#domain); }
            }
        }))
    }

    /// Positions in a run-time set by position in its canonical superset.
    pub(in crate::codegen) fn subset_ranks(&mut self, set: SetId) -> Written<Ident> {
        let domain = self.domain(set)?;
        let wanted = self.rank_name(set);
        let subset_ranks = self.prelude_uses.item("SubsetRanks");
        Ok(self.prepared(format!("subset ranks of {}", set.0), Some(&wanted), |name| {
            quote! { let #name = #subset_ranks::new(#domain); }
        }))
    }

    fn rank_name(&self, set: SetId) -> String {
        let set = self.module.sets.get(set);
        match set.canonical {
            Some(canonical) => format!("{}_ranks", equelle_front::backend::snake_case(&canonical.name())),
            None => format!("{}_ranks", set.name),
        }
    }

    /// The set of a collection parameter.
    pub(in crate::codegen) fn set_of(&self, id: ParamId) -> Written<SetId> {
        let (param, _) = self.param(id)?;
        param.ty.mapping().ok_or_else(|| self.internal("it loads an element of what is no collection"))
    }

    /// The canonical set that a set is, or is made a subset of.
    pub(in crate::codegen) fn superset(&self, set: SetId) -> CanonicalSet {
        self.module.sets.canonical_superset(set)
    }

    /// True if a set is all entities of its kind.
    pub(in crate::codegen) fn is_all(&self, set: SetId) -> bool {
        matches!(self.module.sets.get(set).canonical, Some(CanonicalSet { extent: Extent::All, .. }))
    }

    /// Kind of the entity at the end of a path.
    pub(in crate::codegen) fn kind(&self, path: &Path) -> Option<EntityKind> {
        self.kernel.path_kind(&self.module.sets, path)
    }
}
