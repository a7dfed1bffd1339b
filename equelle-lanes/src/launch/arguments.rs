//! Arguments of a launch as arrays and numbers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use backend_serial::runtime::{CompiledReal, ScalarCollection, SerialRuntime, Values};
use equelle_front::ir::{Kernel, ParamId};
use equelle_front::types::{EntityKind, SetId};
use equelle_interp::value::{Value, defect, entity_kind};
use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Geometry, Grid, NONE};
use equelle_runtime::math::table::Table;
use equelle_runtime::{Error, Real};

use super::context::{Argument, Context, domain_of};
use crate::exec::bindings::{Bindings, CellOffset, Ranks, Rows};
use crate::program::{ArrayId, LaneProgram, Layout, RankSource, RealArray, TripleArray};
use crate::uniform::{UniformSource, evaluate};

/// Places of entities in sets, by set; made anew for another domain.
#[derive(Default)]
pub struct RankMaps(BTreeMap<SetId, (Arc<Domain>, Rc<Vec<u32>>)>);

impl RankMaps {
    fn of(&mut self, set: SetId, domain: Arc<Domain>, n_entities: usize) -> Rc<Vec<u32>> {
        match self.0.get(&set) {
            Some((known, map)) if Arc::ptr_eq(known, &domain) => Rc::clone(map),
            Some(_) | None => {
                let mut map = vec![NONE; n_entities];
                for (rank, &element) in (0..).zip(domain.elements()) {
                    map[element as usize] = rank;
                }
                let map = Rc::new(map);
                self.0.insert(set, (domain, Rc::clone(&map)));
                map
            }
        }
    }
}

/// Places in a set.
enum RankData {
    All(usize),
    Map(Rc<Vec<u32>>),
}

/// Numbers and arrays that a launch holds while it runs, which computes in `T`.
pub struct Arguments<T> {
    uniforms: Vec<T>,
    /// Nothing for arrays of the grid.
    reals: Vec<Option<Values<T>>>,
    truths: Vec<Values<bool>>,
    entities: Vec<Values<u32>>,
    tables: Vec<Arc<Table>>,
    ranks: Vec<RankData>,
    /// Zeros for a grid without gaps.
    face_gaps: Vec<[f64; 3]>,
}

/// The numbers of a collection of Scalars, or of a component of Vectors.
pub type Numbers<R, T> = fn(&SerialRuntime<R>, &Argument<R>, Option<u8>) -> Option<Values<T>>;

/// [`Numbers`] of kernels that compute in the precision of collections.
pub fn numbers<R: CompiledReal>(rt: &SerialRuntime<R>, arg: &Argument<R>, component: Option<u8>) -> Option<Values<R>> {
    match (arg, component) {
        (Value::Scalars(values), None) => Some(rt.dense(values)),
        (Value::Vectors(values), Some(axis)) => rt.dense_component(values, usize::from(axis)),
        (_, Some(_) | None) => None,
    }
}

/// [`Numbers`] of kernels in double precision in a program of single precision: they read none.
pub fn no_numbers<R: CompiledReal>(_: &SerialRuntime<R>, _: &Argument<R>, _: Option<u8>) -> Option<Values<f64>> {
    None
}

