//! `heat_dirichlet.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, Checkpoint, EntityKind, Error, Extent,
    GeometryArray, HaloNeeds, InputInfo, InputKind, MemoryPlan, Observed, Operations,
    OutputInfo, OutputKind, Program, RankNeeds, Reduction, SetMemory, Source, Variable,
};
use kernels::{ComputeBtrans, ComputeItrans, ComputeU, Kernels};

/// Facts of the program for messages at run time.
pub fn program() -> Program {
    Program {
        name: "heat_dirichlet".into(),
        source: Source {
            file: "heat_dirichlet.equelle".into(),
            text: "".into(),
            imports: Vec::new(),
        },
        inputs: Vec::from([
            InputInfo {
                name: "k".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: None,
                default: "0.3".into(),
                line: 0,
            },
            InputInfo {
                name: "dirichlet_boundary".into(),
                kind: InputKind::Domain,
                domain: "BoundaryFaces()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "dirichlet_val".into(),
                kind: InputKind::Collection,
                domain: "dirichlet_boundary".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "u_initial".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "timesteps".into(),
                kind: InputKind::Sequence,
                domain: "".into(),
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
                tag: "expU".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "maximum of u".into(),
                kind: OutputKind::Number,
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
                general: Buffers::new([2, 2, 2], 0, 0),
                cartesian: Buffers::new([2, 2, 2], 0, 0),
                reduced: true,
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
                name: "dirichlet_boundary".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::Boundary),
                canonical: false,
                general: Buffers::new([2, 2, 2], 0, 0),
                cartesian: Buffers::new([2, 2, 2], 0, 0),
                reduced: false,
            },
        ]),
        solves: Vec::new(),
        topology: false,
        geometry: false,
        positions: Vec::from([
            CanonicalSet::new(EntityKind::Face, Extent::Interior),
            CanonicalSet::new(EntityKind::Face, Extent::Boundary),
        ]),
        lists: Vec::from([CanonicalSet::new(EntityKind::Face, Extent::Boundary)]),
    }
}

/// Runs the program.
///
/// # Errors
/// Those of the simulation, of its input and of the back-end, with the Equelle line.
pub fn simulate<R: Kernels + Operations + Checkpoint>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(memory())?;
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
        rt.exchange(&mut u, 1)?;
        u = rt
            .compute_u(ComputeU {
                u: &u,
                itrans: &itrans,
                btrans: &btrans,
                dirichlet_val: &dirichlet_val,
                dirichlet_boundary: &dirichlet_boundary,
                dt: &dt,
            })?;
        rt.output("expU", &u)?;
        let largest = rt.reduce(Reduction::Max, &u)?;
        rt.output("maximum of u", &largest)?;
        if rt.samples_state(&steps) {
            rt.check("u", &u)?;
        }
        if rt.checkpoint_due() {
            rt.save_collection("u", &u)?;
            rt.write_checkpoint(1, &mut steps)?;
        }
        if rt.is_observed() {
            rt.round_is_over(&mut [("u", Variable::Collection(&mut u))])?;
        }
    }

    rt.output("expU", &u)?;

    // The state at the end is finite.
    rt.check("u", &u)?;
    rt.finish()
}
