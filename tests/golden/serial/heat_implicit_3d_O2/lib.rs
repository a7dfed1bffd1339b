//! `heat_implicit_3d.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, Checkpoint, EntityKind, Error, Extent,
    GeometryArray, HaloNeeds, Implicit, InputInfo, InputKind, InputUnit, MemoryPlan,
    Observed, OutputInfo, OutputKind, OutputUnit, Program, RankNeeds, Retry, SetMemory,
    Solve, SolveMemory, Source, Variable,
};
use kernels::{
    ComputeBtransDirection, ComputeDtCvVolume, ComputeMaxU0, ComputeMaxUInitial,
    ComputeMinusItrans, Kernels, ResidualU,
};

/// Facts of the program for messages at run time.
pub fn program() -> Program {
    Program {
        name: "heat_implicit_3d".into(),
        source: Source {
            file: "heat_implicit_3d.equelle".into(),
            text: include_str!("../heat_implicit_3d.equelle").into(),
            imports: Vec::new(),
        },
        inputs: Vec::from([
            InputInfo {
                name: "k".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: Some(InputUnit {
                    text: "Watt / (Meter * Kelvin)".into(),
                    factor: 1.0,
                    dimension: [1, -3, 1, -1, 0, 0, 0],
                }),
                default: "2.85".into(),
                line: 4,
            },
            InputInfo {
                name: "cv".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: Some(InputUnit {
                    text: "Joule / (Kelvin * Meter^3)".into(),
                    factor: 1.0,
                    dimension: [-1, -2, 1, -1, 0, 0, 0],
                }),
                default: "2170000".into(),
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
                name: "dir_boundary".into(),
                kind: InputKind::Domain,
                domain: "BoundaryFaces()".into(),
                unit: None,
                default: "".into(),
                line: 8,
            },
            InputInfo {
                name: "dir_val".into(),
                kind: InputKind::Collection,
                domain: "dir_boundary".into(),
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
        retries: Vec::from([Retry { line: 39, obstacle: None }]),
        solves: Vec::from([
            Solve {
                line: 44,
                unknowns: Vec::from(["u".into()]),
            },
        ]),
        outputs: Vec::from([
            OutputInfo {
                tag: "u".into(),
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
                general: Buffers::new([5, 5, 5], 0, 0),
                cartesian: Buffers::new([4, 4, 4], 0, 0),
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
                name: "dir_boundary".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::Boundary),
                canonical: false,
                general: Buffers::new([2, 2, 2], 0, 0),
                cartesian: Buffers::new([2, 2, 2], 0, 0),
                reduced: false,
            },
        ]),
        solves: Vec::from([
            SolveMemory {
                line: 44,
                unknowns: Vec::from([CanonicalSet::new(EntityKind::Cell, Extent::All)]),
                entries: Vec::from([[3, 5, 7]]),
                additions: Vec::from([[3, 5, 7]]),
                cartesian: true,
                blocks: false,
            },
        ]),
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
pub fn simulate<R: Kernels + Implicit + Checkpoint>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(memory())?;
    rt.require_face_geometry(15)?;
    // heat_implicit_3d.equelle:4: k = InputScalarWithDefault("k", 2.85) * 1 [Watt / (Meter * Kelvin)]
    rt.line(4);
    let k = {
        let default = rt.scalar(2.85);
        rt.input_scalar("k", &default)?
    };
    // heat_implicit_3d.equelle:5: cv = InputScalarWithDefault("cv", 2.17e6) * 1 [Joule / (Kelvin * Meter^3)]
    rt.line(5);
    let cv = {
        let default = rt.scalar(2170000.0);
        rt.input_scalar("cv", &default)?
    };
    // heat_implicit_3d.equelle:6: timesteps = InputSequenceOfScalar("timesteps") * 1 [Second]
    rt.line(6);
    let timesteps = rt.input_sequence("timesteps")?;
    // heat_implicit_3d.equelle:7: u_initial = InputCollectionOfScalar("u_initial", AllCells()) * 1 [Kelvin]
    rt.line(7);
    let u_initial = {
        let all_cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        rt.input_collection("u_initial", &all_cells)?
    };
    // heat_implicit_3d.equelle:8: dir_boundary = InputDomainSubsetOf("dir_boundary", BoundaryFaces())
    rt.line(8);
    let dir_boundary = {
        let boundary_faces = rt
            .domain(CanonicalSet::new(EntityKind::Face, Extent::Boundary))?;
        rt.input_domain("dir_boundary", &boundary_faces)?
    };
    // heat_implicit_3d.equelle:9: dir_val = InputCollectionOfScalar("dir_val", dir_boundary) * 1 [Kelvin]
    rt.line(9);
    let dir_val = rt.input_collection("dir_val", &dir_boundary)?;
    // heat_implicit_3d.equelle:35: u0 = u_initial
    rt.line(35);
    let mut u0 = u_initial.clone();
    // heat_implicit_3d.equelle:36: Output("u", u0)
    rt.line(36);
    rt.output("u", &u_initial)?;
    // heat_implicit_3d.equelle:37: Output("maximum of u", MaxReduce(u0))
    rt.line(37);
    let max_u_initial = rt
        .compute_max_u_initial(ComputeMaxUInitial {
            u_initial: &u_initial,
        })?;
    rt.output("maximum of u", &max_u_initial)?;
    drop(u_initial);
    // heat_implicit_3d.equelle:24: -> -itrans * Gradient(u)
    rt.line(24);
    let minus_itrans = rt.compute_minus_itrans(ComputeMinusItrans { k: &k })?;
    // heat_implicit_3d.equelle:29: -> btrans * direction * (u_inside - dir_val)
    rt.line(29);
    let btrans_direction = rt
        .compute_btrans_direction(ComputeBtransDirection {
            dir_boundary: &dir_boundary,
            k: &k,
        })?;
    rt.keep_geometry(&[GeometryArray::CellVolumes]);

    // heat_implicit_3d.equelle:39: For dt In timesteps {
    rt.line(39);
    let mut steps = rt.begin_loop(&timesteps)?;
    if rt.resumes(1, &mut steps)? {
        u0 = rt.restored_collection("u0")?;
    }
    while let Some(dt) = rt.next(&mut steps)? {
        rt.line(39);
        u0 = rt
            .step(
                &dt,
                0,
                u0,
                &mut |rt, dt, mut u0| {
                    // heat_implicit_3d.equelle:42: -> u - u0 + (dt / (cv * volume)) * Divergence(fluxes)
                    rt.line(42);
                    let dt_cv_volume = rt
                        .compute_dt_cv_volume(ComputeDtCvVolume { dt, cv: &cv })?;
                    // heat_implicit_3d.equelle:44: u0 = NewtonSolve(residual, u0)
                    rt.line(44);
                    u0 = rt
                        .newton_solve(
                            &u0,
                            &mut |rt, u| {
                                rt
                                    .residual_u(ResidualU {
                                        u,
                                        u0: &u0,
                                        dt_cv_volume: &dt_cv_volume,
                                        minus_itrans: &minus_itrans,
                                        dir_boundary: &dir_boundary,
                                        btrans_direction: &btrans_direction,
                                        dir_val: &dir_val,
                                    })
                            },
                        )?;
                    drop(dt_cv_volume);
                    // heat_implicit_3d.equelle:45: Output("u", u0)
                    rt.line(45);
                    rt.output("u", &u0)?;
                    // heat_implicit_3d.equelle:46: Output("maximum of u", MaxReduce(u0))
                    rt.line(46);
                    {
                        let max_u0 = rt.compute_max_u0(ComputeMaxU0 { u0: &u0 })?;
                        rt.output("maximum of u", &max_u0)?;
                    }
                    Ok(u0)
                },
            )?;
        if rt.samples_state(&steps) {
            rt.line(44);
            rt.check("u0", &u0)?;
        }
        if rt.checkpoint_due() {
            rt.save_collection("u0", &u0)?;
            rt.write_checkpoint(1, &mut steps)?;
        }
        if rt.is_observed() {
            rt.round_is_over(&mut [("u0", Variable::Collection(&mut u0))])?;
        }
    }

    // The state at the end is finite.
    rt.line(44);
    rt.check("u0", &u0)?;
    rt.finish()
}