impl<T: Real> Arguments<T> {
    /// The arguments of a launch; `None` where a set has no domain.
    pub fn of<R: CompiledReal>(
        context: &mut Context<'_, R>,
        kernel: &Kernel,
        args: &[Argument<R>],
        program: &LaneProgram,
        space: &Arc<Domain>,
        maps: &mut RankMaps,
        numbers: Numbers<R, T>,
    ) -> Result<Option<Arguments<T>>, Error> {
        let uniforms = evaluate(&program.uniforms, &SingleValues::of(context, args, program));
        let arg = |param: ParamId| args.get(param.0 as usize);
        let other = |what: &str| defect(format!("an argument of `{}` is no {what}", kernel.name));
        let arrays = &program.arrays;
        let number = |param, component, what| arg(param).and_then(|arg| numbers(context.rt, arg, component)).ok_or_else(|| other(what));
        let reals = arrays.reals.iter().map(|&array| match array {
            RealArray::Scalars(param) => number(param, None, "Collection Of Scalar").map(Some),
            RealArray::Component(param, axis) => number(param, Some(axis), "Collection Of Vector of this dimension").map(Some),
            RealArray::Measures(_) | RealArray::FaceTransmissibilities => Ok(None),
        });
        let reals = reals.collect::<Result<_, _>>()?;
        let truths = arrays.truths.iter().map(|&param| match arg(param) {
            Some(Value::Bools(values)) => Ok(values.values().clone()),
            Some(_) | None => Err(other("Collection Of Bool")),
        });
        let truths = truths.collect::<Result<_, _>>()?;
        let entities = arrays.entities.iter().map(|&param| match arg(param) {
            Some(Value::Entities(values)) => Ok(values.values().clone()),
            Some(_) | None => Err(other("collection of entities")),
        });
        let entities = entities.collect::<Result<_, _>>()?;
        let tables = arrays.tables.iter().map(|&param| match arg(param) {
            Some(Value::Table(table)) => Ok(Arc::clone(table)),
            Some(_) | None => Err(other("Table")),
        });
        let tables = tables.collect::<Result<_, _>>()?;
        let Some(ranks) = ranks(context, kernel, args, &arrays.ranks, space, maps)? else { return Ok(None) };
        let grid = context.rt.grid();
        let has_gaps = !arrays.triples.contains(&TripleArray::FaceGaps) || !grid.geometry().face_gaps.is_empty();
        let face_gaps = vec![[0.0; 3]; if has_gaps { 0 } else { grid.n_faces() }];
        Ok(Some(Arguments { uniforms, reals, truths, entities, tables, ranks, face_gaps }))
    }

    /// The same as slices, with the [`geometry`] that the program reads.
    pub fn bindings<'a>(
        &'a self,
        program: &LaneProgram,
        grid: &'a Grid,
        geometry: &'a [Cow<'a, [T]>],
        space: &'a Domain,
        rows: Rows<'a>,
    ) -> Bindings<'a, T> {
        let reals = self.reals.iter().zip(geometry).map(|(values, geometry)| values.as_deref().unwrap_or(geometry));
        let triples = program.arrays.triples.iter().map(|array| match array {
            TripleArray::Centroids(kind) => grid.centroids(entity_kind(*kind)),
            TripleArray::Normals => &grid.geometry().face_normals,
            TripleArray::FaceGaps if self.face_gaps.is_empty() => &grid.geometry().face_gaps,
            TripleArray::FaceGaps => &self.face_gaps,
        });
        let ranks = self.ranks.iter().map(|ranks| match ranks {
            RankData::All(n) => Ranks::All(*n as u32),
            RankData::Map(map) => Ranks::Map(map),
        });
        Bindings {
            topology: program.reads_topology().then(|| grid.topology()),
            rows,
            elements: match program.layout {
                Layout::Consecutive(_) => &[],
                Layout::List => space.elements(),
            },
            uniforms: self.uniforms.clone(),
            reals: reals.collect(),
            triples: triples.collect(),
            truths: self.truths.iter().map(|values| &values[..]).collect(),
            entities: self.entities.iter().map(|values| &values[..]).collect(),
            tables: self.tables.iter().map(|table| table.numbers()).collect(),
            ranks: ranks.collect(),
            offsets: program.offsets.iter().map(|&(by, beyond)| CellOffset { by, beyond }).collect(),
        }
    }
}

/// For each array of numbers of a program what the grid has, rounded; nothing for collections.
pub fn geometry<'g, T: Real>(program: &LaneProgram, grid: &'g Grid) -> Vec<Cow<'g, [T]>> {
    let array = |array: &RealArray| match array {
        RealArray::Measures(EntityKind::Cell) => T::rounded(&grid.geometry().cell_volumes),
        RealArray::Measures(EntityKind::Face) => T::rounded(&grid.geometry().face_areas),
        RealArray::Measures(EntityKind::Edge | EntityKind::Vertex) => T::rounded(grid.edge_lengths()),
        RealArray::FaceTransmissibilities => match &grid.geometry().face_transmissibilities[..] {
            [] => Cow::Owned(vec![T::from_f64(Geometry::FROM_GEOMETRY); grid.n_faces()]),
            given => T::rounded(given),
        },
        RealArray::Scalars(_) | RealArray::Component(..) => Cow::Borrowed(&[][..]),
    };
    program.arrays.reals.iter().map(array).collect()
}

