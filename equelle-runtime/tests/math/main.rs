//! The elementary functions against references of twice the digits.

mod large_angles;
mod reference;

use equelle_runtime::math;
use reference::Wide;

/// A function, its arguments, and how far its values may be off.
struct Case {
    name: &'static str,
    ulps: f64,
    /// Arguments of a random number, by single precision or not.
    points: fn(&mut fastrand::Rng, bool) -> (f64, f64),
    double: fn(f64, f64) -> f64,
    single: fn(f32, f32) -> f32,
    exact: fn(f64, f64) -> Wide,
}

/// Uniform, and of any magnitude below the bound in every fourth call.
fn within(random: &mut fastrand::Rng, bound: f64) -> f64 {
    let x = (2.0 * random.f64() - 1.0) * bound;
    if random.u8(..4) == 0 { x * 2f64.powi(-random.i32(0..60)) } else { x }
}

/// Positive, of any magnitude.
fn positive(random: &mut fastrand::Rng, single: bool) -> f64 {
    let (low, high) = if single { (-148, 127) } else { (-1070, 1023) };
    match random.u8(..3) {
        0 => 0.5 + random.f64(),
        1 => 100.0 * random.f64() + 1e-3,
        _ => (1.0 + random.f64()) * 2f64.powi(random.i32(low / 2..high)) * 2f64.powi(random.i32(low / 2..0)).max(f64::MIN_POSITIVE),
    }
}

macro_rules! case {
    ($name:ident, $ulps:expr, $points:expr, $exact:expr) => {
        Case {
            name: stringify!($name),
            ulps: $ulps,
            points: $points,
            double: |x, _| math::$name(x),
            single: |x, _| math::$name(x),
            exact: $exact,
        }
    };
}

fn cases() -> Vec<Case> {
    vec![
        case!(exp, 1.0, |r, single| (within(r, if single { 85.0 } else { 670.0 }), 0.0), |x, _| reference::exp(x.into())),
        case!(expm1, 1.0, |r, single| (within(r, if single { 85.0 } else { 670.0 }), 0.0), |x, _| reference::expm1(x)),
        case!(expm1, 1.0, |r, _| (within(r, 2.0), 0.0), |x, _| reference::expm1(x)),
        case!(log, 1.0, |r, single| (positive(r, single), 0.0), |x, _| reference::log(x)),
        case!(sin, 1.0, |r, _| (within(r, 1.1e5), 0.0), |x, _| reference::sin_cos(x).0),
        case!(cos, 1.0, |r, _| (within(r, 1.1e5), 0.0), |x, _| reference::sin_cos(x).1),
        case!(tan, 2.0, |r, _| (within(r, 1.1e5), 0.0), |x, _| reference::tan(x)),
        case!(sin, 1.0, |r, _| (within(r, 4.0), 0.0), |x, _| reference::sin_cos(x).0),
        case!(cos, 1.0, |r, _| (within(r, 4.0), 0.0), |x, _| reference::sin_cos(x).1),
        case!(tan, 2.0, |r, _| (within(r, 4.0), 0.0), |x, _| reference::tan(x)),
        case!(tanh, 1.0, |r, _| (within(r, 10.0), 0.0), |x, _| reference::tanh(x)),
        case!(tanh, 1.0, |r, _| (within(r, 1.0), 0.0), |x, _| reference::tanh(x)),
        case!(sinh, 2.0, |r, single| (within(r, if single { 89.0 } else { 710.4 }), 0.0), |x, _| reference::sinh(x)),
        case!(sinh, 2.0, |r, _| (within(r, 2.0), 0.0), |x, _| reference::sinh(x)),
        case!(cosh, 2.0, |r, single| (within(r, if single { 89.0 } else { 710.4 }), 0.0), |x, _| reference::cosh(x)),
        case!(asin, 2.0, |r, _| (within(r, 1.0), 0.0), |x, _| reference::asin(x)),
        case!(acos, 2.0, |r, _| (within(r, 1.0), 0.0), |x, _| reference::acos(x)),
        case!(atan, 2.0, |r, _| (within(r, 4.0), 0.0), |x, _| reference::atan(x)),
        case!(atan, 2.0, |r, single| (positive(r, single), 0.0), |x, _| reference::atan(x)),
        case!(log10, 2.0, |r, single| (positive(r, single), 0.0), |x, _| reference::log10(x)),
        case!(erf, 2.0, |r, _| (within(r, 6.5), 0.0), |x, _| reference::erf(x)),
        Case {
            name: "atan2",
            ulps: 2.0,
            points: |r, _| (within(r, 10.0), within(r, 10.0)),
            double: math::atan2,
            single: math::atan2,
            exact: reference::atan2,
        },
        Case {
            name: "pow",
            ulps: 2.0,
            points: |r, _| (10.0 * r.f64() + 1e-3, within(r, 30.0)),
            double: math::pow,
            single: math::pow,
            exact: reference::pow,
        },
        Case {
            name: "pow",
            ulps: 2.0,
            points: |r, single| (0.9 + 0.2 * r.f64(), within(r, if single { 800.0 } else { 7000.0 })),
            double: math::pow,
            single: math::pow,
            exact: reference::pow,
        },
    ]
}

