//! `every_construct.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, Checkpoint, Comparison, EntityKind, Error, Extent,
    GeometryArray, InputInfo, InputKind, MemoryPlan, Observed, Operations, OutputInfo,
    OutputKind, Program, RankNeeds, Reduction, SetMemory, Source, Variable,
};
use kernels::{
    Diffuse, Extremes, Geometry, Inside, Jump, Kernels, Outside, Ratio, Transmissibility,
    Transport, Weight,
};

/// Facts of the program for messages at run time.
pub fn program() -> Program {
    Program {
        name: "every_construct".into(),
        source: Source {
            file: "every_construct.equelle".into(),
            text: "".into(),
            imports: Vec::new(),
        },
        inputs: Vec::from([
            InputInfo {
                name: "wells".into(),
                kind: InputKind::Domain,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "inlet".into(),
                kind: InputKind::Domain,
                domain: "BoundaryFaces()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "u".into(),
                kind: InputKind::Collection,
                domain: "AllCells()".into(),
                unit: None,
                default: "".into(),
                line: 0,
            },
            InputInfo {
                name: "q".into(),
                kind: InputKind::Collection,
                domain: "AllFaces()".into(),
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
            InputInfo {
                name: "steps".into(),
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
                tag: "total".into(),
                kind: OutputKind::Number,
                unit: None,
            },
            OutputInfo {
                tag: "most".into(),
                kind: OutputKind::Number,
                unit: None,
            },
            OutputInfo {
                tag: "largest".into(),
                kind: OutputKind::Number,
                unit: None,
            },
            OutputInfo {
                tag: "u".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "jump".into(),
                kind: OutputKind::Numbers(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "large".into(),
                kind: OutputKind::Numbers(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "inlet_size".into(),
                kind: OutputKind::Numbers(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "inside".into(),
                kind: OutputKind::Numbers(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "least".into(),
                kind: OutputKind::Number,
                unit: None,
            },
            OutputInfo {
                tag: "ratio".into(),
                kind: OutputKind::Number,
                unit: None,
            },
            OutputInfo {
                tag: "sizes".into(),
                kind: OutputKind::Numbers(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "t".into(),
                kind: OutputKind::Numbers(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "w".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "size".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
        ]),
        axes: AxisUnits {
            coordinates: Some("m".into()),
            time: None,
        },
        ranks: RankNeeds::Unknown,
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
                general: Buffers::new([7, 8, 9], 3, 0),
                cartesian: Buffers::new([6, 7, 8], 3, 0),
                reduced: true,
            },
            SetMemory {
                name: "InteriorFaces()".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::Interior),
                canonical: true,
                general: Buffers::new([2, 2, 2], 0, 2),
                cartesian: Buffers::new([1, 1, 1], 0, 2),
                reduced: false,
            },
            SetMemory {
                name: "AllFaces()".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::All),
                canonical: true,
                general: Buffers::new([1, 1, 1], 0, 0),
                cartesian: Buffers::new([1, 1, 1], 0, 0),
                reduced: false,
            },
            SetMemory {
                name: "wells".into(),
                set: CanonicalSet::new(EntityKind::Cell, Extent::All),
                canonical: false,
                general: Buffers::new([3, 3, 3], 0, 0),
                cartesian: Buffers::new([3, 3, 3], 0, 0),
                reduced: true,
            },
            SetMemory {
                name: "inlet".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::Boundary),
                canonical: false,
                general: Buffers::new([2, 2, 2], 1, 2),
                cartesian: Buffers::new([2, 2, 2], 1, 2),
                reduced: false,
            },
            SetMemory {
                name: "large".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::Boundary),
                canonical: false,
                general: Buffers::new([0, 0, 0], 0, 1),
                cartesian: Buffers::new([0, 0, 0], 0, 1),
                reduced: false,
            },
        ]),
        solves: Vec::new(),
        topology: true,
        geometry: true,
        positions: Vec::from([
            CanonicalSet::new(EntityKind::Face, Extent::Interior),
            CanonicalSet::new(EntityKind::Face, Extent::Boundary),
        ]),
        lists: Vec::from([
            CanonicalSet::new(EntityKind::Face, Extent::Interior),
            CanonicalSet::new(EntityKind::Face, Extent::Boundary),
        ]),
    }
}

/// Runs the program.
///
/// # Errors
/// Those of the simulation, of its input and of the back-end, with the Equelle line.
pub fn simulate<R: Kernels + Operations + Checkpoint>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(memory())?;
    let cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let faces = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
    let interior = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let interior_entities = rt.entities(&interior)?;
    let boundary = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::Boundary))?;
    let wells = rt.input_domain("wells", &cells)?;
    let inlet = rt.input_domain("inlet", &boundary)?;
    let inlet_entities = rt.entities(&inlet)?;
    let u_2 = rt.input_collection("u", &cells)?;
    let q = rt.input_collection("q", &faces)?;
    let rate = rt.input_collection("rate", &wells)?;
    let steps = rt.input_sequence("steps")?;
    let k = rt.scalar(0.25);
    let (mut centre, mut far, size) = rt.geometry(Geometry { k: &k })?;
    let t = rt.transmissibility(Transmissibility { k: &k })?;
    let w = rt.weight(Weight { k: &k })?;
    let one = rt.scalar(1.0);
    let mut u = u_2;
    let mut count = one.clone();
    rt.keep_geometry(
        &[
            GeometryArray::CellVolumes,
            GeometryArray::CellCentroids,
            GeometryArray::FaceAreas,
            GeometryArray::FaceNormals,
        ],
    );

    let mut steps_2 = rt.begin_loop(&steps)?;
    if rt.resumes(1, &mut steps_2)? {
        u = rt.restored_collection("u")?;
        count = rt.restored_scalar("count")?;
    }
    while let Some(dt) = rt.next(&mut steps_2)? {
        rt.exchange(&mut u, 2)?;
        rt.exchange(&mut centre, 1)?;
        rt.exchange(&mut far, 1)?;
        let (a, b, total, most) = rt
            .transport(Transport {
                u: &u,
                row: &q,
                t: &t,
                centre: &centre,
                far: &far,
                wells: &wells,
                rate: &rate,
                grid: &dt,
            })?;
        let g = rt.gradient(&a)?;
        let (u1, even) = rt
            .diffuse(Diffuse {
                u: &a,
                len: &q,
                g: &g,
                t: &t,
                w: &w,
                far: &b,
                dt: &dt,
            })?;
        drop(a);
        drop(b);
        drop(g);
        let (u2, largest) = smooth(rt, &u1, &k)?;
        drop(u1);
        u = rt.select(&even, &u2, &u)?;
        count = rt.add(&count, &one)?;
        rt.output("total", &total)?;
        rt.output("most", &most)?;
        rt.output("largest", &largest)?;
        rt.output("u", &u)?;
        if rt.samples_state(&steps_2) {
            rt.check("u", &u)?;
            rt.check("count", &count)?;
        }
        if rt.checkpoint_due() {
            rt.save_collection("u", &u)?;
            rt.save_scalar("count", &count)?;
            rt.write_checkpoint(1, &mut steps_2)?;
        }
        if rt.is_observed() {
            rt.round_is_over(
                &mut [
                    ("u", Variable::Collection(&mut u)),
                    ("count", Variable::Scalar(&mut count)),
                ],
            )?;
        }
    }

    drop(q);
    drop(centre);
    drop(far);
    let firsts = rt.first_cell(&interior_entities)?;
    let j = rt.jump(Jump { u: &u, cells: &firsts })?;
    drop(firsts);
    rt.output("jump", &j)?;
    drop(j);
    let u_inside = rt.inside(Inside { inlet: &inlet, u: &u })?;
    rt.outside(Outside { inlet: &inlet })?;
    let inlet_faces = rt.one_cell(&inlet_entities)?;
    let inlet_size = rt.measure(&inlet_faces)?;
    drop(inlet_faces);
    let is_large = rt.compare(Comparison::Greater, &inlet_size, &k)?;
    let large = rt.domain_where("large", &inlet, &is_large)?;
    let large_entities = rt.entities(&large)?;
    drop(is_large);
    rt.output("large", &large_entities)?;
    rt.output("inlet_size", &inlet_size)?;
    drop(inlet_size);
    rt.output("inside", &u_inside)?;
    drop(u_inside);
    let (least, product) = rt
        .extremes(Extremes {
            wells: &wells,
            rate: &rate,
        })?;
    drop(rate);
    let r = rt.ratio(Ratio { a: &product, b: &count })?;
    rt.output("least", &least)?;
    rt.output("ratio", &r)?;
    let sizes = rt.sizes()?;
    rt.output("sizes", &sizes)?;
    rt.output("t", &t)?;
    rt.output("w", &w)?;
    rt.output("size", &size)?;

    // The state at the end is finite.
    rt.check("u", &u)?;
    rt.check("count", &count)?;
    rt.finish()
}

/// Gives Collection Of Scalar On AllCells(); Scalar.
fn smooth<R: Kernels + Operations>(
    rt: &mut R,
    u: &R::ScalarCollection,
    w: &R::Scalar,
) -> Result<(R::ScalarCollection, R::Scalar), Error> {
    let g = rt.gradient(u)?;
    let d = rt.divergence(&g)?;
    drop(g);
    let s = rt.mul(w, &d)?;
    drop(d);
    let v = rt.add(u, &s)?;
    drop(s);
    let largest = rt.reduce(Reduction::Max, &v)?;
    Ok((v.clone(), largest))
}
