//! Launch of a kernel: parameters to host values, evaluation at every element, results to
//! collections and Scalars.

use std::collections::BTreeMap;
use std::rc::Rc;

use equelle_front::backend::stencil::Skeleton;
use equelle_front::backend::visit::{Node, visit_general};
use equelle_front::ir::body_usage::BodyUsage;
use equelle_front::ir::{CartesianForm, CheckKind, KBlock, KExpr, Kernel, Space};
use equelle_front::ops;
use equelle_front::source::Span;
use equelle_front::types::{Basic, EntityKind, SetId, Shape};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::reduce::reduce;
use equelle_runtime::{DerivativeAccess, Error, ErrorKind, Reduction};

use crate::evaluate::Evaluator;
use crate::operand::{Bound, Members, Number};
use crate::provider::KernelContext;
use crate::value::{Value, defect, entity_kind, reduction};

/// Results of a kernel at an element.
type Row = Vec<Number>;

impl<R: DerivativeAccess> KernelContext<'_, R> {
    /// Evaluates a kernel element by element; its results.
    pub(crate) fn launch_by_elements(&mut self, kernel: &Kernel, args: &[Value<R>]) -> Result<Vec<Value<R>>, Error> {
        self.check_vectors(kernel)?;
        let params = args.iter().map(|arg| self.bind(arg)).collect::<Result<Vec<_>, _>>()?;
        let members = self.members(kernel, args)?;
        let rows = self.rows(kernel, &params, &members, 0)?;
        let order = self.file_order(kernel, &members)?;
        (0..kernel.results.len()).map(|i| self.result(kernel, i, &rows, &order)).collect()
    }

    /// Refuses grids whose dimension is not the number of components of a Vector in a kernel.
    ///
    /// # Errors
    /// `Data`, with the lines of the kernel.
    pub fn check_vectors(&self, kernel: &Kernel) -> Result<(), Error> {
        for components in BodyUsage::from_general_form(kernel, &self.module.sets).vector_sizes {
            Error::vector_size(components, self.rt.grid().dim()).map_err(|error| self.in_kernel(kernel, None, error))?;
        }
        Ok(())
    }

    /// Evaluates a kernel at the elements from a position on: the error of the first one that has
    /// one.
    ///
    /// # Errors
    /// That one; those of the grid.
    pub fn check_from(&mut self, kernel: &Kernel, args: &[Value<R>], first: usize) -> Result<(), Error> {
        let params = args.iter().map(|arg| self.bind(arg)).collect::<Result<Vec<_>, _>>()?;
        let members = self.members(kernel, args)?;
        self.rows(kernel, &params, &members, first).map(|_| ())
    }

    /// Positions of the elements of the kernel's space in the order of the grid's file; nothing for
    /// a kernel that reduces nothing.
    fn file_order(&self, kernel: &Kernel, members: &BTreeMap<SetId, Members>) -> Result<Vec<usize>, Error> {
        let Some(set) = kernel.space_set().filter(|_| kernel.results.iter().any(|result| result.reduce.is_some())) else {
            return Ok(Vec::new());
        };
        let elements = members.get(&set).ok_or_else(|| defect("the space has no elements in this grid"))?.to_vec();
        let kind = entity_kind(self.module.sets.get(set).kind);
        let mut order: Vec<usize> = (0..elements.len()).collect();
        order.sort_by_key(|&position| self.rt.grid().file_index(kind, elements[position]));
        Ok(order)
    }

    /// Evaluates the Jacobian form of an equation at the elements from a position on: the error of
    /// the first one that has one. `args` begin with the values of the unknowns.
    ///
    /// # Errors
    /// That one; those of the grid.
    pub fn check_equation_from(&mut self, kernel: &Kernel, args: &[Value<R>], first: usize) -> Result<(), Error> {
        self.equation_rows(kernel, args, first).map(|_| ())
    }

    /// Evaluates the Jacobian form of an equation: the residual, and per element its derivatives by
    /// unknown and position.
    #[allow(clippy::type_complexity)]
    pub(crate) fn launch_equation(
        &mut self,
        kernel: &Kernel,
        args: &[Value<R>],
    ) -> Result<(R::ScalarCollection, Vec<Vec<(usize, usize, f64)>>), Error> {
        let (residual, rows) = self.equation_rows(kernel, args, 0)?;
        let domain = self.domain(kernel.space_set().ok_or_else(|| defect("an equation is over a set"))?)?;
        Ok((self.rt.scalar_collection(&domain, residual)?, rows))
    }

    #[allow(clippy::type_complexity)]
    fn equation_rows(
        &mut self,
        kernel: &Kernel,
        args: &[Value<R>],
        first: usize,
    ) -> Result<(Vec<f64>, Vec<Vec<(usize, usize, f64)>>), Error> {
        let form = kernel.jacobian.as_ref().ok_or_else(|| defect("an equation has no derivatives"))?;
        let set = kernel.space_set().ok_or_else(|| defect("an equation is over a set"))?;
        self.check_vectors(kernel)?;
        let params = args.iter().map(|arg| self.bind(arg)).collect::<Result<Vec<_>, _>>()?;
        let members = self.members(kernel, args)?;
        let elements = members.get(&set).ok_or_else(|| defect("the space has no elements in this grid"))?.to_vec();
        let (mut residual, mut rows) = (Vec::with_capacity(elements.len()), Vec::with_capacity(elements.len()));
        let grid = self.rt.grid();
        let shape = grid.cartesian_shape().copied().filter(|_| self.cartesian_forms);
        let (block, shape) = match &form.cartesian {
            Some(block) if shape.is_some() => (block, shape),
            Some(_) | None => (&form.body, None),
        };
        let skeleton = Skeleton::from_body(block).block;
        let mut evaluator = Evaluator::new(self.module, kernel, &params, &members, grid, shape);
        for element in elements.into_iter().skip(first) {
            self.check(kernel, &mut evaluator, Some(element))?;
            let values = evaluator.block(block, Some(element)).map_err(|error| self.in_kernel(kernel, None, error))?;
            evaluator.structure(&skeleton).map_err(|error| self.in_kernel(kernel, None, error))?;
            residual.push(values.first().ok_or_else(|| defect("an equation has a residual"))?.real()?);
            rows.push(evaluator.row.iter().map(|(&(unknown, position), &value)| (unknown.0 as usize, position, value)).collect());
        }
        Ok((residual, rows))
    }

    fn bind(&mut self, arg: &Value<R>) -> Result<Bound, Error> {
        Ok(match arg {
            Value::Scalar(v) => Bound::Single(Number::Real(self.rt.scalar_value(v)?)),
            Value::Bool(v) => Bound::Single(Number::Bool(self.rt.bool_value(v)?)),
            Value::Vector(v) => {
                let components = self.rt.vector_value(v)?;
                Bound::Single(Number::Vector(std::array::from_fn(|axis| components.get(axis).copied().unwrap_or(0.0))))
            }
            Value::Scalars(v) => Bound::Scalars(self.rt.values(v)?),
            Value::Vectors(v) => Bound::Vectors(self.rt.vectors(v)?),
            Value::Bools(v) => Bound::Bools(self.rt.bools(v)?),
            Value::Entities(v) => Bound::Entities(self.rt.entity_indices(v)?),
            Value::Table(v) => Bound::Table(self.rt.table_numbers(v)),
            Value::Domain(_) => Bound::Domain,
            Value::Text(_) | Value::Sequence(_) => return Err(defect(format!("{} is no argument of a kernel", arg.kind()))),
        })
    }

    /// The elements of every set that the kernel mentions: its domain parameters, else canonical
    /// sets.
    fn members(&mut self, kernel: &Kernel, args: &[Value<R>]) -> Result<BTreeMap<SetId, Members>, Error> {
        let mut members = BTreeMap::new();
        for (param, arg) in kernel.params.iter().zip(args) {
            if let (Shape::Domain(set), Value::Domain(domain)) = (param.ty.shape, arg) {
                members.insert(set, Members::Some(Rc::new(self.rt.domain_elements(domain)?)));
            }
        }
        for set in self.module.sets.ids() {
            let Some(canonical) = self.module.sets.get(set).canonical else { continue };
            let all = self.module.sets.get(set).parent == set;
            let grid = self.rt.grid();
            let found = match canonical.kind {
                EntityKind::Cell if all => Members::All(grid.n_cells()),
                EntityKind::Face if all => Members::All(grid.n_faces()),
                // A grid makes them, or refuses to, when it is asked.
                EntityKind::Edge | EntityKind::Vertex if !mentions(kernel, set) => continue,
                EntityKind::Edge | EntityKind::Vertex if all => Members::All(grid.n_entities(entity_kind(canonical.kind))?),
                EntityKind::Cell | EntityKind::Face | EntityKind::Edge | EntityKind::Vertex => {
                    let domain = self.domain(set)?;
                    Members::Some(Rc::new(self.rt.domain_elements(&domain)?))
                }
            };
            members.entry(set).or_insert(found);
        }
        Ok(members)
    }

    /// Values at every element from a position on, in order.
    fn rows(&mut self, kernel: &Kernel, params: &[Bound], members: &BTreeMap<SetId, Members>, first: usize) -> Result<Vec<Row>, Error> {
        let grid = self.rt.grid();
        let open = grid.cartesian_shape();
        let shape = open.or_else(|| grid.closed_shape().filter(|_| kernel.takes_joined_sides(&self.module.sets)));
        let shape = shape.filter(|_| self.cartesian_forms);
        let evaluator = |shape| Evaluator::new(self.module, kernel, params, members, grid, shape);
        let located = |error: Error| self.in_kernel(kernel, None, error);
        let Space::Set(set) = kernel.space else {
            self.check(kernel, &mut evaluator(None), None)?;
            return Ok(vec![evaluator(None).block(&kernel.body, None).map_err(located)?]);
        };
        let mut elements = members.get(&set).ok_or_else(|| defect("the space has no elements in this grid"))?.to_vec();
        elements.drain(..first.min(elements.len()));
        match (shape, &kernel.cartesian) {
            (None, _) | (_, None) => self.at_elements(kernel, &mut evaluator(None), &elements, &kernel.body),
            (Some(shape), Some(CartesianForm::Full(block))) => self.at_elements(kernel, &mut evaluator(Some(*shape)), &elements, block),
            (Some(shape), Some(CartesianForm::PerAxis(block))) => {
                let kind = self.module.sets.get(set).kind;
                self.per_axis(kernel, &mut evaluator(Some(*shape)), &elements, block, |element| axis_of(shape, grid, kind, element))
            }
        }
    }

    fn at_elements(&self, kernel: &Kernel, evaluator: &mut Evaluator<'_>, elements: &[u32], block: &KBlock) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::with_capacity(elements.len());
        for &element in elements {
            let row = self
                .check(kernel, evaluator, Some(element))
                .and_then(|()| evaluator.block(block, Some(element)).map_err(|error| self.in_kernel(kernel, None, error)));
            rows.push(match row {
                Err(_) if !self.is_own(kernel, element) => self.without_value(kernel)?,
                row => row?,
            });
        }
        Ok(rows)
    }

    /// True if an error at an element is one of the run; see [`Grid::is_own`].
    fn is_own(&self, kernel: &Kernel, element: u32) -> bool {
        let kind = kernel.space_kind(&self.module.sets);
        kind.is_none_or(|kind| self.rt.grid().is_own(entity_kind(kind), element))
    }

    /// Results at an element of the halo where there are none.
    fn without_value(&self, kernel: &Kernel) -> Result<Row, Error> {
        let of = |basic: Basic| match basic {
            Basic::Scalar => Ok(Number::Real(f64::NAN)),
            Basic::Vector => Ok(Number::Vector([f64::NAN; 3])),
            Basic::Bool => Ok(Number::Bool(false)),
            Basic::Entity(_) => Ok(Number::Entity(None)),
            Basic::Text | Basic::Table | Basic::Axis(_) => Err(defect("a kernel gives no Text")),
        };
        kernel.results.iter().map(|result| of(result.ty.basic)).collect()
    }

    /// Evaluates the block at the first element of each axis and repeats its values at the others.
    fn per_axis(
        &self,
        kernel: &Kernel,
        evaluator: &mut Evaluator<'_>,
        elements: &[u32],
        block: &KBlock,
        axis_of: impl Fn(u32) -> usize,
    ) -> Result<Vec<Row>, Error> {
        let mut known: [Option<Row>; 3] = [None, None, None];
        let mut rows = Vec::with_capacity(elements.len());
        for &element in elements {
            self.check(kernel, evaluator, Some(element))?;
            let axis = axis_of(element);
            let row = match &known[axis] {
                Some(row) => row.clone(),
                None => evaluator.block(block, Some(element)).map_err(|error| self.in_kernel(kernel, None, error))?,
            };
            known[axis] = Some(row.clone());
            rows.push(row);
        }
        Ok(rows)
    }

    /// The conditions that must hold before the body is evaluated at an element.
    fn check(&self, kernel: &Kernel, evaluator: &mut Evaluator<'_>, element: Option<u32>) -> Result<(), Error> {
        for check in &kernel.checks {
            let holds = evaluator.condition(&check.condition, element).map_err(|error| self.in_kernel(kernel, Some(check.span), error))?;
            if !holds {
                let kind = kernel.space_kind(&self.module.sets).map_or_else(String::new, |kind| kind.name().to_lowercase());
                let in_file = |element| match kernel.space_kind(&self.module.sets) {
                    Some(kind) => self.rt.grid().file_index(entity_kind(kind), element),
                    None => element,
                };
                // The statement that asks says where, as in generated programs.
                let line = self.line(check.span);
                let owner = element.map(in_file);
                let error = match check.kind {
                    CheckKind::OnEmpty => Error::empty_element(&kind, owner),
                    CheckKind::OneCell => Error::two_cells(&kind, owner),
                };
                let error = Error { element: owner, ..error.in_kernel(line, &[]) };
                return Err(self.in_kernel(kernel, Some(check.span), error));
            }
        }
        Ok(())
    }

    /// Adds the lines of a check and of the kernel's expressions, innermost first.
    fn in_kernel(&self, kernel: &Kernel, check: Option<Span>, mut error: Error) -> Error {
        for span in check.iter().chain(&kernel.spans).filter(|&&span| span != Span::default()) {
            let line = self.line(*span);
            if line > 0 && !error.lines.contains(&line) {
                error.lines.push(line);
            }
        }
        error
    }

    fn result(&mut self, kernel: &Kernel, i: usize, rows: &[Row], order: &[usize]) -> Result<Value<R>, Error> {
        let result = &kernel.results[i];
        let column = || rows.iter().map(|row| row[i]);
        let reals = || column().map(Number::real).collect::<Result<Vec<f64>, Error>>();
        if let Some(op) = result.reduce {
            return self.reduced(kernel, i, op, rows, order);
        }
        let Some(set) = kernel.space_set() else { return self.single(rows[0][i]) };
        let domain = self.domain(set)?;
        Ok(match result.ty.basic {
            Basic::Scalar => {
                let values = reals()?;
                Value::Scalars(self.rt.scalar_collection(&domain, values)?)
            }
            Basic::Bool => {
                let values = column().map(Number::bool).collect::<Result<Vec<bool>, Error>>()?;
                Value::Bools(self.rt.bool_collection(&domain, values)?)
            }
            Basic::Vector => {
                let values = column().map(Number::vector).collect::<Result<Vec<[f64; 3]>, Error>>()?;
                let components = (0..self.rt.grid().dim()).map(|axis| values.iter().map(|v| v[axis]).collect()).collect();
                Value::Vectors(self.rt.vector_collection(&domain, components)?)
            }
            Basic::Entity(kind) => {
                let values = column().map(Number::entity).collect::<Result<Vec<Option<u32>>, Error>>()?;
                Value::Entities(self.rt.entity_collection(&domain, entity_kind(kind), values)?)
            }
            Basic::Text | Basic::Table | Basic::Axis(_) => return Err(defect("a kernel gives no Text")),
        })
    }

    fn single(&mut self, value: Number) -> Result<Value<R>, Error> {
        Ok(match value {
            Number::Real(value) => Value::Scalar(self.rt.scalar(value)),
            Number::Bool(value) => Value::Bool(self.rt.bool(value)),
            Number::Vector(value) => {
                let dim = self.rt.grid().dim();
                Value::Vector(self.rt.vector_from(&value[..dim])?)
            }
            Number::Entity(_) => return Err(defect("a kernel gives no single entity")),
        })
    }

    /// A result over all elements, in an order of positions; of Vectors component by component.
    fn reduced(&mut self, kernel: &Kernel, i: usize, op: ops::Reduction, rows: &[Row], order: &[usize]) -> Result<Value<R>, Error> {
        if self.rt.session().rank().is_some() {
            return self.reduced_on_ranks(kernel, i, op, rows);
        }
        let result = &kernel.results[i];
        let column = || order.iter().map(|&position| rows[position][i]);
        let op = match op {
            ops::Reduction::Max => Reduction::Max,
            ops::Reduction::Min => Reduction::Min,
            ops::Reduction::Sum => Reduction::Sum,
            ops::Reduction::Prod => Reduction::Prod,
            ops::Reduction::Any | ops::Reduction::All => {
                let mut truths = column().map(Number::bool).collect::<Result<Vec<bool>, Error>>()?.into_iter();
                let value = if op == ops::Reduction::Any { truths.any(|t| t) } else { truths.all(|t| t) };
                return self.single(Number::Bool(value));
            }
        };
        // As collections hold them.
        let kept = |value: f64| self.module.numbers.precision.round(value);
        let reduce = |values: &[f64]| {
            let missing = || self.without_elements(kernel, result.reduce.unwrap_or(ops::Reduction::Max));
            // The line is that of the reduction: nothing that the kernel evaluates has failed.
            reduce(op, values).ok_or_else(missing)
        };
        let value = if result.ty.basic == Basic::Vector {
            let values = column().map(Number::vector).collect::<Result<Vec<[f64; 3]>, Error>>()?;
            let mut vector = [0.0; 3];
            for (axis, component) in vector.iter_mut().enumerate().take(self.rt.grid().dim()) {
                *component = reduce(&values.iter().map(|v| kept(v[axis])).collect::<Vec<_>>())?;
            }
            Number::Vector(vector)
        } else {
            Number::Real(reduce(&column().map(|number| number.real().map(kept)).collect::<Result<Vec<f64>, Error>>()?)?)
        };
        self.single(value)
    }
}

