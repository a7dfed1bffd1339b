//! Each lane operation against the operation on one number, in every shape of operands; on numbers
//! that tell any two operations apart, in both precisions.

use equelle_front::ops::{Comparison, Elementary, Logic};
use equelle_runtime::Real;
use equelle_runtime::grid::{Cartesian, Grid, NONE, SideMap};

use super::bindings::{Bindings, CellOffset, Output, Outputs, Ranks};
use super::run;
use crate::program::{
    Accumulation, Address, ArrayId, ArrayLists, CellSide, EntityReg, Instr, LANES, LaneProgram, Layout, OffsetId, RealBinary, RealReg,
    RealSrc, RealUnary, TruthReg, Uniform, UniformId,
};
use crate::uniform::{binary, unary};

/// Numbers of which comparisons, signs, roundings and functions make different things.
fn samples<T: Real>() -> [T; 16] {
    let (tiny, huge) = if T::NAME == "f32" { (1e-40, 1e30) } else { (1e-310, 1e200) };
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    [0.0, -0.0, 1.0, -1.0, 0.3, -0.7, 2.5, -2.5, tiny, 7.0, infinity, -infinity, nan, huge, -3.25, 0.9999].map(T::from_f64)
}

const UNARY: [RealUnary; 3] = [RealUnary::Neg, RealUnary::Abs, RealUnary::Sqrt];
const BINARY: [RealBinary; 8] = [
    RealBinary::Add,
    RealBinary::Sub,
    RealBinary::Mul,
    RealBinary::Div,
    RealBinary::Min,
    RealBinary::Max,
    RealBinary::Pow,
    RealBinary::ATan2,
];
const COMPARISONS: [Comparison; 6] =
    [Comparison::Less, Comparison::Greater, Comparison::LessEqual, Comparison::GreaterEqual, Comparison::Equal, Comparison::NotEqual];

fn unaries() -> Vec<RealUnary> {
    UNARY.into_iter().chain(Elementary::ALL.map(RealUnary::Elementary)).collect()
}

/// All pairs of samples, several times, so that there are more than one block.
fn pairs<T: Real>() -> (Vec<T>, Vec<T>) {
    let each = || samples::<T>().into_iter().flat_map(|a| samples::<T>().map(move |b| (a, b)));
    each().chain(each()).take(LANES + 37).unzip()
}

fn bits<T: Real>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| if value.is_nan() { f64::NAN.to_bits() } else { value.to_f64().to_bits() }).collect()
}

const DST: RealReg = RealReg(0);
const A: RealSrc = RealSrc::Memory(ArrayId(0), 0);
const B: RealSrc = RealSrc::Memory(ArrayId(1), 0);
const C: RealSrc = RealSrc::Memory(ArrayId(2), 0);

/// A uniform number.
const ONE: UniformId = UniformId(0);
const UNIFORM: f64 = -0.7;

fn uniform<T: Real>() -> T {
    T::from_f64(UNIFORM)
}

fn program(code: Vec<Instr>, shape: Option<Cartesian>) -> LaneProgram {
    LaneProgram {
        code,
        uniforms: vec![Uniform::Const(UNIFORM.to_bits())],
        arrays: ArrayLists::default(),
        offsets: Vec::new(),
        layout: Layout::Consecutive(0),
        shape,
        n_reals: 4,
        n_truths: 4,
        n_entities: 4,
    }
}

fn truth<T: Real>(truth: bool) -> T {
    if truth { T::ONE } else { T::ZERO }
}

/// The first result of a program on arrays.
fn result<T: Real>(code: Vec<Instr>, arrays: &[&[T]], n: usize) -> Result<Vec<T>, usize> {
    let grid = Grid::cartesian(Cartesian::line(n, 1.0)).expect("a grid");
    on_grid(code, &grid, None, arrays, &[], n)
}

