//! `cells_wells.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, EntityKind, Error, Extent, InputInfo, InputKind,
    MemoryPlan, OutputInfo, OutputKind, Program, SetMemory, Source,
};
use kernels::{ComputeItrans, Kernels, ResidualOfCells, ResidualOfWells};

/// What messages at run time need to know of the program.
pub static PROGRAM: Program = Program {
    name: "cells_wells",
    source: Source {
        file: "cells_wells.equelle",
        text: "",
        imports: &[],
    },
    inputs: &[
        InputInfo {
            name: "compressibility",
            kind: InputKind::Scalar,
            domain: "",
            unit: None,
            default: "0.25",
            line: 0,
        },
        InputInfo {
            name: "mobility",
            kind: InputKind::Scalar,
            domain: "",
            unit: None,
            default: "2",
            line: 0,
        },
        InputInfo {
            name: "dt",
            kind: InputKind::Scalar,
            domain: "",
            unit: None,
            default: "0.5",
            line: 0,
        },
        InputInfo {
            name: "wells",
            kind: InputKind::Domain,
            domain: "AllCells()",
            unit: None,
            default: "",
            line: 0,
        },
        InputInfo {
            name: "p",
            kind: InputKind::Collection,
            domain: "AllCells()",
            unit: None,
            default: "",
            line: 0,
        },
        InputInfo {
            name: "p0",
            kind: InputKind::Collection,
            domain: "AllCells()",
            unit: None,
            default: "",
            line: 0,
        },
        InputInfo {
            name: "bhp",
            kind: InputKind::Collection,
            domain: "wells",
            unit: None,
            default: "",
            line: 0,
        },
        InputInfo {
            name: "index",
            kind: InputKind::Collection,
            domain: "wells",
            unit: None,
            default: "",
            line: 0,
        },
        InputInfo {
            name: "rate",
            kind: InputKind::Collection,
            domain: "wells",
            unit: None,
            default: "",
            line: 0,
        },
    ],
    min_dim: 1,
    retries: &[],
    solves: &[],
    outputs: &[
        OutputInfo {
            tag: "cells",
            kind: OutputKind::Numbers(EntityKind::Cell),
            unit: None,
        },
        OutputInfo {
            tag: "wells",
            kind: OutputKind::Numbers(EntityKind::Cell),
            unit: None,
        },
    ],
    axes: AxisUnits {
        coordinates: Some("m"),
        time: None,
    },
};
/// The most collections that live at the same time, and what linear systems there are.
pub static MEMORY: MemoryPlan = MemoryPlan {
    collections: &[
        SetMemory {
            name: "AllCells()",
            set: CanonicalSet::new(EntityKind::Cell, Extent::All),
            canonical: true,
            general: Buffers::new([3, 3, 3], 0, 0),
            cartesian: Buffers::new([3, 3, 3], 0, 0),
            reduced: false,
        },
        SetMemory {
            name: "InteriorFaces()",
            set: CanonicalSet::new(EntityKind::Face, Extent::Interior),
            canonical: true,
            general: Buffers::new([1, 1, 1], 0, 0),
            cartesian: Buffers::new([0, 0, 0], 0, 0),
            reduced: false,
        },
        SetMemory {
            name: "wells",
            set: CanonicalSet::new(EntityKind::Cell, Extent::All),
            canonical: false,
            general: Buffers::new([4, 4, 4], 0, 0),
            cartesian: Buffers::new([4, 4, 4], 0, 0),
            reduced: false,
        },
    ],
    solves: &[],
    topology: false,
    geometry: false,
    positions: &[CanonicalSet::new(EntityKind::Face, Extent::Interior)],
    lists: &[],
};

/// Runs the program.
///
/// # Errors
/// Those of the simulation, of its input and of the back-end, with the Equelle line.
pub fn simulate<R: Kernels>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(&MEMORY)?;
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
    rt.output_collection("cells", &residual_cells)?;
    rt.output_collection("wells", &residual_wells)?;
    rt.finish()
}