impl<R: DerivativeAccess> KernelContext<'_, R> {
    /// The error of an extreme over a set without elements.
    fn without_elements(&self, kernel: &Kernel, op: ops::Reduction) -> Error {
        let set = kernel.space_set().map_or("the set", |set| self.module.sets.get(set).name.as_str());
        Error::new(ErrorKind::Simulation, format!("{op:?}Reduce of a collection without elements: {set} is empty"))
    }

    /// A result over the elements of all ranks.
    fn reduced_on_ranks(&mut self, kernel: &Kernel, i: usize, op: ops::Reduction, rows: &[Row]) -> Result<Value<R>, Error> {
        let column = || rows.iter().map(|row| row[i]);
        let domain = self.domain(kernel.space_set().ok_or_else(|| defect("a reduction is over a set"))?)?;
        let missing = self.without_elements(kernel, op);
        let named = |error: Error| if error.kind == ErrorKind::Simulation { Error { lines: error.lines, ..missing } } else { error };
        match reduction(op) {
            Ok(op) if kernel.results[i].ty.basic == Basic::Vector => {
                let values = column().map(Number::vector).collect::<Result<Vec<[f64; 3]>, Error>>()?;
                let components = (0..self.rt.grid().dim()).map(|axis| values.iter().map(|v| v[axis]).collect()).collect();
                let values = self.rt.vector_collection(&domain, components)?;
                self.rt.reduce(op, &values).map(Value::Vector).map_err(named)
            }
            Ok(op) => {
                let values = self.rt.scalar_collection(&domain, column().map(Number::real).collect::<Result<Vec<f64>, Error>>()?)?;
                self.rt.reduce(op, &values).map(Value::Scalar).map_err(named)
            }
            Err(op) => {
                let values = self.rt.bool_collection(&domain, column().map(Number::bool).collect::<Result<Vec<bool>, Error>>()?)?;
                self.rt.reduce(op, &values).map(Value::Bool)
            }
        }
    }
}

/// True if a kernel is over a set, reads something on it or asks for membership in it.
fn mentions(kernel: &Kernel, set: SetId) -> bool {
    let mut found = kernel.space == Space::Set(set) || kernel.params.iter().any(|param| param.ty.mapping() == Some(set));
    visit_general(kernel, &mut |node| {
        if let Node::Expr(KExpr::Member { set: asked, .. }) = node {
            found |= *asked == set;
        }
    });
    found
}

/// Axis of a face; 0 for cells, which all have the same values.
fn axis_of(shape: &Cartesian, grid: &Grid, kind: EntityKind, element: u32) -> usize {
    match kind {
        EntityKind::Face if (element as usize) < grid.n_faces() => shape.face_ijk(element as usize).axis,
        EntityKind::Face | EntityKind::Cell | EntityKind::Edge | EntityKind::Vertex => 0,
    }
}
