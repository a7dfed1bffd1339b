//! `heat_explicit_3d.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, Checkpoint, EntityKind, Error, Extent, InputInfo,
    InputKind, InputUnit, MemoryPlan, Observed, Operations, OutputInfo, OutputKind,
    OutputUnit, Program, RankNeeds, Reduction, SetMemory, Source, Variable,
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
                general: Buffers::new([6, 6, 6], 0, 1),
                cartesian: Buffers::new([6, 6, 6], 0, 1),
                reduced: true,
            },
            SetMemory {
                name: "InteriorFaces()".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::Interior),
                canonical: true,
                general: Buffers::new([9, 14, 19], 0, 3),
                cartesian: Buffers::new([9, 14, 19], 0, 3),
                reduced: false,
            },
            SetMemory {
                name: "AllFaces()".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::All),
                canonical: true,
                general: Buffers::new([3, 3, 3], 0, 0),
                cartesian: Buffers::new([3, 3, 3], 0, 0),
                reduced: false,
            },
            SetMemory {
                name: "dirichlet_boundary".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::Boundary),
                canonical: false,
                general: Buffers::new([9, 12, 15], 1, 4),
                cartesian: Buffers::new([9, 12, 15], 1, 4),
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
pub fn simulate<R: Operations + Checkpoint>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(memory())?;
    rt.require_face_geometry(14)?;
    // heat_explicit_3d.equelle:4: k = InputScalarWithDefault("k", 0.3) * 1 [Meter^2/Second]
    rt.line(4);
    let k = {
        let default = rt.scalar(0.3);
        let input = rt.input_scalar("k", &default)?;
        let number = rt.scalar(1.0);
        rt.mul(&input, &number)?
    };
    // heat_explicit_3d.equelle:5: timesteps = InputSequenceOfScalar("timesteps") * 1 [Second]
    rt.line(5);
    let timesteps = {
        let input = rt.input_sequence("timesteps")?;
        let number = rt.scalar(1.0);
        rt.mul(&input, &number)?
    };
    // heat_explicit_3d.equelle:6: u_initial = InputCollectionOfScalar("u_initial", AllCells()) * 1 [Kelvin]
    rt.line(6);
    let u_initial = {
        let all_cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        let input = rt.input_collection("u_initial", &all_cells)?;
        let number = rt.scalar(1.0);
        rt.mul(&input, &number)?
    };
    // heat_explicit_3d.equelle:7: dirichlet_boundary = InputDomainSubsetOf("dirichlet_boundary", BoundaryFaces())
    rt.line(7);
    let dirichlet_boundary = {
        let boundary_faces = rt
            .domain(CanonicalSet::new(EntityKind::Face, Extent::Boundary))?;
        rt.input_domain("dirichlet_boundary", &boundary_faces)?
    };
    let dirichlet_boundary_entities = rt.entities(&dirichlet_boundary)?;
    // heat_explicit_3d.equelle:8: dirichlet_val = InputCollectionOfScalar("dirichlet_val", dirichlet_boundary) * 1 [Kelvin]
    rt.line(8);
    let dirichlet_val = {
        let input = rt.input_collection("dirichlet_val", &dirichlet_boundary)?;
        let number = rt.scalar(1.0);
        rt.mul(&input, &number)?
    };
    // heat_explicit_3d.equelle:11: interior = InteriorFaces()
    rt.line(11);
    let interior = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let interior_entities = rt.entities(&interior)?;
    // heat_explicit_3d.equelle:12: first = FirstCell(interior)
    rt.line(12);
    let first = rt.first_cell(&interior_entities)?;
    // heat_explicit_3d.equelle:13: second = SecondCell(interior)
    rt.line(13);
    let second = rt.second_cell(&interior_entities)?;
    // heat_explicit_3d.equelle:14: itrans = k * |interior| / |Centroid(first) - Centroid(second)|
    rt.line(14);
    let itrans = {
        let measure = rt.measure(&interior_entities)?;
        let centroid = rt.centroid(&first)?;
        let centroid_2 = rt.centroid(&second)?;
        let gap = rt.face_gap(&interior_entities)?;
        let sum = rt.add(&centroid_2, &gap)?;
        let difference = rt.sub(&centroid, &sum)?;
        let length = rt.length(&difference)?;
        let quotient = rt.div(&measure, &length)?;
        rt.mul(&k, &quotient)?
    };
    drop(first);
    drop(second);
    // heat_explicit_3d.equelle:17: inside = InnerCell(dirichlet_boundary)
    rt.line(17);
    let inside = {
        let first_2 = rt.first_cell(&dirichlet_boundary_entities)?;
        let is_empty = rt.is_empty(&first_2)?;
        let second_2 = rt.second_cell(&dirichlet_boundary_entities)?;
        rt.select(&is_empty, &second_2, &first_2)?
    };
    // heat_explicit_3d.equelle:18: direction = OutwardSign(dirichlet_boundary)
    rt.line(18);
    let direction = {
        let first_2 = rt.first_cell(&dirichlet_boundary_entities)?;
        let is_empty = rt.is_empty(&first_2)?;
        let number = rt.scalar(1.0);
        let negative = rt.neg(&number)?;
        let broadcast = rt.broadcast(&negative, &dirichlet_boundary)?;
        let broadcast_2 = rt.broadcast(&number, &dirichlet_boundary)?;
        rt.select(&is_empty, &broadcast, &broadcast_2)?
    };
    // heat_explicit_3d.equelle:19: btrans = k * |dirichlet_boundary| / |Centroid(dirichlet_boundary) - Centroid(inside)|
    rt.line(19);
    let btrans = {
        let measure = rt.measure(&dirichlet_boundary_entities)?;
        let centroid = rt.centroid(&dirichlet_boundary_entities)?;
        let centroid_2 = rt.centroid(&inside)?;
        let difference = rt.sub(&centroid, &centroid_2)?;
        let length = rt.length(&difference)?;
        let quotient = rt.div(&measure, &length)?;
        rt.mul(&k, &quotient)?
    };
    // heat_explicit_3d.equelle:31: volume = |AllCells()|
    rt.line(31);
    let volume = {
        let all_cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        let all_cells_entities = rt.entities(&all_cells)?;
        rt.measure(&all_cells_entities)?
    };
    // heat_explicit_3d.equelle:34: u = u_initial
    rt.line(34);
    let mut u = u_initial;
    rt.keep_geometry(&[]);

    // heat_explicit_3d.equelle:36: For dt In timesteps {
    rt.line(36);
    let mut steps = rt.begin_loop(&timesteps)?;
    if rt.resumes(1, &mut steps)? {
        u = rt.restored_collection("u")?;
    }
    while let Some(dt) = rt.next(&mut steps)? {
        // heat_explicit_3d.equelle:37: fluxes = (interior_flux(u) Extend AllFaces()) + (boundary_flux(u) Extend AllFaces())
        rt.line(37);
        let fluxes = {
            let result = interior_flux(rt, &u, &itrans)?;
            rt.line(37);
            let all_faces = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
            let extended = rt.extend(&result, &all_faces)?;
            let result_2 = boundary_flux(
                rt,
                &u,
                &dirichlet_val,
                &inside,
                &direction,
                &btrans,
            )?;
            rt.line(37);
            let all_faces_2 = rt
                .domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
            let extended_2 = rt.extend(&result_2, &all_faces_2)?;
            rt.add(&extended, &extended_2)?
        };
        // heat_explicit_3d.equelle:38: u = u - (dt / volume) * Divergence(fluxes)
        rt.line(38);
        u = {
            let quotient = rt.div(&dt, &volume)?;
            let divergence = rt.divergence(&fluxes)?;
            let product = rt.mul(&quotient, &divergence)?;
            rt.sub(&u, &product)?
        };
        drop(fluxes);
        // heat_explicit_3d.equelle:39: Output("expU", u)
        rt.line(39);
        rt.output("expU", &u)?;
        // heat_explicit_3d.equelle:40: Output("maximum of u", MaxReduce(u))
        rt.line(40);
        {
            let largest = rt.reduce(Reduction::Max, &u)?;
            rt.output("maximum of u", &largest)?;
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

/// heat_explicit_3d.equelle:22: `interior_flux(u) = {`
///
/// Gives Collection Of Scalar On InteriorFaces().
fn interior_flux<R: Operations>(
    rt: &mut R,
    u: &R::ScalarCollection,
    itrans: &R::ScalarCollection,
) -> Result<R::ScalarCollection, Error> {
    // heat_explicit_3d.equelle:23: -> -itrans * Gradient(u)
    rt.line(23);
    let negative = rt.neg(itrans)?;
    let gradient = rt.gradient(u)?;
    rt.mul(&negative, &gradient)
}

/// heat_explicit_3d.equelle:26: `boundary_flux(u) = {`
///
/// Gives Collection Of Scalar On dirichlet_boundary.
fn boundary_flux<R: Operations>(
    rt: &mut R,
    u: &R::ScalarCollection,
    dirichlet_val: &R::ScalarCollection,
    inside: &R::EntityCollection,
    direction: &R::ScalarCollection,
    btrans: &R::ScalarCollection,
) -> Result<R::ScalarCollection, Error> {
    // heat_explicit_3d.equelle:27: u_inside = u On inside
    rt.line(27);
    let u_inside = rt.on(u, inside)?;
    // heat_explicit_3d.equelle:28: -> btrans * direction * (u_inside - dirichlet_val)
    rt.line(28);
    let product = rt.mul(btrans, direction)?;
    let difference = rt.sub(&u_inside, dirichlet_val)?;
    rt.mul(&product, &difference)
}