fn bindings<'a, T: Real>(
    grid: &'a Grid,
    arrays: &[&'a [T]],
    elements: &'a [u32],
    members: &'a [u32],
    truths: &'a [bool],
) -> Bindings<'a, T> {
    Bindings {
        rows: super::bindings::Rows::default(),
        topology: Some(grid.topology()),
        elements,
        uniforms: vec![uniform()],
        reals: arrays.to_vec(),
        triples: vec![grid.centroids(equelle_runtime::EntityKind::Cell)],
        truths: vec![truths],
        entities: vec![members],
        tables: Vec::new(),
        ranks: vec![Ranks::All(grid.n_cells() as u32), Ranks::Map(members)],
        offsets: vec![
            CellOffset { by: [-1, 0, 0], beyond: [SideMap::Wrap; 6] },
            CellOffset {
                by: [2, 1, 0],
                beyond: [SideMap::Mirror, SideMap::Clamp, SideMap::MirrorAt, SideMap::Wrap, SideMap::Never, SideMap::Never],
            },
        ],
    }
}

fn on_grid<T: Real>(
    code: Vec<Instr>,
    grid: &Grid,
    shape: Option<Cartesian>,
    arrays: &[&[T]],
    elements: &[u32],
    n: usize,
) -> Result<Vec<T>, usize> {
    let members: Vec<u32> = (0..n as u32).map(|entity| if entity % 3 == 0 { NONE } else { entity / 3 }).collect();
    let truths: Vec<bool> = (0..n).map(|k| k % 5 < 2).collect();
    let bindings = bindings(grid, arrays, elements, &members, &truths);
    let mut values = vec![T::ZERO; n];
    run(&program(code, shape), &bindings, 0..n, Outputs(vec![Output::Reals(&mut values)]))?;
    Ok(values)
}

/// The result of an operation that writes [`DST`].
fn of<T: Real>(instr: Instr, arrays: &[&[T]]) -> Vec<T> {
    let store = Instr::StoreReal { result: 0, src: RealSrc::Reg(DST) };
    result(vec![instr, store], arrays, arrays[0].len()).expect("no error")
}

/// The result of an operation that writes truth values, as 1 and 0.
fn truths_of<T: Real>(instrs: Vec<Instr>, arrays: &[&[T]]) -> Vec<T> {
    let (one, zero) = (vec![T::ONE; arrays[0].len()], vec![T::ZERO; arrays[0].len()]);
    let arrays: Vec<&[T]> = arrays.iter().copied().chain([&one[..], &zero[..]]).collect();
    let [yes, no] = [2, 1].map(|back| RealSrc::Memory(ArrayId((arrays.len() - back) as u32), 0));
    let select = Instr::Select { dst: DST, condition: TruthReg(0), a: yes, b: no };
    let code = instrs.into_iter().chain([select, Instr::StoreReal { result: 0, src: RealSrc::Reg(DST) }]).collect();
    result(code, &arrays, arrays[0].len()).expect("no error")
}

#[test]
fn operations_on_one_number() {
    one_number::<f64>();
    one_number::<f32>();
}

fn one_number<T: Real>() {
    let (a, _) = pairs::<T>();
    let mut results = Vec::new();
    for op in unaries() {
        let expected: Vec<T> = a.iter().map(|&a| unary(op, a)).collect();
        assert_eq!(bits(&of(Instr::Unary { op, dst: DST, a: A }, &[&a])), bits(&expected), "{op:?}");
        let one = of(Instr::Unary { op, dst: DST, a: RealSrc::Uniform(ONE) }, &[&a]);
        assert_eq!(bits(&one), bits(&vec![unary(op, uniform::<T>()); a.len()]), "{op:?} of a uniform");
        results.push((format!("{op:?}"), bits(&expected)));
    }
    apart(&results);
}

#[test]
fn operations_on_two_numbers() {
    two_numbers::<f64>();
    two_numbers::<f32>();
}

