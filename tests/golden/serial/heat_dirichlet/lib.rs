//! `heat_dirichlet.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, Checkpoint, EntityKind, Error, Extent,
    GeometryArray, InputInfo, InputKind, MemoryPlan, Operations, OutputInfo, OutputKind,
    Program, Reduction, SetMemory, Source,
};
use kernels::{ComputeBtrans, ComputeItrans, ComputeU, Kernels};

/// What messages at run time need to know of the program.
pub static PROGRAM: Program = Program {
    name: "heat_dirichlet",
    source: Source {
        file: "heat_dirichlet.equelle",
        text: "",
        imports: &[],
    },
    inputs: &[
        InputInfo {
            name: "k",
            kind: InputKind::Scalar,
            domain: "",
            unit: None,
            default: "0.3",
            line: 0,
        },
        InputInfo {
            name: "dirichlet_boundary",
            kind: InputKind::Domain,
            domain: "BoundaryFaces()",
            unit: None,
            default: "",
            line: 0,
        },
        InputInfo {
            name: "dirichlet_val",
            kind: InputKind::Collection,
            domain: "dirichlet_boundary",
            unit: None,
            default: "",
            line: 0,
        },
        InputInfo {
            name: "u_initial",
            kind: InputKind::Collection,
            domain: "AllCells()",
            unit: None,
            default: "",
            line: 0,
        },
        InputInfo {
            name: "timesteps",
            kind: InputKind::Sequence,
            domain: "",
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
            tag: "expU",
            kind: OutputKind::Numbers(EntityKind::Cell),
            unit: None,
        },
        OutputInfo {
            tag: "maximum of u",
            kind: OutputKind::Number,
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
            general: Buffers::new([2, 2, 2], 0, 0),
            cartesian: Buffers::new([2, 2, 2], 0, 0),
            reduced: true,
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
            name: "dirichlet_boundary",
            set: CanonicalSet::new(EntityKind::Face, Extent::Boundary),
            canonical: false,
            general: Buffers::new([2, 2, 2], 0, 0),
            cartesian: Buffers::new([2, 2, 2], 0, 0),
            reduced: false,
        },
    ],
    solves: &[],
    topology: false,
    geometry: false,
    positions: &[
        CanonicalSet::new(EntityKind::Face, Extent::Interior),
        CanonicalSet::new(EntityKind::Face, Extent::Boundary),
    ],
    lists: &[CanonicalSet::new(EntityKind::Face, Extent::Boundary)],
};

/// Runs the program.
///
/// # Errors
/// Those of the simulation, of its input and of the back-end, with the Equelle line.
pub fn simulate<R: Kernels + Operations + Checkpoint>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(&MEMORY)?;
    let default = rt.scalar(0.3);
    let k = rt.input_scalar("k", &default)?;
    let boundary_faces = rt
        .domain(CanonicalSet::new(EntityKind::Face, Extent::Boundary))?;
    let dirichlet_boundary = rt.input_domain("dirichlet_boundary", &boundary_faces)?;
    let dirichlet_val = rt.input_collection("dirichlet_val", &dirichlet_boundary)?;
    let all_cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u_initial = rt.input_collection("u_initial", &all_cells)?;
    let timesteps = rt.input_sequence("timesteps")?;
    let itrans = rt.compute_itrans(ComputeItrans { k: &k })?;
    let btrans = rt
        .compute_btrans(ComputeBtrans {
            k: &k,
            dirichlet_boundary: &dirichlet_boundary,
        })?;
    let mut u = u_initial;
    rt.keep_geometry(&[GeometryArray::CellVolumes]);

    let mut steps = rt.begin_loop(&timesteps)?;
    if rt.resumes(1, &mut steps)? {
        u = rt.restored_collection("u")?;
    }
    while let Some(dt) = rt.next(&mut steps)? {
        u = rt
            .compute_u(ComputeU {
                u: &u,
                itrans: &itrans,
                btrans: &btrans,
                dirichlet_val: &dirichlet_val,
                dirichlet_boundary: &dirichlet_boundary,
                dt: &dt,
            })?;
        rt.output_collection("expU", &u)?;
        let largest = rt.reduce(Reduction::Max, &u)?;
        rt.output_scalar("maximum of u", &largest)?;
        if rt.samples_state(&steps) {
            rt.check_collection("u", &u)?;
        }
        if rt.checkpoint_due() {
            rt.save_collection("u", &u)?;
            rt.write_checkpoint(1, &mut steps)?;
        }
    }

    rt.output_collection("expU", &u)?;

    // The state at the end is finite.
    rt.check_collection("u", &u)?;
    rt.finish()
}
