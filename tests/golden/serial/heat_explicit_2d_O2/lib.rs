//! `heat_explicit_2d.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, Checkpoint, EntityKind, Error, Extent,
    GeometryArray, HaloNeeds, InputInfo, InputKind, InputUnit, MemoryPlan, Observed,
    OutputInfo, OutputKind, OutputUnit, Program, RankNeeds, SetMemory, Source, Variable,
};
use kernels::{ComputeKDirection, ComputeMaxU, ComputeMinusK, ComputeU, Kernels};

/// Facts of the program for messages at run time.
pub fn program() -> Program {
    Program {
        name: "heat_explicit_2d".into(),
        source: Source {
            file: "heat_explicit_2d.equelle".into(),
            text: include_str!("../heat_explicit_2d.equelle").into(),
            imports: Vec::new(),
        },
        inputs: Vec::from([
            InputInfo {
                name: "k".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: Some(InputUnit {
                    text: "Watt/(Meter*Kelvin)".into(),
                    factor: 1.0,
                    dimension: [1, -3, 1, -1, 0, 0, 0],
                }),
                default: "401".into(),
                line: 4,
            },
            InputInfo {
                name: "cv".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: Some(InputUnit {
                    text: "Joule/(Meter^3*Kelvin)".into(),
                    factor: 1.0,
                    dimension: [-1, -2, 1, -1, 0, 0, 0],
                }),
                default: "3450000".into(),
                line: 5,
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
                line: 6,
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
                line: 7,
            },
            InputInfo {
                name: "dirichlet_boundary".into(),
                kind: InputKind::Domain,
                domain: "BoundaryFaces()".into(),
                unit: None,
                default: "".into(),
                line: 8,
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
                line: 9,
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
    rt.require_face_geometry(15)?;
    // heat_explicit_2d.equelle:4: k = InputScalarWithDefault("k", 401) * 1 [Watt/(Meter*Kelvin)]
    rt.line(4);
    let k = {
        let default = rt.scalar(401.0);
        rt.input_scalar("k", &default)?
    };
    // heat_explicit_2d.equelle:5: cv = InputScalarWithDefault("cv", 3450000) * 1 [Joule/(Meter^3*Kelvin)]
    rt.line(5);
    let cv = {
        let default = rt.scalar(3450000.0);
        rt.input_scalar("cv", &default)?
    };
    // heat_explicit_2d.equelle:6: timesteps = InputSequenceOfScalar("timesteps") * 1 [Second]
    rt.line(6);
    let timesteps = rt.input_sequence("timesteps")?;
    // heat_explicit_2d.equelle:7: u_initial = InputCollectionOfScalar("u_initial", AllCells()) * 1 [Kelvin]
    rt.line(7);
    let u_initial = {
        let all_cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        rt.input_collection("u_initial", &all_cells)?
    };
    // heat_explicit_2d.equelle:8: dirichlet_boundary = InputDomainSubsetOf("dirichlet_boundary", BoundaryFaces())
    rt.line(8);
    let dirichlet_boundary = {
        let boundary_faces = rt
            .domain(CanonicalSet::new(EntityKind::Face, Extent::Boundary))?;
        rt.input_domain("dirichlet_boundary", &boundary_faces)?
    };
    // heat_explicit_2d.equelle:9: dirichlet_val = InputCollectionOfScalar("dirichlet_val", dirichlet_boundary) * 1 [Kelvin]
    rt.line(9);
    let dirichlet_val = rt.input_collection("dirichlet_val", &dirichlet_boundary)?;
    // heat_explicit_2d.equelle:29: u = u_initial
    rt.line(29);
    let mut u = u_initial;
    // heat_explicit_2d.equelle:15: -> -(k * |faces| / distance) * Gradient(u)
    rt.line(15);
    let minus_k = rt.compute_minus_k(ComputeMinusK { k: &k })?;
    // heat_explicit_2d.equelle:25: -> (k * |faces| / distance) * direction * (u_inside - dirichlet_val)
    rt.line(25);
    let k_direction = rt
        .compute_k_direction(ComputeKDirection {
            dirichlet_boundary: &dirichlet_boundary,
            k: &k,
        })?;
    rt.keep_geometry(&[GeometryArray::CellVolumes]);

    // heat_explicit_2d.equelle:31: For dt In timesteps {
    rt.line(31);
    let mut steps = rt.begin_loop(&timesteps)?;
    if rt.resumes(1, &mut steps)? {
        u = rt.restored_collection("u")?;
    }
    while let Some(dt) = rt.next(&mut steps)? {
        // heat_explicit_2d.equelle:32: fluxes = (interior_flux(u) Extend AllFaces()) + (boundary_flux(u) Extend AllFaces())
        rt.line(32);
        rt.exchange(&mut u, 1)?;
        // heat_explicit_2d.equelle:33: u = u - (dt / (cv * |AllCells()|)) * Divergence(fluxes)
        rt.line(33);
        u = rt
            .compute_u(ComputeU {
                u: &u,
                dt: &dt,
                cv: &cv,
                minus_k: &minus_k,
                dirichlet_boundary: &dirichlet_boundary,
                k_direction: &k_direction,
                dirichlet_val: &dirichlet_val,
            })?;
        // heat_explicit_2d.equelle:34: Output("expU", u)
        rt.line(34);
        rt.output("expU", &u)?;
        // heat_explicit_2d.equelle:35: Output("maximum of u", MaxReduce(u))
        rt.line(35);
        {
            let max_u = rt.compute_max_u(ComputeMaxU { u: &u })?;
            rt.output("maximum of u", &max_u)?;
        }
        if rt.samples_state(&steps) {
            rt.line(33);
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

    // heat_explicit_2d.equelle:38: Output("expU", u)
    rt.line(38);
    rt.output("expU", &u)?;

    // The state at the end is finite.
    rt.line(33);
    rt.check("u", &u)?;
    rt.finish()
}
