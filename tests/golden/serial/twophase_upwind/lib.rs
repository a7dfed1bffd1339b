//! `twophase_upwind.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, EntityKind, Error, Extent, HaloNeeds, InputInfo,
    InputKind, MemoryPlan, Operations, OutputInfo, OutputKind, Program, RankNeeds,
    SetMemory, Source,
};
use kernels::{ComputeResidual, Kernels};

/// Facts of the program for messages at run time.
pub fn program() -> Program {
    Program {
        name: "twophase_upwind".into(),
        source: Source {
            file: "twophase_upwind.equelle".into(),
            text: "".into(),
            imports: Vec::new(),
        },
        inputs: Vec::from([
            InputInfo {
                name: "watervisc".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: None,
                default: "0.0005".into(),
                line: 0,
            },
            InputInfo {
                name: "oilvisc".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: None,
                default: "0.005".into(),
                line: 0,
            },
            InputInfo {
                name: "dt".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: None,
                default: "100".into(),
                line: 0,
            },
            InputInfo {
                name: "poro".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "s".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "s0".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "flux".into(),
                kind: InputKind::Collection,
                domain: "InteriorFaces()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "source_cells".into(),
                kind: InputKind::Domain,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "source_values".into(),
                kind: InputKind::Collection,
                domain: "source_cells".into(),
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
                tag: "residual".into(),
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
                general: Buffers::new([5, 5, 5], 0, 1),
                cartesian: Buffers::new([5, 5, 5], 0, 1),
                reduced: false,
            },
            SetMemory {
                name: "InteriorFaces()".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::Interior),
                canonical: true,
                general: Buffers::new([1, 1, 1], 0, 0),
                cartesian: Buffers::new([1, 1, 1], 0, 0),
                reduced: false,
            },
            SetMemory {
                name: "source_cells".into(),
                set: CanonicalSet::new(EntityKind::Cell, Extent::All),
                canonical: false,
                general: Buffers::new([1, 1, 1], 0, 0),
                cartesian: Buffers::new([1, 1, 1], 0, 0),
                reduced: false,
            },
        ]),
        solves: Vec::new(),
        topology: false,
        geometry: true,
        positions: Vec::from([CanonicalSet::new(EntityKind::Face, Extent::Interior)]),
        lists: Vec::from([CanonicalSet::new(EntityKind::Face, Extent::Interior)]),
    }
}

/// Runs the program.
///
/// # Errors
/// Those of the simulation, of its input and of the back-end, with the Equelle line.
pub fn simulate<R: Kernels + Operations>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(memory())?;
    let default = rt.scalar(0.0005);
    let watervisc = rt.input_scalar("watervisc", &default)?;
    let default_2 = rt.scalar(0.005);
    let oilvisc = rt.input_scalar("oilvisc", &default_2)?;
    let default_3 = rt.scalar(100.0);
    let dt = rt.input_scalar("dt", &default_3)?;
    let all_cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let all_cells_entities = rt.entities(&all_cells)?;
    let poro = rt.input_collection("poro", &all_cells)?;
    let s = rt.input_collection("s", &all_cells)?;
    let s0 = rt.input_collection("s0", &all_cells)?;
    let interior_faces = rt
        .domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let flux = rt.input_collection("flux", &interior_faces)?;
    let source_cells = rt.input_domain("source_cells", &all_cells)?;
    let source_values = rt.input_collection("source_values", &source_cells)?;
    let measure = rt.measure(&all_cells_entities)?;
    let pore_volume = rt.mul(&poro, &measure)?;
    drop(poro);
    drop(measure);
    let residual = rt
        .compute_residual(ComputeResidual {
            s: &s,
            s0: &s0,
            flux: &flux,
            pore_volume: &pore_volume,
            source_cells: &source_cells,
            source_values: &source_values,
            watervisc: &watervisc,
            oilvisc: &oilvisc,
            dt: &dt,
        })?;
    rt.output("residual", &residual)?;
    rt.finish()
}