fn two_numbers<T: Real>() {
    let (a, b) = pairs::<T>();
    let mut results = Vec::new();
    for op in BINARY {
        let each = |f: &dyn Fn(T, T) -> T| a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect::<Vec<T>>();
        let expected = each(&|a, b| binary(op, a, b));
        assert_eq!(bits(&of(Instr::Binary { op, dst: DST, a: A, b: B }, &[&a, &b])), bits(&expected), "{op:?}");
        let right = of(Instr::Binary { op, dst: DST, a: A, b: RealSrc::Uniform(ONE) }, &[&a, &b]);
        assert_eq!(bits(&right), bits(&each(&|a, _| binary(op, a, uniform::<T>()))), "{op:?} with a uniform on the right");
        let left = of(Instr::Binary { op, dst: DST, a: RealSrc::Uniform(ONE), b: B }, &[&a, &b]);
        assert_eq!(bits(&left), bits(&each(&|_, b| binary(op, uniform::<T>(), b))), "{op:?} with a uniform on the left");
        results.push((format!("{op:?}"), bits(&expected)));
    }
    apart(&results);
}

#[test]
fn comparisons() {
    comparisons_in::<f64>();
    comparisons_in::<f32>();
}

fn comparisons_in<T: Real>() {
    let (a, b) = pairs::<T>();
    let mut results = Vec::new();
    for op in COMPARISONS {
        let expected: Vec<T> = a.iter().zip(&b).map(|(a, b)| truth(op.holds(a, b))).collect();
        let found = truths_of(vec![Instr::Compare { op, dst: TruthReg(0), a: A, b: B }], &[&a, &b]);
        assert_eq!(found, expected, "{op:?}");
        results.push((format!("{op:?}"), bits(&expected)));
    }
    for largest in [true, false] {
        let stays = |a: T, b: T| if largest { a >= b } else { a <= b };
        let expected: Vec<T> = a.iter().zip(&b).map(|(&a, &b)| truth(!(stays(a, b) || a.is_nan()))).collect();
        let found = truths_of(vec![Instr::Replaces { dst: TruthReg(0), largest, extreme: A, term: B }], &[&a, &b]);
        assert_eq!(found, expected, "largest: {largest}");
        results.push((format!("replaces the largest: {largest}"), bits(&expected)));
    }
    apart(&results);
}

#[test]
fn truth_values() {
    truth_values_in::<f64>();
    truth_values_in::<f32>();
}

fn truth_values_in<T: Real>() {
    let (a, b) = pairs::<T>();
    let (p, q) = (TruthReg(1), TruthReg(2));
    let load = |then: Instr| {
        let compare = |op, dst| Instr::Compare { op, dst, a: A, b: B };
        vec![compare(Comparison::Less, p), compare(Comparison::NotEqual, q), then]
    };
    let dst = TruthReg(0);
    let check = |name: &str, instr: Instr, f: &dyn Fn(bool, bool) -> bool| {
        // All four pairs of truth values: of `<` and of another condition.
        let other = |a: T, b: T| a != b;
        let expected: Vec<T> = a.iter().zip(&b).map(|(&a, &b)| truth(f(a < b, other(a, b)))).collect();
        assert_eq!(truths_of(load(instr), &[&a, &b]), expected, "{name}");
    };
    check("and", Instr::Logic { op: Logic::And, dst, a: p, b: q }, &|p, q| p & q);
    check("or", Instr::Logic { op: Logic::Or, dst, a: p, b: q }, &|p, q| p | q);
    check("xor", Instr::Logic { op: Logic::Xor, dst, a: p, b: q }, &|p, q| p ^ q);
    check("not", Instr::Not { dst, a: q }, &|_, q| !q);
    check("copy", Instr::CopyTruth { dst, src: p }, &|p, _| p);
    check("less", Instr::CompareTruths { op: Comparison::GreaterEqual, dst, a: p, b: q }, &|p, q| p >= q);
}

#[test]
fn joined_operations_round_as_single_ones() {
    joined_operations::<f64>();
    joined_operations::<f32>();
}

