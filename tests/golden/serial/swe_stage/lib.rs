//! `swe_stage.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, Checkpoint, EntityKind, Error, Extent,
    GeometryArray, HaloNeeds, InputInfo, InputKind, MemoryPlan, Observed, Operations,
    OutputInfo, OutputKind, Program, RankNeeds, SetMemory, Source, Variable,
};
use kernels::{Bottom, Kernels, Mean, Stage};

/// Facts of the program for messages at run time.
pub fn program() -> Program {
    Program {
        name: "swe_stage".into(),
        source: Source {
            file: "swe_stage.equelle".into(),
            text: "".into(),
            imports: Vec::new(),
        },
        inputs: Vec::from([
            InputInfo {
                name: "h_init".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "u_init".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "v_init".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "b_north".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "b_south".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "b_east".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "b_west".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "dx".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: None,
                default: "10".into(),
                line: 0,
            },
            InputInfo {
                name: "dy".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: None,
                default: "10".into(),
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
        min_dim: 2,
        retries: Vec::new(),
        solves: Vec::new(),
        outputs: Vec::from([
            OutputInfo {
                tag: "q1".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "q2".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "q3".into(),
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
                general: Buffers::new([23, 23, 23], 0, 0),
                cartesian: Buffers::new([14, 14, 14], 0, 0),
                reduced: false,
            },
            SetMemory {
                name: "AllFaces()".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::All),
                canonical: true,
                general: Buffers::new([3, 3, 3], 0, 0),
                cartesian: Buffers::new([0, 0, 0], 0, 0),
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
pub fn simulate<R: Kernels + Operations + Checkpoint>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(memory())?;
    let all_cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let h_init = rt.input_collection("h_init", &all_cells)?;
    let u_init = rt.input_collection("u_init", &all_cells)?;
    let v_init = rt.input_collection("v_init", &all_cells)?;
    let b_north = rt.input_collection("b_north", &all_cells)?;
    let b_south = rt.input_collection("b_south", &all_cells)?;
    let b_east = rt.input_collection("b_east", &all_cells)?;
    let b_west = rt.input_collection("b_west", &all_cells)?;
    let default = rt.scalar(10.0);
    let dx = rt.input_scalar("dx", &default)?;
    let default_2 = rt.scalar(10.0);
    let dy = rt.input_scalar("dy", &default_2)?;
    let timesteps = rt.input_sequence("timesteps")?;
    let b = rt
        .bottom(Bottom {
            north: &b_north,
            south: &b_south,
            east: &b_east,
            west: &b_west,
        })?;
    let w_2 = rt.add(&h_init, &b)?;
    let hu_2 = rt.mul(&h_init, &u_init)?;
    drop(u_init);
    let hv_2 = rt.mul(&h_init, &v_init)?;
    drop(h_init);
    drop(v_init);
    let mut w = w_2;
    let mut hu = hu_2;
    let mut hv = hv_2;
    rt.keep_geometry(
        &[
            GeometryArray::CellVolumes,
            GeometryArray::FaceAreas,
            GeometryArray::FaceNormals,
        ],
    );

    let mut steps = rt.begin_loop(&timesteps)?;
    if rt.resumes(1, &mut steps)? {
        w = rt.restored_collection("w")?;
        hu = rt.restored_collection("hu")?;
        hv = rt.restored_collection("hv")?;
    }
    while let Some(dt) = rt.next(&mut steps)? {
        rt.exchange(&mut w, 1)?;
        rt.exchange(&mut hu, 1)?;
        rt.exchange(&mut hv, 1)?;
        let (mut w_star, mut hu_star, mut hv_star) = rt
            .stage(Stage {
                w: &w,
                hu: &hu,
                hv: &hv,
                b: &b,
                b_north: &b_north,
                b_south: &b_south,
                b_east: &b_east,
                b_west: &b_west,
                dx: &dx,
                dy: &dy,
                dt: &dt,
            })?;
        rt.exchange(&mut w_star, 1)?;
        rt.exchange(&mut hu_star, 1)?;
        rt.exchange(&mut hv_star, 1)?;
        let (w_ahead, hu_ahead, hv_ahead) = rt
            .stage(Stage {
                w: &w_star,
                hu: &hu_star,
                hv: &hv_star,
                b: &b,
                b_north: &b_north,
                b_south: &b_south,
                b_east: &b_east,
                b_west: &b_west,
                dx: &dx,
                dy: &dy,
                dt: &dt,
            })?;
        drop(w_star);
        drop(hu_star);
        drop(hv_star);
        w = rt.mean(Mean { old: &w, ahead: &w_ahead })?;
        drop(w_ahead);
        hu = rt.mean(Mean { old: &hu, ahead: &hu_ahead })?;
        drop(hu_ahead);
        hv = rt.mean(Mean { old: &hv, ahead: &hv_ahead })?;
        rt.output("q1", &w)?;
        rt.output("q2", &hu)?;
        rt.output("q3", &hv)?;
        if rt.samples_state(&steps) {
            rt.check("w", &w)?;
            rt.check("hu", &hu)?;
            rt.check("hv", &hv)?;
        }
        if rt.checkpoint_due() {
            rt.save_collection("w", &w)?;
            rt.save_collection("hu", &hu)?;
            rt.save_collection("hv", &hv)?;
            rt.write_checkpoint(1, &mut steps)?;
        }
        if rt.is_observed() {
            rt.round_is_over(
                &mut [
                    ("w", Variable::Collection(&mut w)),
                    ("hu", Variable::Collection(&mut hu)),
                    ("hv", Variable::Collection(&mut hv)),
                ],
            )?;
        }
    }

    // The state at the end is finite.
    rt.check("w", &w)?;
    rt.check("hu", &hu)?;
    rt.check("hv", &hv)?;
    rt.finish()
}
