//! Arguments of launches.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use backend_cuda::codegen::GridUse;
use backend_cuda::codegen::launch::{ArgumentValue, DomainSource};
use backend_cuda::runtime::device::DevicePtr;
use backend_cuda::runtime::executor::arguments::{Call, EqPattern};
use backend_cuda::runtime::executor::pool::Buffer;
use backend_cuda::runtime::{Collection, CsrPattern, CudaRuntime, GridArrays};
use equelle_interp::value::{Value, canonical_set, defect};
use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, KernelInfo};

/// The values that a kernel is given, and what is made of them.
pub struct Arguments<'k> {
    info: KernelInfo<'k>,
    values: Vec<Option<Value<CudaRuntime>>>,
    /// Collections with a number for each element, by parameter. They outlive the call: their
    /// memory must not be handed out before.
    dense: BTreeMap<usize, Collection>,
}

/// Domain, results and rows of a launch, which some arguments refer to.
#[derive(Clone, Copy, Default)]
pub struct LaunchContext<'a> {
    /// The elements.
    pub domain: Option<&'a Arc<Domain>>,
    /// Addresses of results.
    pub results: &'a [DevicePtr],
    /// Rows of an equation, and their entries.
    pub rows: Option<(&'a Rc<CsrPattern>, Option<&'a Rc<Buffer>>)>,
    /// Destination of the pattern of an equation.
    pub pattern: Option<EqPattern>,
}

impl<'k> Arguments<'k> {
    /// The arguments of a kernel, in the order of its parameters.
    pub fn new(info: KernelInfo<'k>, values: Vec<Value<CudaRuntime>>) -> Arguments<'k> {
        Arguments { info, values: values.into_iter().map(Some).collect(), dense: BTreeMap::new() }
    }

    /// Facts of the kernel.
    pub fn info(&self) -> &KernelInfo<'k> {
        &self.info
    }

    fn unfit(&self, param: usize, what: &str) -> Error {
        defect(format!("argument {param} of `{}` is no {what}", self.info.name))
    }

    fn value(&self, param: usize) -> Result<&Value<CudaRuntime>, Error> {
        self.values.get(param).and_then(Option::as_ref).ok_or_else(|| self.unfit(param, "value"))
    }

    /// A Collection Of Scalar.
    ///
    /// # Errors
    /// A defect.
    pub fn scalars(&self, param: usize) -> Result<&Collection, Error> {
        if let Value::Scalars(values) = self.value(param)? { Ok(values) } else { Err(self.unfit(param, "Collection Of Scalar")) }
    }

    /// A collection of entities.
    ///
    /// # Errors
    /// A defect.
    pub fn entities(&self, param: usize) -> Result<&backend_cuda::runtime::EntityCollection, Error> {
        if let Value::Entities(values) = self.value(param)? { Ok(values) } else { Err(self.unfit(param, "collection of entities")) }
    }

    /// Takes a Collection Of Scalar, whose memory a result takes.
    ///
    /// # Errors
    /// A defect.
    pub fn take_scalars(&mut self, param: usize) -> Result<Collection, Error> {
        match self.values.get_mut(param).and_then(Option::take) {
            Some(Value::Scalars(values)) => Ok(values),
            Some(_) | None => Err(self.unfit(param, "Collection Of Scalar")),
        }
    }

    /// A domain.
    ///
    /// # Errors
    /// A defect; those of the grid.
    pub fn domain(&self, rt: &mut CudaRuntime, source: DomainSource) -> Result<Arc<Domain>, Error> {
        match source {
            DomainSource::Canonical(set) => rt.canonical_domain(canonical_set(set)),
            DomainSource::Param(param) => match self.value(param)? {
                Value::Domain(domain) => Ok(Arc::clone(domain)),
                _ => Err(self.unfit(param, "domain")),
            },
        }
    }

    fn pointer(&self, param: usize) -> Result<DevicePtr, Error> {
        Ok(match self.value(param)? {
            Value::Scalars(values) => values.pointer(),
            Value::Vectors(values) => values.pointer(),
            Value::Bools(values) => values.pointer(),
            Value::Entities(values) => values.pointer(),
            Value::Vector(value) => value.pointer(),
            Value::Table(table) => table.pointer(),
            Value::Scalar(_) | Value::Bool(_) | Value::Text(_) | Value::Sequence(_) | Value::Domain(_) => {
                return Err(self.unfit(param, "array"));
            }
        })
    }

