//! The unit table: exact factors, dimensions, and the arithmetic of unit expressions.

use equelle_front::check::{CheckOptions, check_text};
use equelle_front::syntax::ast::{ExprKind, StmtKind, UnitExpr};
use equelle_front::syntax::parse;
use equelle_front::unit_spelling::{kelvins, spelling};
use equelle_front::units::{self, Unit, UnitError};

fn expression(text: &str) -> UnitExpr {
    let parsed = parse(&format!("x = 1 [{text}]\n"));
    assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
    match parsed.program.statements.into_iter().next().map(|s| s.kind) {
        Some(StmtKind::Assignment { value, .. }) => match value.kind {
            ExprKind::Number { unit: Some(unit), .. } => unit,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn unit(text: &str) -> Unit {
    units::resolve(&expression(text)).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

/// Factor to SI.
fn factor(text: &str) -> f64 {
    unit(text).factor.to_f64().unwrap_or(f64::NAN)
}

#[test]
fn every_unit_of_the_language() {
    // Name, factor, dimension (`docs/language/units.md`). The decimal literals are
    // the doubles nearest to the exact factors.
    let table = [
        ("Pico", 1e-12, ""),
        ("Nano", 1e-9, ""),
        ("Micro", 1e-6, ""),
        ("Milli", 1e-3, ""),
        ("Centi", 0.01, ""),
        ("Deci", 0.1, ""),
        ("Deca", 10.0, ""),
        ("Hecto", 100.0, ""),
        ("Kilo", 1e3, ""),
        ("Mega", 1e6, ""),
        ("Giga", 1e9, ""),
        ("Tera", 1e12, ""),
        ("Meter", 1.0, "[Meter]"),
        ("Inch", 0.0254, "[Meter]"),
        ("Feet", 0.3048, "[Meter]"),
        ("Second", 1.0, "[Second]"),
        ("Minute", 60.0, "[Second]"),
        ("Hour", 3600.0, "[Second]"),
        ("Day", 86400.0, "[Second]"),
        ("Kilogram", 1.0, "[Kilogram]"),
        ("Kelvin", 1.0, "[Kelvin]"),
        ("Newton", 1.0, "[Meter * Second^-2 * Kilogram]"),
        ("Joule", 1.0, "[Meter^2 * Second^-2 * Kilogram]"),
        ("Pascal", 1.0, "[Meter^-1 * Second^-2 * Kilogram]"),
        ("Bar", 1e5, "[Meter^-1 * Second^-2 * Kilogram]"),
        ("Atm", 101325.0, "[Meter^-1 * Second^-2 * Kilogram]"),
        ("Watt", 1.0, "[Meter^2 * Second^-3 * Kilogram]"),
        ("Darcy", 9.869232667160128e-13, "[Meter^2]"),
        ("Poise", 0.1, "[Meter^-1 * Second^-1 * Kilogram]"),
        // Extensions.
        ("Gram", 1e-3, "[Kilogram]"),
        ("Tonne", 1e3, "[Kilogram]"),
        ("Liter", 1e-3, "[Meter^3]"),
        ("Week", 604800.0, "[Second]"),
        ("Year", 31_536_000.0, "[Second]"),
        ("Hertz", 1.0, "[Second^-1]"),
        ("Ampere", 1.0, "[Ampere]"),
        ("Mole", 1.0, "[Mole]"),
        ("Candela", 1.0, "[Candela]"),
        ("Coulomb", 1.0, "[Second * Ampere]"),
        ("Volt", 1.0, "[Meter^2 * Second^-3 * Kilogram * Ampere^-1]"),
        ("Ohm", 1.0, "[Meter^2 * Second^-3 * Kilogram * Ampere^-2]"),
        // 4.4482216152605 N / (0.0254 m)^2 and 42 * 231 * (0.0254 m)^3.
        ("Psi", 6894.757293168362, "[Meter^-1 * Second^-2 * Kilogram]"),
        ("Stb", 0.158987294928, "[Meter^3]"),
    ];
    for (name, value, dimension) in table {
        assert_eq!(factor(name), value, "{name}");
        assert_eq!(unit(name).dimension.to_string(), dimension, "{name}");
    }
    let names: Vec<&str> = table.iter().map(|row| row.0).collect();
    let all: Vec<&str> = units::UNITS.iter().map(|u| u.name).collect();
    assert_eq!(names, all);
}

#[test]
fn factors_are_exact_until_the_one_rounding() {
    // In doubles 1e-3 * 1e-3 is 1.0000000000000001e-6 and 1e-7 / 101325 * 101325 need not return to
    // 1e-7.
    assert_eq!(factor("Milli^2"), 1e-6);
    assert_eq!(factor("Milli*Milli"), 1e-6);
    assert_eq!(factor("Darcy*Atm/Pascal"), 1e-7);
    assert_eq!(factor("Milli*Darcy"), 9.869232667160128e-16);
    assert_eq!(factor("Kilo*Meter/Hour"), 1.0 / 3.6);
    assert_eq!(factor("Centi*Poise"), 1e-3);
    assert_eq!(factor("Inch^-2"), 1_550.003_100_006_2);
    assert_eq!(unit("Feet/Inch").factor, unit("Feet*Inch^-1").factor);
    assert_eq!(factor("Feet/Inch"), 12.0);
    // A sixtieth, rounded once.
    assert_eq!(factor("Hertz*Second/(Minute*Hertz)"), 1.0 / 60.0);
}

#[test]
fn grouping_follows_the_grammar() {
    assert_eq!(unit("Watt/(Meter*Kelvin)").dimension.to_string(), "[Meter * Second^-3 * Kilogram * Kelvin^-1]");
    assert_eq!(unit("Meter*Kelvin/Second").dimension.to_string(), "[Meter * Second^-1 * Kelvin]");
    assert_eq!(unit("Meter^2^2").dimension.to_string(), "[Meter^4]");
    assert_eq!(unit("Second^-2").dimension.to_string(), "[Second^-2]");
    assert_eq!(unit("(Kilo*Meter)^3").factor.to_f64(), Some(1e9));
}

#[test]
fn numbers_become_si_by_one_multiplication() {
    assert_eq!(unit("Inch").to_si(3.0), Some(3.0 * 0.0254));
    assert_eq!(unit("Micro*Pascal*Second").to_si(18.27), Some(18.27 * 1e-6));
    assert_eq!(unit("Mega").to_si(1e305), None);
}

#[test]
fn unknown_and_absurd_units_are_errors() {
    let unknown = units::resolve(&expression("Kilo*Metre"));
    assert!(matches!(&unknown, Err(UnitError::Unknown { name, span }) if name == "Metre" && span.start == 12), "{unknown:?}");
    for text in [
        "Tera^100",
        "Pico^100",
        "Meter^2000000000",
        "Inch^2000000000",
        "(Meter^1000)^1000",
        "Pico^26",
        // Back in range, after an exponent of the dimension or of the factor has left what can be
        // held.
        "(Meter^2147483647*Meter)/Meter^2147483647",
        "(Second^-2147483647/Second)*Second^2147483647",
        "(Meter^65536)^65536/Meter",
        "(Kilo^715827882*Kilo)/Kilo^715827882",
        "(Hour^-2147483647/Hour)*Hour^2147483647",
        "(Deca^65536)^65536*Deca^-1",
    ] {
        assert!(matches!(units::resolve(&expression(text)), Err(UnitError::OutOfRange { .. })), "{text}");
    }
    // The largest and smallest powers of ten that are normal doubles.
    assert_eq!(factor("Tera^25*Mega*Hecto"), 1e308);
    assert_eq!(factor("Pico^25*Micro*Deci"), 1e-307);
}

/// Symbols, words in one piece, plurals and powers of them; every suggestion is a unit.
#[test]
fn units_as_others_write_them() {
    let names = || units::UNITS.iter().map(|unit| unit.name);
    for (text, expected) in [
        ("mD", "Milli*Darcy"),
        ("cP", "Centi*Poise"),
        ("km", "Kilo*Meter"),
        ("kg", "Kilogram"),
        ("min", "Minute"),
        ("MPa", "Mega*Pascal"),
        ("daN", "Deca*Newton"),
        ("m3", "Meter^3"),
        ("cm3", "(Centi*Meter)^3"),
        ("Kilometers", "Kilo*Meter"),
        ("Millidarcy", "Milli*Darcy"),
        ("METRES", "Meter"),
        ("litre", "Liter"),
    ] {
        assert_eq!(spelling(text, names(), false).as_deref(), Some(expected), "{text}");
        let program = format!("x = 1 [{expected}]\nOutput(\"x\", x)\n");
        assert!(check_text(&program, &CheckOptions::default()).diagnostics.is_empty(), "{program}");
    }
    for text in ["Furlong", "q", "C", "m_", "3", ""] {
        assert_eq!(spelling(text, names(), false), None, "{text}");
    }
    assert_eq!(spelling("cP", names(), true).as_deref(), Some("(Centi*Poise)"));
    assert_eq!(spelling("m", names(), true).as_deref(), Some("Meter"));
    assert_eq!([kelvins("Celsius", 20.0), kelvins("degC", 0.1), kelvins("Fahrenheit", 32.0)], [Some(293.15), Some(273.25), Some(273.15)]);
    assert_eq!(kelvins("Kelvin", 1.0), None);
}