fn joined_operations<T: Real>() {
    let (a, b) = pairs::<T>();
    let c: Vec<T> = a.iter().rev().copied().collect();
    let arrays = [&a[..], &b, &c];
    let each = |f: &dyn Fn(T, T, T) -> T| bits(&(0..a.len()).map(|k| f(a[k], b[k], c[k])).collect::<Vec<T>>());
    let u = RealSrc::Uniform(ONE);
    for minus in [false, true] {
        let sum = |acc: T, term: T| if minus { acc - term } else { acc + term };
        let mul_add = |acc, a, b| bits(&of(Instr::MulAdd { dst: DST, acc, minus, a, b }, &arrays));
        assert_eq!(mul_add(A, B, C), each(&|a, b, c| sum(a, b * c)));
        assert_eq!(mul_add(A, u, C), each(&|a, _, c| sum(a, uniform::<T>() * c)));
        assert_eq!(mul_add(A, B, u), each(&|a, b, _| sum(a, b * uniform::<T>())));
        assert_eq!(mul_add(u, B, C), each(&|_, b, c| sum(uniform::<T>(), b * c)));
        let mul_diff_add = |acc, t, x, y| bits(&of(Instr::MulDiffAdd { dst: DST, acc, minus, t, x, y }, &arrays));
        assert_eq!(mul_diff_add(A, u, B, C), each(&|a, b, c| sum(a, uniform::<T>() * (b - c))));
        assert_eq!(mul_diff_add(A, B, u, C), each(&|a, b, c| sum(a, b * (uniform::<T>() - c))));
        let accumulate = |t, x, y| {
            let code = vec![
                Instr::CopyReal { dst: DST, src: A },
                Instr::AccumulateMulDiff { variable: DST, minus, t, x, y },
                Instr::StoreReal { result: 0, src: RealSrc::Reg(DST) },
            ];
            bits(&result(code, &arrays, a.len()).expect("no error"))
        };
        assert_eq!(accumulate(u, B, C), each(&|a, b, c| sum(a, uniform::<T>() * (b - c))));
        assert_eq!(accumulate(B, C, u), each(&|a, b, c| sum(a, b * (c - uniform::<T>()))));
    }
}

/// Terms go into variables in the lanes of the region alone, with the sign of the lane.
#[test]
fn accumulation_heeds_regions_and_signs() {
    accumulation::<f64>();
    accumulation::<f32>();
}

fn accumulation<T: Real>() {
    let (a, b) = pairs::<T>();
    type Taken<T> = fn(T, T, bool) -> T;
    let ways: [(Accumulation, Taken<T>); 5] = [
        (Accumulation::Add, |a, b, _| a + b),
        (Accumulation::Sub, |a, b, _| a - b),
        (Accumulation::AddWhere(TruthReg(1)), |a, b, add| if add { a + b } else { a - b }),
        (Accumulation::Max, |a, b, _| equelle_runtime::math::max(a, b)),
        (Accumulation::Min, |a, b, _| equelle_runtime::math::min(a, b)),
    ];
    let mut results = Vec::new();
    for (how, f) in ways {
        for region in [false, true] {
            let enter = Instr::Enter { condition: TruthReg(0), value: true, end: Address(5) };
            let mut code = vec![
                Instr::CopyReal { dst: DST, src: A },
                Instr::LoadTruth { dst: TruthReg(1), array: ArrayId(0), offset: 0 },
                Instr::Compare { op: Comparison::LessEqual, dst: TruthReg(0), a: A, b: B },
                enter,
                Instr::Accumulate { variable: DST, how, term: B },
                Instr::Leave,
                Instr::StoreReal { result: 0, src: RealSrc::Reg(DST) },
            ];
            if !region {
                code.retain(|instr| !matches!(instr, Instr::Enter { .. } | Instr::Leave));
            }
            let taken = |k: usize| !region || a[k] <= b[k];
            let expected: Vec<T> = (0..a.len()).map(|k| if taken(k) { f(a[k], b[k], k % 5 < 2) } else { a[k] }).collect();
            assert_eq!(bits(&result(code, &[&a, &b], a.len()).expect("no error")), bits(&expected), "{how:?} in a region: {region}");
            if !region {
                results.push((format!("{how:?}"), bits(&expected)));
            }
        }
    }
    apart(&results);
}

