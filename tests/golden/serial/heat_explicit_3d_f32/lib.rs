//! `heat_explicit_3d.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, Checkpoint, EntityKind, Error, Extent,
    GeometryArray, HaloNeeds, InputInfo, InputKind, InputUnit, MemoryPlan, Observed,
    OutputInfo, OutputKind, OutputUnit, Program, RankNeeds, SetMemory, Source, Variable,
};
use kernels::{
    ComputeBtransDirection, ComputeMaxU, ComputeMinusItrans, ComputeU, Kernels,
};

/// Facts of the program for messages at run time.
pub fn program() -> Program {
    Program {
        name: "heat_explicit_3d".into(),
        source: Source {
            file: "heat_explicit_3d.equelle".into(),
            text: include_str!("../heat_explicit_3d.equelle").into(),
            imports: Vec::new(),
        },
        inputs: Vec::from([
            InputInfo {
                name: "k".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: Some(InputUnit {
                    text: "Meter^2/Second".into(),
                    factor: 1.0,
                    dimension: [2, -1, 0, 0, 0, 0, 0],
                }),
                default: "0.3".into(),
                line: 4,
            },
            InputInfo {
                name: "timesteps".into(),
                kind: InputKind::Sequence,
                domain: "".into(),
                unit: Some(InputUnit {
                    text: "Second".into(),
                    factor: 1.0,
                    dimension: [0, 1, 0, 0, 0, 0, 0],
                }),
                default: "".into(),
                line: 5,
            },
            InputInfo {
                name: "u_initial".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: Some(InputUnit {
                    text: "Kelvin".into(),
                    factor: 1.0,
                    dimension: [0, 0, 0, 1, 0, 0, 0],
                }),
                default: "".into(),
                line: 6,
            },
            InputInfo {
                name: "dirichlet_boundary".into(),
                kind: InputKind::Domain,
                domain: "BoundaryFaces()".into(),
                unit: None,
                default: "".into(),
                line: 7,
            },
            InputInfo {
                name: "dirichlet_val".into(),
                kind: InputKind::Collection,
                domain: "dirichlet_boundary".into(),
                unit: Some(InputUnit {
                    text: "Kelvin".into(),
                    factor: 1.0,
                    dimension: [0, 0, 0, 1, 0, 0, 0],
                }),
                default: "".into(),
                line: 8,
            },
        ]),
        min_dim: 1,
        retries: Vec::new(),
        solves: Vec::new(),
        outputs: Vec::from([
            OutputInfo {
                tag: "expU".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: Some(OutputUnit::Si("K".into())),
            },
            OutputInfo {
                tag: "maximum of u".into(),
                kind: OutputKind::Number,
                unit: Some(OutputUnit::Si("K".into())),
            },
        ]),
        axes: AxisUnits {
            coordinates: Some("m".into()),
            time: Some("s".into()),
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
pub fn simulate<R: Kernels + Checkpoint>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(memory())?;
    rt.require_face_geometry(14)?;
    // heat_explicit_3d.equelle:4: k = InputScalarWithDefault("k", 0.3) * 1 [Meter^2/Second]
    rt.line(4);
    let k = {
        let default = rt.scalar(0.3);
        rt.input_scalar("k", &default)?
    };
    // heat_explicit_3d.equelle:5: timesteps = InputSequenceOfScalar("timesteps") * 1 [Second]
    rt.line(5);
    let timesteps = rt.input_sequence("timesteps")?;
    // heat_explicit_3d.equelle:6: u_initial = InputCollectionOfScalar("u_initial", AllCells()) * 1 [Kelvin]
    rt.line(6);
    let u_initial = {
        let all_cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        rt.input_collection("u_initial", &all_cells)?
    };
    // heat_explicit_3d.equelle:7: dirichlet_boundary = InputDomainSubsetOf("dirichlet_boundary", BoundaryFaces())
    rt.line(7);
    let dirichlet_boundary = {
        let boundary_faces = rt
            .domain(CanonicalSet::new(EntityKind::Face, Extent::Boundary))?;
        rt.input_domain("dirichlet_boundary", &boundary_faces)?
    };
    // heat_explicit_3d.equelle:8: dirichlet_val = InputCollectionOfScalar("dirichlet_val", dirichlet_boundary) * 1 [Kelvin]
    rt.line(8);
    let dirichlet_val = rt.input_collection("dirichlet_val", &dirichlet_boundary)?;
    // heat_explicit_3d.equelle:34: u = u_initial
    rt.line(34);
    let mut u = u_initial;
    // heat_explicit_3d.equelle:23: -> -itrans * Gradient(u)
    rt.line(23);
    let minus_itrans = rt.compute_minus_itrans(ComputeMinusItrans { k: &k })?;
    // heat_explicit_3d.equelle:28: -> btrans * direction * (u_inside - dirichlet_val)
    rt.line(28);
    let btrans_direction = rt
        .compute_btrans_direction(ComputeBtransDirection {
            dirichlet_boundary: &dirichlet_boundary,
            k: &k,
        })?;
    rt.keep_geometry(&[GeometryArray::CellVolumes]);

    // heat_explicit_3d.equelle:36: For dt In timesteps {
    rt.line(36);
    let mut steps = rt.begin_loop(&timesteps)?;
    if rt.resumes(1, &mut steps)? {
        u = rt.restored_collection("u")?;
    }
    while let Some(dt) = rt.next(&mut steps)? {
        // heat_explicit_3d.equelle:37: fluxes = (interior_flux(u) Extend AllFaces()) + (boundary_flux(u) Extend AllFaces())
        rt.line(37);
        rt.exchange(&mut u, 1)?;
        // heat_explicit_3d.equelle:38: u = u - (dt / volume) * Divergence(fluxes)
        rt.line(38);
        u = rt
            .compute_u(ComputeU {
                u: &u,
                dt: &dt,
                minus_itrans: &minus_itrans,
                dirichlet_boundary: &dirichlet_boundary,
                btrans_direction: &btrans_direction,
                dirichlet_val: &dirichlet_val,
            })?;
        // heat_explicit_3d.equelle:39: Output("expU", u)
        rt.line(39);
        rt.output("expU", &u)?;
        // heat_explicit_3d.equelle:40: Output("maximum of u", MaxReduce(u))
        rt.line(40);
        {
            let max_u = rt.compute_max_u(ComputeMaxU { u: &u })?;
            rt.output("maximum of u", &max_u)?;
        }
        if rt.samples_state(&steps) {
            rt.line(38);
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

    // heat_explicit_3d.equelle:43: Output("expU", u)
    rt.line(43);
    rt.output("expU", &u)?;

    // The state at the end is finite.
    rt.line(38);
    rt.check("u", &u)?;
    rt.finish()
}