/// Places in the sets of a program; `None` where one has no domain.
fn ranks<R: CompiledReal>(
    context: &mut Context<'_, R>,
    kernel: &Kernel,
    args: &[Argument<R>],
    sources: &[RankSource],
    space: &Arc<Domain>,
    maps: &mut RankMaps,
) -> Result<Option<Vec<RankData>>, Error> {
    let mut ranks = Vec::with_capacity(sources.len());
    for &source in sources {
        ranks.push(match source {
            RankSource::All(kind) => RankData::All(context.rt.grid().n_entities(entity_kind(kind))?),
            RankSource::Set(set) => {
                let domain = match kernel.space_set() {
                    Some(other) if other == set => Arc::clone(space),
                    Some(_) | None => match domain_of(context, kernel, args, set)? {
                        Some(domain) => domain,
                        None => return Ok(None),
                    },
                };
                let n = context.rt.grid().n_entities(domain.kind())?;
                RankData::Map(maps.of(set, domain, n))
            }
        });
    }
    Ok(Some(ranks))
}

/// Arguments that are single, or have a value for each axis.
pub struct SingleValues<'a, R: CompiledReal> {
    args: &'a [Argument<R>],
    per_axis: BTreeMap<ParamId, [f64; 3]>,
    tables: Vec<Cow<'a, [f64]>>,
}

impl<'a, R: CompiledReal> SingleValues<'a, R> {
    /// Values that a program reads.
    pub fn of(context: &mut Context<'_, R>, args: &'a [Argument<R>], program: &LaneProgram) -> SingleValues<'a, R> {
        let mut per_axis = BTreeMap::new();
        for uniform in &program.uniforms {
            if let crate::program::Uniform::PerAxis(param, _) = uniform
                && let Some(Value::Scalars(values)) = args.get(param.0 as usize)
            {
                let given = || values.per_axis().unwrap_or_else(|| first_of_axes(context.rt, values));
                per_axis.entry(*param).or_insert_with(|| given().map(R::to_f64));
            }
        }
        let tables = program.arrays.tables.iter().map(|table| match args.get(table.0 as usize) {
            Some(Value::Table(table)) => Cow::Borrowed(table.numbers()),
            Some(_) | None => Cow::Borrowed(&[][..]),
        });
        SingleValues { args, per_axis, tables: tables.collect() }
    }
}

/// The first value of each axis, of a collection that has all of them.
fn first_of_axes<R: CompiledReal>(rt: &SerialRuntime<R>, values: &ScalarCollection<R>) -> [R; 3] {
    let (domain, dense) = (values.domain(), rt.dense(values));
    let mut found = [None; 3];
    let shape = rt.grid().closed_shape();
    for (position, &value) in dense.iter().enumerate() {
        let axis = match (domain.kind(), shape) {
            (equelle_runtime::EntityKind::Face, Some(shape)) => shape.face_ijk(domain.element(position) as usize).axis,
            _ => 0,
        };
        found[axis].get_or_insert(value);
    }
    found.map(Option::unwrap_or_default)
}

impl<R: CompiledReal> UniformSource for SingleValues<'_, R> {
    fn param(&self, param: ParamId) -> f64 {
        match self.args.get(param.0 as usize) {
            Some(Value::Scalar(value)) => *value,
            Some(Value::Bool(value)) => f64::from(u8::from(*value)),
            Some(_) | None => f64::NAN,
        }
    }

    fn component(&self, param: ParamId, axis: u8) -> f64 {
        match self.args.get(param.0 as usize) {
            Some(Value::Vector(value)) => value[usize::from(axis)],
            Some(_) | None => f64::NAN,
        }
    }

    fn per_axis(&self, param: ParamId, axis: u8) -> f64 {
        self.per_axis.get(&param).map_or(f64::NAN, |values| values[usize::from(axis)])
    }

    fn table(&self, table: ArrayId) -> &[f64] {
        &self.tables[table.0 as usize]
    }
}
