//! What the runtime reads in parameters means what it means in programs: units, expressions.

use equelle_front::units;
use equelle_runtime::io::unit::{parse_unit, unit_names};

/// Both tables have the same names, and the same factors and dimensions, bit for bit; powers and
/// quotients as well.
#[test]
fn units_of_parameters_are_those_of_programs() {
    let names: Vec<&str> = unit_names().collect();
    let in_programs: Vec<&str> = units::UNITS.iter().map(|unit| unit.name).collect();
    assert_eq!(names, in_programs);
    for one in units::UNITS {
        for other in units::UNITS {
            for (text, unit) in [
                (
                    format!("{}*{}^2", one.name, other.name),
                    one.unit.factor.times(other.unit.factor).and_then(|f| f.times(other.unit.factor)),
                ),
                (format!("{}/{}", one.name, other.name), one.unit.factor.over(other.unit.factor)),
            ] {
                let parsed = parse_unit(&text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
                let expected = unit.and_then(|factor| factor.to_f64()).expect("in range");
                assert_eq!(parsed.factor.to_bits(), expected.to_bits(), "{text}: {} and {expected}", parsed.factor);
            }
        }
        assert_eq!(parse_unit(one.name).map(|unit| unit.dimension), Ok(one.unit.dimension.0), "{}", one.name);
    }
}
