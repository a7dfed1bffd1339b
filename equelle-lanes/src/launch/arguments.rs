//! Arguments of a launch as arrays and numbers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use backend_serial::runtime::{SerialRuntime, Values};
use equelle_front::ir::{Kernel, ParamId};
use equelle_front::types::{EntityKind, SetId};
use equelle_interp::value::{Value, defect, entity_kind, side_map};
use equelle_runtime::Error;
use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Geometry, Grid, NONE};
use equelle_runtime::math::table::Table;

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

/// Numbers of an array.
enum Reals {
    Values(Values<f64>),
    Measures(EntityKind),
    FaceTransmissibilities,
}

/// Places in a set.
enum RankData {
    All(usize),
    Map(Rc<Vec<u32>>),
}

/// Numbers and arrays that a launch holds while it runs.
pub struct Arguments {
    uniforms: Vec<f64>,
    reals: Vec<Reals>,
    truths: Vec<Values<bool>>,
    entities: Vec<Values<u32>>,
    tables: Vec<Arc<Table>>,
    ranks: Vec<RankData>,
    edge_lengths: Vec<f64>,
    /// Zeros for a grid without gaps.
    face_gaps: Vec<[f64; 3]>,
    /// For a grid that gives none.
    face_transmissibilities: Vec<f64>,
}

impl Arguments {
    /// The arguments of a launch; `None` where a set has no domain.
    pub fn of(
        context: &mut Context<'_>,
        kernel: &Kernel,
        args: &[Argument],
        program: &LaneProgram,
        space: &Arc<Domain>,
        maps: &mut RankMaps,
    ) -> Result<Option<Arguments>, Error> {
        let uniforms = evaluate(&program.uniforms, &SingleValues::of(context, args, program));
        let arg = |param: ParamId| args.get(param.0 as usize);
        let other = |what: &str| defect(format!("an argument of `{}` is no {what}", kernel.name));
        let arrays = &program.arrays;
        let mut reals = Vec::with_capacity(arrays.reals.len());
        for &array in &arrays.reals {
            reals.push(match array {
                RealArray::Measures(kind) => Reals::Measures(kind),
                RealArray::FaceTransmissibilities => Reals::FaceTransmissibilities,
                RealArray::Scalars(param) => match arg(param) {
                    Some(Value::Scalars(values)) => Reals::Values(context.rt.dense(values)),
                    Some(_) | None => return Err(other("Collection Of Scalar")),
                },
                RealArray::Component(param, axis) => match arg(param) {
                    Some(Value::Vectors(values)) => {
                        let component = context.rt.dense_component(values, usize::from(axis));
                        Reals::Values(component.ok_or_else(|| other("Vector of this dimension"))?)
                    }
                    Some(_) | None => return Err(other("Collection Of Vector")),
                },
            });
        }
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
        let mut ranks = Vec::with_capacity(arrays.ranks.len());
        for &source in &arrays.ranks {
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
        let edge_lengths = match arrays.reals.contains(&RealArray::Measures(EntityKind::Edge)) {
            true => context.rt.grid().edge_lengths().to_vec(),
            false => Vec::new(),
        };
        let grid = context.rt.grid();
        let has_gaps = !arrays.triples.contains(&TripleArray::FaceGaps) || !grid.geometry().face_gaps.is_empty();
        let face_gaps = vec![[0.0; 3]; if has_gaps { 0 } else { grid.n_faces() }];
        let gives = !arrays.reals.contains(&RealArray::FaceTransmissibilities) || !grid.geometry().face_transmissibilities.is_empty();
        let face_transmissibilities = vec![Geometry::FROM_GEOMETRY; if gives { 0 } else { grid.n_faces() }];
        Ok(Some(Arguments { uniforms, reals, truths, entities, tables, ranks, edge_lengths, face_gaps, face_transmissibilities }))
    }

    /// The same as slices.
    pub fn bindings<'a>(&'a self, program: &LaneProgram, grid: &'a Grid, space: &'a Domain, rows: Rows<'a>) -> Bindings<'a> {
        let reals = self.reals.iter().map(|array| match array {
            Reals::Values(values) => &values[..],
            Reals::FaceTransmissibilities if self.face_transmissibilities.is_empty() => &grid.geometry().face_transmissibilities,
            Reals::FaceTransmissibilities => &self.face_transmissibilities,
            Reals::Measures(EntityKind::Cell) => &grid.geometry().cell_volumes,
            Reals::Measures(EntityKind::Face) => &grid.geometry().face_areas,
            Reals::Measures(EntityKind::Edge | EntityKind::Vertex) => &self.edge_lengths,
        });
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
            offsets: program.offsets.iter().map(|&(by, beyond)| CellOffset { by, beyond: beyond.map(side_map) }).collect(),
        }
    }
}

/// Arguments that are single, or have a value for each axis.
pub struct SingleValues<'a> {
    args: &'a [Argument],
    per_axis: BTreeMap<ParamId, [f64; 3]>,
    tables: Vec<Cow<'a, [f64]>>,
}

impl<'a> SingleValues<'a> {
    /// Values that a program reads.
    pub fn of(context: &mut Context<'_>, args: &'a [Argument], program: &LaneProgram) -> SingleValues<'a> {
        let mut per_axis = BTreeMap::new();
        for uniform in &program.uniforms {
            if let crate::program::Uniform::PerAxis(param, _) = uniform
                && let Some(Value::Scalars(values)) = args.get(param.0 as usize)
            {
                per_axis.entry(*param).or_insert_with(|| values.per_axis().unwrap_or_else(|| first_of_axes(context.rt, values)));
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
fn first_of_axes(rt: &SerialRuntime, values: &backend_serial::runtime::ScalarCollection) -> [f64; 3] {
    let (domain, dense) = (values.domain(), rt.dense(values));
    let mut found = [None; 3];
    let shape = rt.grid().cartesian_shape();
    for (position, &value) in dense.iter().enumerate() {
        let axis = match (domain.kind(), shape) {
            (equelle_runtime::EntityKind::Face, Some(shape)) => shape.face_ijk(domain.element(position) as usize).axis,
            _ => 0,
        };
        found[axis].get_or_insert(value);
    }
    found.map(|value| value.unwrap_or(0.0))
}

impl UniformSource for SingleValues<'_> {
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