/// The lanes that an error is in decide: those beside the region may lack what is asked for.
#[test]
fn errors_are_those_of_active_lanes() {
    let n = LANES + 50;
    let values: Vec<f64> = (0..n).map(|k| k as f64).collect();
    let gather = |ranks| Instr::GatherReal { dst: DST, array: ArrayId(0), ranks: ArrayId(ranks), at: EntityReg(0) };
    let store = Instr::StoreReal { result: 0, src: RealSrc::Reg(DST) };
    let here = Instr::Here { dst: EntityReg(0) };
    // Every entity is in the first set, one of three is not in the second.
    assert_eq!(result(vec![here, gather(0), store], &[&values], n), Ok(values.clone()));
    assert_eq!(result(vec![here, gather(1), store], &[&values], n), Err(0));
    let member = Instr::Member { dst: TruthReg(0), ranks: ArrayId(1), at: EntityReg(0) };
    let zero = Instr::CopyReal { dst: DST, src: RealSrc::Uniform(ONE) };
    let enter = Instr::Enter { condition: TruthReg(0), value: true, end: Address(6) };
    let (other, copy) = (RealReg(1), Instr::CopyReal { dst: DST, src: RealSrc::Reg(RealReg(1)) });
    let gathered = Instr::GatherReal { dst: other, array: ArrayId(0), ranks: ArrayId(1), at: EntityReg(0) };
    let code = vec![here, member, zero, enter, gathered, copy, Instr::Leave, store];
    let expected: Vec<f64> = (0..n).map(|k| if k % 3 == 0 { UNIFORM } else { (k / 3) as f64 }).collect();
    assert_eq!(result(code, &[&values], n), Ok(expected));
    // The first block has no error.
    let late: Vec<f64> = (0..n).map(|k| if k == n - 1 { 1.0 } else { 0.0 }).collect();
    let check = |dst| {
        vec![Instr::Compare { op: Comparison::LessEqual, dst, a: A, b: RealSrc::Uniform(ONE) }, Instr::Not { dst: TruthReg(1), a: dst }]
    };
    let mut code = check(TruthReg(0));
    code.push(Instr::Check { condition: TruthReg(1) });
    assert_eq!(result(code, &[&late], n).map(|_| ()), Ok(()));
    let compare = Instr::Compare { op: Comparison::Equal, dst: TruthReg(0), a: A, b: A };
    let nan: Vec<f64> = late.iter().map(|&value| if value > 0.0 { f64::NAN } else { value }).collect();
    assert_eq!(result(vec![compare, Instr::Check { condition: TruthReg(0) }], &[&nan], n), Err(LANES));
}