/// The error of a value in the spacing of numbers at the exact one: `digits` bits, the smallest of
/// which is 2^`least`.
fn ulps(value: f64, exact: Wide, digits: i32, least: i32) -> f64 {
    if value.is_infinite() && exact.0.abs() > 1.7e308 {
        return 0.0;
    }
    let exponent = ((exact.0.abs().to_bits() >> 52) as i32 - 1023 - digits + 1).max(least);
    let error = (value - exact.0) - exact.1;
    // In two steps, because the spacing may be subnormal.
    (error.abs() * 2f64.powi(-exponent / 2) * 2f64.powi(exponent / 2 - exponent)).max(0.0)
}

fn worst(points: usize) -> Vec<String> {
    let mut failures = Vec::new();
    for case in cases() {
        let mut random = fastrand::Rng::with_seed(7);
        let (mut double, mut single) = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0));
        for _ in 0..points {
            let (a, b) = (case.points)(&mut random, false);
            let error = ulps((case.double)(a, b), (case.exact)(a, b), 53, -1074);
            if error > double.0 || error.is_nan() {
                double = (error, a, b);
            }
            let (a, b) = (case.points)(&mut random, true);
            let (a, b) = (a as f32, b as f32);
            let exact = (case.exact)(f64::from(a), f64::from(b));
            let value = (case.single)(a, b);
            let error = if exact.0.abs() > 3.4028235e38 { 0.0 } else { ulps(f64::from(value), exact, 24, -149) };
            if error > single.0 || error.is_nan() {
                single = (error, f64::from(a), f64::from(b));
            }
        }
        println!(
            "{:6} double {:.4} at {:e} {:e}, single {:.4} at {:e} {:e}",
            case.name, double.0, double.1, double.2, single.0, single.1, single.2
        );
        if !(double.0 <= case.ulps && single.0 <= case.ulps) {
            failures.push(format!("{}: {double:?} {single:?}", case.name));
        }
    }
    failures
}

#[test]
fn errors_at_large_angles() {
    for &[x, sin, sin_rest, cos, cos_rest] in large_angles::DOUBLE {
        let (sin, cos) = (Wide(sin, sin_rest), Wide(cos, cos_rest));
        assert!(ulps(math::sin(x), sin, 53, -1074) <= 1.0 && ulps(math::cos(x), cos, 53, -1074) <= 1.0, "{x:e}");
        assert!(ulps(math::tan(x), sin / cos, 53, -1074) <= 2.0, "{x:e}");
        assert!(math::sin(-x) == -math::sin(x) && math::cos(-x) == math::cos(x), "{x:e}");
    }
    for &[x, sin, sin_rest, cos, cos_rest] in large_angles::SINGLE {
        let (sin, cos, x) = (Wide(sin, sin_rest), Wide(cos, cos_rest), x as f32);
        assert!(ulps(math::sin(x).into(), sin, 24, -149) <= 1.0 && ulps(math::cos(x).into(), cos, 24, -149) <= 1.0, "{x:e}");
        assert!(ulps(math::tan(x).into(), sin / cos, 24, -149) <= 2.0, "{x:e}");
    }
}

