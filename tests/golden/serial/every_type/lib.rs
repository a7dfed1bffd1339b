//! `every_type.equelle`, compiled by equellec 0.1.0. Names are those of the Equelle program.
#![allow(non_snake_case)]

pub mod kernels;
mod kernels_serial;

use equelle_runtime::{
    AxisUnits, Buffers, CanonicalSet, EntityKind, Error, Extent, HaloNeeds, InputInfo,
    InputKind, MemoryPlan, OutputInfo, OutputKind, Program, RankNeeds, SetMemory, Source,
};
use kernels::{
    Direction, Extremes, Fields, Fluxes, Kernels, Lively, Lookup, Nothing, Rates,
    Smoothed, Witness,
};

/// Facts of the program for messages at run time.
pub fn program() -> Program {
    Program {
        name: "every_type".into(),
        source: Source {
            file: "every_type.equelle".into(),
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
                name: "nowhere".into(),
                kind: InputKind::Domain,
                domain: "AllCells()".into(),
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
                name: "k".into(),
                kind: InputKind::Scalar,
                domain: "".into(),
                unit: None,
                default: "0.25".into(),
                line: 0,
            },
        ]),
        min_dim: 2,
        retries: Vec::new(),
        solves: Vec::new(),
        outputs: Vec::from([
            OutputInfo {
                tag: "cell".into(),
                kind: OutputKind::Numbers(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "self".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "v".into(),
                kind: OutputKind::Vectors(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "s".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "b".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "w".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "flux".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "doubled".into(),
                kind: OutputKind::Vectors(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "rate".into(),
                kind: OutputKind::Vectors(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "at_cell".into(),
                kind: OutputKind::Vectors(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "alive".into(),
                kind: OutputKind::Numbers(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "padded".into(),
                kind: OutputKind::Vectors(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "same".into(),
                kind: OutputKind::Numbers(EntityKind::Face),
                unit: None,
            },
            OutputInfo {
                tag: "seen".into(),
                kind: OutputKind::Vectors(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "told".into(),
                kind: OutputKind::Numbers(EntityKind::Cell),
                unit: None,
            },
            OutputInfo {
                tag: "total".into(),
                kind: OutputKind::Vector,
                unit: None,
            },
            OutputInfo {
                tag: "some".into(),
                kind: OutputKind::Number,
                unit: None,
            },
            OutputInfo {
                tag: "product".into(),
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
                general: Buffers::new([9, 14, 19], 3, 1),
                cartesian: Buffers::new([9, 14, 19], 3, 1),
                reduced: true,
            },
            SetMemory {
                name: "AllFaces()".into(),
                set: CanonicalSet::new(EntityKind::Face, Extent::All),
                canonical: true,
                general: Buffers::new([2, 4, 6], 1, 2),
                cartesian: Buffers::new([2, 4, 6], 1, 2),
                reduced: false,
            },
            SetMemory {
                name: "wells".into(),
                set: CanonicalSet::new(EntityKind::Cell, Extent::All),
                canonical: false,
                general: Buffers::new([1, 2, 3], 0, 0),
                cartesian: Buffers::new([1, 2, 3], 0, 0),
                reduced: false,
            },
            SetMemory {
                name: "nowhere".into(),
                set: CanonicalSet::new(EntityKind::Cell, Extent::All),
                canonical: false,
                general: Buffers::new([2, 3, 4], 2, 0),
                cartesian: Buffers::new([2, 3, 4], 2, 0),
                reduced: true,
            },
        ]),
        solves: Vec::new(),
        topology: false,
        geometry: false,
        positions: Vec::new(),
        lists: Vec::new(),
    }
}

/// Runs the program.
///
/// # Errors
/// Those of the simulation, of its input and of the back-end, with the Equelle line.
pub fn simulate<R: Kernels>(rt: &mut R) -> Result<(), Error> {
    rt.plan_memory(memory())?;
    let cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let wells = rt.input_domain("wells", &cells)?;
    let nowhere = rt.input_domain("nowhere", &cells)?;
    let u = rt.input_collection("u", &cells)?;
    let quarter = rt.scalar(0.25);
    let k = rt.input_scalar("k", &quarter)?;
    let (along, big, growth) = rt.direction(Direction { k: &k })?;
    let cell = rt.inside()?;
    let self_2 = rt.lively(Lively { u: &u, big: &big })?;
    let (mut v, s, b) = rt
        .fields(Fields {
            u: &u,
            along: &along,
            big: &big,
            growth: &growth,
        })?;
    rt.exchange(&mut v, 1)?;
    let w = rt
        .smoothed(Smoothed {
            u: &u,
            along: &along,
            big: &big,
        })?;
    let flux = rt.fluxes(Fluxes { u: &u })?;
    drop(u);
    let (total, most, least, some, every, product, doubled) = rt
        .extremes(Extremes { v: &v, b: &b })?;
    let (none, never, always, number) = rt.nothing(Nothing { nowhere: &nowhere })?;
    let rate = rt.rates(Rates { wells: &wells, v: &v })?;
    let (at_cell, alive, padded, same) = rt
        .lookup(Lookup {
            cell: &cell,
            self_2: &self_2,
            v: &v,
            wells: &wells,
            rate: &rate,
        })?;
    let (seen, told) = rt
        .witness(Witness {
            total: &total,
            most: &most,
            least: &least,
            none: &none,
            some: &some,
            every: &every,
            never: &never,
            always: &always,
            product: &product,
            number: &number,
        })?;
    rt.output("cell", &cell)?;
    rt.output("self", &self_2)?;
    rt.output("v", &v)?;
    rt.output("s", &s)?;
    rt.output("b", &b)?;
    rt.output("w", &w)?;
    rt.output("flux", &flux)?;
    rt.output("doubled", &doubled)?;
    rt.output("rate", &rate)?;
    rt.output("at_cell", &at_cell)?;
    rt.output("alive", &alive)?;
    rt.output("padded", &padded)?;
    rt.output("same", &same)?;
    rt.output("seen", &seen)?;
    rt.output("told", &told)?;
    rt.output("total", &total)?;
    rt.output("some", &some)?;
    rt.output("product", &product)?;
    rt.finish()
}