    fn size(&self, param: usize) -> Result<u32, Error> {
        let domain = match self.value(param)? {
            Value::Scalars(values) => values.domain(),
            Value::Vectors(values) => values.domain(),
            Value::Bools(values) => values.domain(),
            Value::Entities(values) => values.domain(),
            _ => return Err(self.unfit(param, "collection")),
        };
        Ok(domain.len() as u32)
    }

    /// A call with an argument more.
    ///
    /// # Errors
    /// A defect; `Backend`: not enough memory.
    pub fn pass(&mut self, rt: &mut CudaRuntime, call: Call, argument: ArgumentValue, made: LaunchContext<'_>) -> Result<Call, Error> {
        let domain = || made.domain.ok_or_else(|| defect("a launch over no set"));
        let rows = || made.rows.ok_or_else(|| defect("a launch without rows"));
        let result = |number: usize| made.results.get(number).copied().ok_or_else(|| defect("a launch without its result"));
        Ok(match argument {
            ArgumentValue::Space => call.arg(rt.space(domain()?)?),
            ArgumentValue::SpaceInFileOrder => call.arg(rt.space_in_file_order(domain()?)?),
            ArgumentValue::Grid(needs) => call.arg(rt.grid_args(grid_arrays(needs))?),
            ArgumentValue::Cartesian => call.arg(rt.cartesian_args()?),
            ArgumentValue::Ranks(of) => {
                let of = self.domain(rt, of)?;
                call.arg(rt.ranks(&of)?)
            }
            ArgumentValue::CartesianRanks(of) => {
                let of = self.domain(rt, of)?;
                call.arg(rt.cartesian_ranks(&of)?)
            }
            ArgumentValue::Checks => call.arg(rt.checks(&self.info, domain()?)?),
            ArgumentValue::OneCellChecks => call.arg(rt.one_cell_checks(&self.info, domain()?)?),
            ArgumentValue::Dense(param) => {
                let dense = rt.dense(self.scalars(param)?)?;
                let pointer = dense.pointer();
                self.dense.insert(param, dense);
                call.arg(pointer)
            }
            ArgumentValue::Pointer(param) => call.arg(self.pointer(param)?),
            ArgumentValue::Scalar(param) => match self.value(param)? {
                Value::Scalar(value) => call.arg(rt.scalar_pointer(value)?),
                _ => return Err(self.unfit(param, "Scalar")),
            },
            ArgumentValue::Bool(param) => match self.value(param)? {
                Value::Bool(value) => call.arg(rt.bool_pointer(value)?),
                _ => return Err(self.unfit(param, "Bool")),
            },
            ArgumentValue::BySide(param) => call.arg(rt.by_side(self.scalars(param)?)?),
            ArgumentValue::Size(param) => call.arg(self.size(param)?),
            ArgumentValue::Rows => match rows()? {
                (rows, Some(entries)) => call.arg(rows.args(entries)),
                (_, None) => return Err(defect("rows without entries")),
            },
            ArgumentValue::Slots => call.arg(rows()?.0.slots()?),
            ArgumentValue::Pattern => call.arg(made.pattern.ok_or_else(|| defect("a launch without its pattern"))?),
            ArgumentValue::FirstColumn(param) => call.arg(rt.first_column(self.scalars(param)?)?),
            ArgumentValue::Result(number) | ArgumentValue::SingleResult(number) => call.arg(result(number)?),
        })
    }

    /// A call with all arguments.
    ///
    /// # Errors
    /// As [`Arguments::pass`].
    pub fn pass_all(
        &mut self,
        rt: &mut CudaRuntime,
        call: Call,
        arguments: &[ArgumentValue],
        made: LaunchContext<'_>,
    ) -> Result<Call, Error> {
        arguments.iter().try_fold(call, |call, &argument| self.pass(rt, call, argument, made))
    }
}

/// The arrays of the runtime. It finds the shape of a grid by itself.
fn grid_arrays(needs: GridUse) -> GridArrays {
    GridArrays {
        sides: needs.sides,
        side_faces: needs.side_faces,
        side_ranks: needs.side_ranks,
        face_cells: needs.face_cells,
        cell_volumes: needs.cell_volumes,
        cell_centroids: needs.cell_centroids,
        face_areas: needs.face_areas,
        face_centroids: needs.face_centroids,
        face_normals: needs.face_normals,
        face_gaps: needs.face_gaps,
        face_transmissibilities: needs.face_transmissibilities,
        edge_lengths: needs.edge_lengths,
        edge_centroids: needs.edge_centroids,
        vertex_positions: needs.vertex_positions,
    }
}