/// Sides, faces and offsets of cells in rows shorter and longer than a block, against the numbering
/// of the grid.
#[test]
fn rows_of_cells() {
    for n in [[3, 4, 5], [1, 7, 2], [130, 3, 2], [300, 2, 1], [64, 5, 1], [600, 1, 1]] {
        let dim = if n[2] > 1 {
            3
        } else if n[1] > 1 {
            2
        } else {
            1
        };
        let shape = Cartesian { dim, n, spacing: [1.0; 3], joined: [false; 3], place: None };
        let grid = Grid::cartesian(shape).expect("a grid");
        let cells: Vec<f64> = (0..shape.n_cells()).map(|k| 10.0 + k as f64).collect();
        let faces: Vec<f64> = (0..shape.n_faces()).map(|k| 0.5 + k as f64).collect();
        let store = Instr::StoreReal { result: 0, src: RealSrc::Reg(DST) };
        let found = |code: Vec<Instr>| on_grid(code, &grid, Some(shape), &[&cells, &faces], &[], shape.n_cells()).expect("no error");
        for axis in 0..dim {
            for high in [false, true] {
                let load = Instr::LoadSide { dst: DST, array: ArrayId(1), axis: axis as u8, high };
                let expected: Vec<f64> = (0..shape.n_cells()).map(|cell| faces[shape.cell_face(cell, axis, high)]).collect();
                assert_eq!(found(vec![load, store]), expected, "{n:?} {axis} {high}");
                for boundary in [false, true] {
                    let zero = Instr::CopyReal { dst: DST, src: RealSrc::Uniform(ONE) };
                    let enter = Instr::EnterSide { side: CellSide { axis: axis as u8, high, boundary }, end: Address(3) };
                    let code = vec![zero, enter, Instr::CopyReal { dst: DST, src: A }, Instr::Leave, store];
                    let side = CellSide { axis: axis as u8, high, boundary };
                    let is_at = |cell: usize| shape.is_boundary_face(shape.cell_face(cell, axis, high));
                    let expected: Vec<f64> =
                        (0..shape.n_cells()).map(|cell| if is_at(cell) == boundary { cells[cell] } else { UNIFORM }).collect();
                    assert_eq!(found(code), expected, "{n:?} {axis} {high} {boundary}");
                    for minus in [false, true] {
                        // The neighbour, where there is one.
                        let stride = shape.stride(axis) as i64 * if high { 1 } else { -1 };
                        let shift = if boundary { 0 } else { stride };
                        let (t, x, y) = (RealSrc::Uniform(ONE), A, RealSrc::Memory(ArrayId(0), shift));
                        let code = vec![zero, Instr::AccumulateSide { side, variable: DST, minus, t, x, y }, store];
                        let term = |cell: usize| UNIFORM * (cells[cell] - cells[cell.wrapping_add_signed(shift as isize)]);
                        let sum = |cell: usize| if minus { UNIFORM - term(cell) } else { UNIFORM + term(cell) };
                        let expected: Vec<f64> =
                            (0..shape.n_cells()).map(|cell| if is_at(cell) == boundary { sum(cell) } else { UNIFORM }).collect();
                        assert_eq!(found(code), expected, "{n:?} {side:?} {minus}");
                    }
                }
            }
        }
        let offsets = [
            ([-1, 0, 0], [SideMap::Wrap; 6]),
            ([2, 1, 0], [SideMap::Mirror, SideMap::Clamp, SideMap::MirrorAt, SideMap::Wrap, SideMap::Never, SideMap::Never]),
        ];
        for (number, (by, beyond)) in offsets.into_iter().enumerate() {
            let load = Instr::LoadOffset { dst: DST, array: ArrayId(0), offset: OffsetId(number as u32) };
            let expected: Vec<f64> = (0..shape.n_cells()).map(|cell| cells[shape.offset_cell(cell as u32, by, beyond) as usize]).collect();
            assert_eq!(found(vec![load, store]), expected, "{n:?} {by:?}");
        }
    }
}

/// Kernels in double precision of a program of single precision round what they store.
#[test]
fn stores_round() {
    let (a, b) = pairs::<f64>();
    let n = a.len();
    let code = vec![Instr::Binary { op: RealBinary::Div, dst: DST, a: A, b: B }, Instr::StoreReal { result: 0, src: RealSrc::Reg(DST) }];
    let grid = Grid::cartesian(Cartesian::line(n, 1.0)).expect("a grid");
    let mut values = vec![0.0_f32; n];
    let code = program(code, None);
    let arrays = [&a[..], &b];
    run(&code, &bindings(&grid, &arrays, &[], &[], &[]), 0..n, Outputs(vec![Output::Reals(&mut values)])).expect("no error");
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| (a / b) as f32).collect();
    assert_eq!(bits(&values), bits(&expected));
}

/// No two operations give the same on the samples.
fn apart(results: &[(String, Vec<u64>)]) {
    for (number, (name, values)) in results.iter().enumerate() {
        for (other, others) in &results[..number] {
            assert_ne!(values, others, "the samples do not tell {name} from {other}");
        }
    }
}

#[test]
fn the_best_instructions_are_chosen() {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        assert!(!matches!(pulp::Arch::new(), pulp::Arch::Scalar), "AVX2 is there");
    }
}
