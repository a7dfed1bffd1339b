//! `cells_wells.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, EntityKind, Error, Extent, HaloNeeds, InputInfo,
    InputKind, MemoryPlan, OutputInfo, OutputKind, Program, RankNeeds, SetMemory, Source,
};
use kernels::{ComputeItrans, Kernels, ResidualOfCells, ResidualOfWells};

/// Facts of the program for messages at run time.
pub fn program() -> Program {
    Program {
        name: "cells_wells".into(),
        source: Source {
            file: "cells_wells.equelle".into(),
            text: "".into(),
            imports: Vec::new(),
        },
        inputs: Vec::from([
            InputInfo {
                name: "compressibility".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: None,
                default: "0.25".into(),
                line: 0,
            },
            InputInfo {
                name: "mobility".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: None,
                default: "2".into(),
                line: 0,
            },
            InputInfo {
                name: "dt".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: None,
                default: "0.5".into(),
                line: 0,
            },
            InputInfo {
                name: "wells".into(),
                kind: InputKind::Domain,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "p".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "p0".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "bhp".into(),
                kind: InputKind::Collection,
                domain: "wells".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "index".into(),
                kind: InputKind::Collection,
                domain: "wells".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "rate".into(),
                kind: InputKind::Collection,
                domain: "wells".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
        ]),
        min_dim: 1,
        retries: Vec::new(),
        solves: Vec::new(),
        outputs: Vec::from([
            OutputInfo {
                tag: "cells".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "wells".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
        ]),
        axes: AxisUnits {
            coordinates: Some("m".into()),
            time: None,
        },
        ranks: RankNeeds::Halo(HaloNeeds {
            layers: 1,
            cuts: [true, true, true],
            wraps: [false, false, false],
        }),
    }
}

/// The most collections that live at the same time, and what linear systems there are.
pub fn memory() -> MemoryPlan {
    MemoryPlan {
        collections: Vec::from([
            SetMemory {
                name: "AllCells()".into(),
                set: CanonicalSet::new(EntityKind::Cell, Extent::All),
                canonical: true,
                general: Buffers::new([3, 3, 3], 0, 0),
                cartesian: Buffers::new([3, 3, 3], 0, 0),
                reduced: false,
            },
            SetMemory {
                name: "InteriorFaces()".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::Interior),
                canonical: true,
                general: Buffers::new([1, 1, 1], 0, 0),
                cartesian: Buffers::new([0, 0, 0], 0, 0),
                reduced: false,
            },
            SetMemory {
                name: "wells".into(),
                set: CanonicalSet::new(EntityKind::Cell, Extent::All),
                canonical: false,
                general: Buffers::new([4, 4, 4], 0, 0),
                cartesian: Buffers::new([4, 4, 4], 0, 0),
                reduced: false,
            },
        ]),
        solves: Vec::new(),
        topology: false,
        geometry: false,
        positions: Vec::from([CanonicalSet::new(EntityKind::Face, Extent::Interior)]),
        lists: Vec::new(),
    }
}

/// Runs the program.
///
/// # Errors
/// Those of the simulation, of its input and of the back-end, with the Equelle line.
pub fn simulate<R: Kernels>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(memory())?;
    let default = rt.scalar(0.25);
    let compressibility = rt.input_scalar("compressibility", &default)?;
    let default_2 = rt.scalar(2.0);
    let mobility = rt.input_scalar("mobility", &default_2)?;
    let default_3 = rt.scalar(0.5);
    let dt = rt.input_scalar("dt", &default_3)?;
    let all_cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let wells = rt.input_domain("wells", &all_cells)?;
    let p = rt.input_collection("p", &all_cells)?;
    let p0 = rt.input_collection("p0", &all_cells)?;
    let bhp = rt.input_collection("bhp", &wells)?;
    let index = rt.input_collection("index", &wells)?;
    let rate = rt.input_collection("rate", &wells)?;
    let itrans = rt
        .compute_itrans(ComputeItrans {
            mobility: &mobility,
        })?;
    let residual_cells = rt
        .residual_of_cells(ResidualOfCells {
            p: &p,
            p0: &p0,
            bhp: &bhp,
            index: &index,
            wells: &wells,
            itrans: &itrans,
            compressibility: &compressibility,
            dt: &dt,
        })?;
    drop(p0);
    drop(itrans);
    let residual_wells = rt
        .residual_of_wells(ResidualOfWells {
            p: &p,
            bhp: &bhp,
            index: &index,
            rate: &rate,
            wells: &wells,
        })?;
    rt.output("cells", &residual_cells)?;
    rt.output("wells", &residual_wells)?;
    rt.finish()
}
