//! Launches of kernels as data: what the host makes, passes and runs. `host` prints them as Rust;
//! an interpreter of programs carries them out.

use equelle_front::backend::Handle;
use equelle_front::ir::{CheckKind, Kernel, ParamId};
use equelle_front::ops::Reduction;
use equelle_front::types::{Basic, CanonicalSet, EntityKind, SetId, SetTable, Shape};

use super::emit::uses::GridUse;
use super::kernel::{CartesianFunction, Functions, KernelText};
use super::leaves::goes_by_leaves;
use super::signature::{Argument, EquationText, Function, LaunchBounds};

/// The launch of a kernel.
#[derive(Clone, Debug)]
pub struct KernelLaunch {
    /// Numbers of components of Vectors, which must be the dimension of the grid.
    pub vector_sizes: Vec<usize>,
    /// On any grid.
    pub general: Launch,
    /// On Cartesian grids, if it is another one there.
    pub cartesian: Option<Launch>,
    /// Where sides of these are joined it needs the parameters here kept per axis; `None` if it is
    /// for open grids alone.
    pub joined: Option<Vec<usize>>,
}

/// A launch for a kind of grids.
#[derive(Clone, Debug)]
pub enum Launch {
    /// A kernel with results.
    Values(ValuesLaunch),
    /// An equation: a residual and rows of the Jacobian.
    Equation(EquationLaunch),
}

/// The launch of a kernel that has results.
#[derive(Clone, Debug)]
pub struct ValuesLaunch {
    /// Name of the function.
    pub function: String,
    /// The elements; `None` for one evaluation.
    pub domain: Option<DomainSource>,
    /// Destinations of the results.
    pub results: Vec<ResultBuffer>,
    /// Arguments of the function, in order.
    pub arguments: Vec<ArgumentValue>,
    /// Functions with several cells of a row a thread.
    pub rows: Option<RowFunctions>,
    /// True if its threads need most registers they can have.
    pub is_wide: bool,
    /// True if it writes what it reads.
    pub writes_in_place: bool,
    /// The threads.
    pub threads: ThreadLayout,
    /// True if the host waits for it, because conditions may fail that later statements rely on.
    pub host_waits: bool,
}

/// The launch of an equation.
#[derive(Clone, Debug)]
pub struct EquationLaunch {
    /// The elements.
    pub domain: DomainSource,
    /// Number of unknowns, which are the first parameters.
    pub unknowns: usize,
    /// Parameters that are collections of entities, through which paths lead.
    pub through: Vec<usize>,
    /// True if the evaluation has the slots of its additions.
    pub has_slots: bool,
    /// The function that tells the pattern of the rows, and its arguments.
    pub pattern: (String, Vec<ArgumentValue>),
    /// The function that evaluates, and its arguments.
    pub evaluation: (String, Vec<ArgumentValue>),
}

/// The source of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainSource {
    /// The grid.
    Canonical(CanonicalSet),
    /// A parameter.
    Param(usize),
}

/// Functions with several cells of a row a thread: their numbers of cells and names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFunctions {
    /// True if threads go from plane to plane.
    pub by_planes: bool,
    /// Numbers of cells, and names.
    pub functions: Vec<(u32, String)>,
}

/// The threads of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadLayout {
    /// One.
    Single,
    /// One for each element.
    Elements,
    /// One for each axis.
    Axes,
    /// Blocks of them for the leaves of a result.
    Leaves(usize),
    /// One for each cell of a Cartesian grid.
    Cells,
    /// Through the inside of a Cartesian grid, and over its boundary cells apart.
    InsideAndBoundary,
}