/// As C and IEEE 754 have them, which Rust's library follows.
#[test]
fn special_values() {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    let special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0, -3.0, 1e300, -1e300, 5e-324, f64::INFINITY, -f64::INFINITY, f64::NAN];
    type Function = fn(f64) -> f64;
    let of_one: [(&str, Function, Function); 16] = [
        ("exp", math::exp, f64::exp),
        ("expm1", math::expm1, f64::exp_m1),
        ("log", math::log, f64::ln),
        ("log10", math::log10, f64::log10),
        ("sin", math::sin, f64::sin),
        ("tan", math::tan, f64::tan),
        ("asin", math::asin, f64::asin),
        ("acos", math::acos, f64::acos),
        ("atan", math::atan, f64::atan),
        ("sinh", math::sinh, f64::sinh),
        ("cosh", math::cosh, f64::cosh),
        ("tanh", math::tanh, f64::tanh),
        ("floor", math::floor, f64::floor),
        ("ceil", math::ceil, f64::ceil),
        ("round", math::round, f64::round),
        ("cos", math::cos, f64::cos),
    ];
    for (name, found, expected) in of_one {
        for x in special {
            let (a, b) = (found(x), expected(x));
            // Where the value is exact in both, its bits; else what kind of number it is.
            let exact = b == 0.0 || b.is_infinite() || b.is_nan() || b.fract() == 0.0 && b.abs() < 1e15;
            assert!(same(a, b) || (!exact && (a - b).abs() <= 1e-15 * b.abs()), "{name}({x:e}): {a:e}, not {b:e}");
        }
    }
    for a in special {
        for b in special {
            let (x, y) = (math::pow(a, b), a.powf(b));
            assert!(same(x, y) || (x - y).abs() <= 1e-15 * y.abs(), "pow({a:e}, {b:e}): {x:e}, not {y:e}");
            let (x, y) = (math::atan2(a, b), a.atan2(b));
            assert!(same(x, y) || (y != 0.0 && (x - y).abs() <= 1e-15 * y.abs()), "atan2({a:e}, {b:e}): {x:e}, not {y:e}");
        }
    }
    // Ends of the range: overflow, subnormal results, underflow.
    assert_eq!((math::exp(709.782712893384), math::exp(709.782712893385)), (1.7976931348622732e308, f64::INFINITY));
    assert_eq!((math::expm1(709.782712893384), math::expm1(709.782712893385)), (1.7976931348622732e308, f64::INFINITY));
    assert_eq!((math::expm1(1e-310), math::expm1(-45.0), math::expm1(-1e-30f32)), (1e-310, -1.0, -1e-30));
    assert_eq!((math::exp(-745.0), math::exp(-746.0)), (5e-324, 0.0));
    assert_eq!((math::erf(6.0), math::erf(-f64::INFINITY), math::erf(1e-310)), (1.0, -1.0, 1.1283791670955e-310));
    assert_eq!((math::sign(-0.0f64).to_bits(), math::sign(5e-324), math::sign(-2.0)), ((-0.0f64).to_bits(), 1.0, -1.0));
    assert_eq!((math::pow(2.0f64, 1023.5).is_finite(), math::pow(2.0, -1074.0), math::pow(2.0f32, 10.0)), (true, 5e-324, 1024.0));
}

#[test]
fn errors_at_a_hundred_thousand_points() {
    // In each of two precisions.
    assert_eq!(worst(50_000), Vec::<String>::new());
}

/// Minutes. In `.ci/full`.
#[test]
#[ignore = "takes minutes; .ci/full runs it"]
fn errors_at_ten_million_points() {
    assert_eq!(worst(10_000_000), Vec::<String>::new());
}

/// Nearest whole numbers are those of C's `round`, bit by bit, in both precisions: of numbers of
/// all sizes, of halves, and of their neighbours.
#[test]
fn nearest_whole_numbers_have_the_bits_of_round() {
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    for k in 0..200_000_u64 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let half = (k as f64 - 100_000.0) / 2.0;
        for x in [f64::from_bits(bits), half, half.next_up(), half.next_down(), half * 4_503_599_627.0] {
            let (found, expected) = (math::round(x), x.round());
            assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(), "{x:e}: {found:e}");
            let x = x as f32;
            let (found, expected) = (math::round(x), x.round());
            assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(), "{x:e}: {found:e}");
        }
    }
}