/// Memory for a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultBuffer {
    /// One number.
    Number,
    /// One Vector.
    Vector,
    /// One Bool.
    Bool,
    /// Keys of an extreme that threads take on the way.
    Extreme(Reduction),
    /// Leaves of a reduction of numbers.
    Leaves(Reduction),
    /// Leaves of a reduction of Vectors.
    VectorLeaves(Reduction),
    /// Leaves of a reduction of Bools.
    BoolLeaves(Reduction),
    /// A number for each axis.
    PerAxis,
    /// A number for each element.
    Numbers,
    /// A Vector for each element.
    Vectors,
    /// A Bool for each element.
    Bools,
    /// An entity for each element.
    Entities(EntityKind),
    /// That of a parameter, which ends here.
    OfParam(usize),
}

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentValue {
    /// The elements.
    Space,
    /// The same in the order of the grid's file.
    SpaceInFileOrder,
    /// Arrays of the grid.
    Grid(GridUse),
    /// The shape of a Cartesian grid.
    Cartesian,
    /// Places in a set, on any grid.
    Ranks(DomainSource),
    /// The same on a Cartesian grid.
    CartesianRanks(DomainSource),
    /// Destination of failed conditions.
    Checks,
    /// The same of a kernel that demands that no face has two cells.
    OneCellChecks,
    /// A collection of numbers with one for each element.
    Dense(usize),
    /// A parameter in device memory as it is.
    Pointer(usize),
    /// A single number.
    Scalar(usize),
    /// A single Bool.
    Bool(usize),
    /// Values of a parameter on the sides of cells.
    BySide(usize),
    /// The number of elements of a parameter.
    Size(usize),
    /// Rows of the Jacobian.
    Rows,
    /// Slots of the additions of an equation.
    Slots,
    /// Destination of the pattern.
    Pattern,
    /// The first column of an unknown.
    FirstColumn(usize),
    /// A result in the memory of an array.
    Result(usize),
    /// A single result.
    SingleResult(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    General,
    Cells,
    PerAxis,
}

impl KernelLaunch {
    /// The launch of a kernel whose text is written; `None` for an equation that is over no set,
    /// which the verifier refuses.
    pub(super) fn new(made: &KernelText<'_>, sets: &SetTable) -> Option<KernelLaunch> {
        let source = LaunchSource { kernel: made.kernel, sets, host_waits: made.usage.host_waits };
        let (general, cartesian) = match &made.functions {
            Functions::Equation { general, cartesian } => {
                let cartesian = cartesian.as_ref().map(|text| source.equation(text, Form::Cells));
                (source.equation(general, Form::General)?, cartesian.flatten())
            }
            Functions::Cells(function, rows) => (source.values(function, Form::Cells, rows.as_deref())?, None),
            Functions::Values { general, cartesian } => {
                let cartesian = cartesian.as_ref().map(|function| match &**function {
                    CartesianFunction::Cells(function, rows) => source.values(function, Form::Cells, rows.as_ref()),
                    CartesianFunction::PerAxis(function) => source.values(function, Form::PerAxis, None),
                });
                (source.values(general, Form::General, None)?, cartesian.flatten())
            }
        };
        let per_axis = || made.kernel.params.iter().enumerate().filter(|(_, param)| param.per_axis).map(|(number, _)| number).collect();
        let joined = (cartesian.is_some() && made.kernel.takes_joined_sides(sets)).then(per_axis);
        Some(KernelLaunch { vector_sizes: made.usage.general.vector_sizes.iter().copied().collect(), general, cartesian, joined })
    }
}

/// A kernel whose launch is decided.
#[derive(Clone, Copy)]
struct LaunchSource<'a> {
    kernel: &'a Kernel,
    sets: &'a SetTable,
    host_waits: bool,
}

impl LaunchSource<'_> {
    /// The source of a set: a parameter, or the grid. The verifier demands one of them.
    fn domain_of(self, set: SetId) -> Option<DomainSource> {
        match self.sets.get(set).canonical {
            Some(canonical) => Some(DomainSource::Canonical(canonical)),
            None => self.kernel.domain_param(set).map(|ParamId(number)| DomainSource::Param(number as usize)),
        }
    }

    fn domain(self) -> Option<Option<DomainSource>> {
        self.kernel.space_set().map(|set| self.domain_of(set)).map_or(Some(None), |domain| domain.map(Some))
    }

    fn equation(self, EquationText { evaluation, pattern }: &EquationText, form: Form) -> Option<Launch> {
        let unknowns = self.kernel.jacobian.as_ref().map_or(0, |form| form.unknowns as usize);
        let params = self.kernel.params.iter().enumerate();
        let through = params.filter(|(_, param)| Handle::of(&param.ty) == Some(Handle::EntityCollection));
        let through = through.map(|(number, _)| number).collect();
        let call = |function: &Function| {
            let value = |&argument: &Argument| match argument {
                // Values kept per axis are broadcast, but never those of an unknown.
                Argument::Param(param) if param < unknowns => Some(ArgumentValue::Pointer(param)),
                _ => self.argument(function, form, argument),
            };
            Some((function.name.clone(), function.arguments.iter().map(value).collect::<Option<Vec<_>>>()?))
        };
        Some(Launch::Equation(EquationLaunch {
            domain: self.domain()??,
            unknowns,
            through,
            has_slots: evaluation.arguments.contains(&Argument::Slots),
            pattern: call(pattern)?,
            evaluation: call(evaluation)?,
        }))
    }

    fn values(self, function: &Function, form: Form, rows: Option<&Function>) -> Option<Launch> {
        let domain = self.domain()?;
        let by_leaves = goes_by_leaves(self.kernel);
        let results = self.kernel.results.iter().map(|result| match (domain, result.reduce, form) {
            (None, ..) => match result.ty.basic {
                Basic::Vector => ResultBuffer::Vector,
                Basic::Bool => ResultBuffer::Bool,
                Basic::Scalar | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => ResultBuffer::Number,
            },
            (Some(_), Some(reduction), _) if !by_leaves => ResultBuffer::Extreme(reduction),
            (Some(_), Some(reduction), _) => match (reduction, result.ty.basic) {
                (Reduction::Any | Reduction::All, _) => ResultBuffer::BoolLeaves(reduction),
                (_, Basic::Vector) => ResultBuffer::VectorLeaves(reduction),
                (Reduction::Max | Reduction::Min | Reduction::Sum | Reduction::Prod, _) => ResultBuffer::Leaves(reduction),
            },
            (Some(_), None, Form::PerAxis) => ResultBuffer::PerAxis,
            (Some(_), None, Form::General | Form::Cells) => match result.ty.basic {
                Basic::Vector => ResultBuffer::Vectors,
                Basic::Bool => ResultBuffer::Bools,
                Basic::Entity(kind) => ResultBuffer::Entities(kind),
                Basic::Scalar | Basic::Text | Basic::Table | Basic::Axis(_) => match result.in_place {
                    Some(ParamId(param)) => ResultBuffer::OfParam(param as usize),
                    None => ResultBuffer::Numbers,
                },
            },
        });
        let reduced = self.kernel.results.iter().position(|result| by_leaves && result.reduce.is_some());
        let threads = match (domain, reduced, form) {
            (_, _, Form::Cells) if function.apart => ThreadLayout::InsideAndBoundary,
            (_, _, Form::Cells) => ThreadLayout::Cells,
            (None, ..) => ThreadLayout::Single,
            (Some(_), Some(first), _) => ThreadLayout::Leaves(first),
            (Some(_), None, Form::PerAxis) => ThreadLayout::Axes,
            (Some(_), None, Form::General) => ThreadLayout::Elements,
        };
        let rows = rows.map(|rows| RowFunctions {
            by_planes: rows.bounds == LaunchBounds::Planes,
            functions: rows.row_widths.iter().map(|&width| (width, rows.name_of_width(width))).collect(),
        });
        Some(Launch::Values(ValuesLaunch {
            function: function.name.clone(),
            domain,
            results: results.collect(),
            arguments: function.arguments.iter().map(|&argument| self.argument(function, form, argument)).collect::<Option<_>>()?,
            rows,
            is_wide: function.bounds == LaunchBounds::Wide,
            writes_in_place: self.kernel.writes_what_it_reads(),
            threads,
            host_waits: self.host_waits,
        }))
    }

    fn argument(self, function: &Function, form: Form, argument: Argument) -> Option<ArgumentValue> {
        Some(match argument {
            Argument::Space if goes_by_leaves(self.kernel) => ArgumentValue::SpaceInFileOrder,
            Argument::Space => ArgumentValue::Space,
            Argument::Grid => ArgumentValue::Grid(function.grid),
            Argument::Cartesian => ArgumentValue::Cartesian,
            Argument::Ranks(set) if form == Form::General => ArgumentValue::Ranks(self.domain_of(set)?),
            Argument::Ranks(set) => ArgumentValue::CartesianRanks(self.domain_of(set)?),
            // The checks of a kernel are of one kind.
            Argument::Checks => match self.kernel.checks.first().map(|check| check.kind) {
                Some(CheckKind::OnEmpty) | None => ArgumentValue::Checks,
                Some(CheckKind::OneCell) => ArgumentValue::OneCellChecks,
            },
            Argument::Param(number) => {
                let param = &self.kernel.params[number];
                if param.ty.shape == Shape::Single {
                    match param.ty.basic {
                        Basic::Vector | Basic::Table => ArgumentValue::Pointer(number),
                        Basic::Bool => ArgumentValue::Bool(number),
                        Basic::Scalar | Basic::Entity(_) | Basic::Text | Basic::Axis(_) => ArgumentValue::Scalar(number),
                    }
                } else if Handle::of(&param.ty) == Some(Handle::ScalarCollection) && !(param.per_axis && form != Form::General) {
                    ArgumentValue::Dense(number)
                } else {
                    ArgumentValue::Pointer(number)
                }
            }
            Argument::BySide(number) => ArgumentValue::BySide(number),
            Argument::Size(number) => ArgumentValue::Size(number),
            Argument::Rows => ArgumentValue::Rows,
            Argument::Slots => ArgumentValue::Slots,
            Argument::Pattern => ArgumentValue::Pattern,
            Argument::First(number) => ArgumentValue::FirstColumn(number),
            Argument::Result(number) if self.kernel.space_set().is_none() => ArgumentValue::SingleResult(number),
            Argument::Result(number) => ArgumentValue::Result(number),
        })
    }
}
