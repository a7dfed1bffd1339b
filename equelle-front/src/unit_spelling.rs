//! Units as others write them, and their names here. The same as in `equelle_runtime::io`, which
//! does not know this crate; a test of `equelle-random` compares both.

/// Symbols of units, as physics and reservoir engineering write them.
const SYMBOLS: [(&str, &str); 34] = [
    ("m", "Meter"),
    ("in", "Inch"),
    ("ft", "Feet"),
    ("foot", "Feet"),
    ("s", "Second"),
    ("sec", "Second"),
    ("min", "Minute"),
    ("h", "Hour"),
    ("hr", "Hour"),
    ("d", "Day"),
    ("wk", "Week"),
    ("yr", "Year"),
    ("kg", "Kilogram"),
    ("g", "Gram"),
    ("t", "Tonne"),
    ("K", "Kelvin"),
    ("N", "Newton"),
    ("J", "Joule"),
    ("Pa", "Pascal"),
    ("bar", "Bar"),
    ("atm", "Atm"),
    ("psi", "Psi"),
    ("W", "Watt"),
    ("D", "Darcy"),
    ("P", "Poise"),
    ("l", "Liter"),
    ("L", "Liter"),
    ("bbl", "Stb"),
    ("barrel", "Stb"),
    ("Hz", "Hertz"),
    ("A", "Ampere"),
    ("mol", "Mole"),
    ("cd", "Candela"),
    ("V", "Volt"),
];

/// Symbols of prefixes.
const PREFIXES: [(&str, &str); 13] = [
    ("p", "Pico"),
    ("n", "Nano"),
    ("u", "Micro"),
    ("\u{b5}", "Micro"),
    ("m", "Milli"),
    ("c", "Centi"),
    ("d", "Deci"),
    ("da", "Deca"),
    ("h", "Hecto"),
    ("k", "Kilo"),
    ("M", "Mega"),
    ("G", "Giga"),
    ("T", "Tera"),
];

/// The unit that a symbol or a word in one piece means, as it is written here: `Milli*Darcy` for
/// `mD`, `Kilo*Meter` for `Kilometers`, `Meter^3` for `m3`. `names` are those of all units; within
/// a larger unit a product `needs_parentheses`.
pub fn spelling(text: &str, names: impl Iterator<Item = &'static str> + Clone, needs_parentheses: bool) -> Option<String> {
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let exponent = &text[name.len()..];
    let unit = by_symbol(name).or_else(|| by_word(name, names))?;
    let is_product = unit.contains('*');
    Some(match (exponent.is_empty(), is_product) {
        (true, true) if needs_parentheses => format!("({unit})"),
        (true, _) => unit,
        (false, true) => format!("({unit})^{exponent}"),
        (false, false) => format!("{unit}^{exponent}"),
    })
}

fn by_symbol(name: &str) -> Option<String> {
    let of = |symbol: &str| SYMBOLS.iter().find(|(own, _)| *own == symbol).map(|(_, unit)| *unit);
    if let Some(unit) = of(name) {
        return Some(unit.to_owned());
    }
    PREFIXES.iter().find_map(|(symbol, prefix)| Some(format!("{prefix}*{}", of(name.strip_prefix(symbol)?)?)))
}

fn by_word(name: &str, names: impl Iterator<Item = &'static str> + Clone) -> Option<String> {
    let word = name.to_lowercase().replace("metre", "meter").replace("litre", "liter");
    let of = |word: &str| {
        let singular = [Some(word), word.strip_suffix('s'), word.strip_suffix("es")];
        names.clone().find(|unit| singular.contains(&Some(&unit.to_lowercase()[..])))
    };
    if let Some(unit) = of(&word) {
        return Some(unit.to_owned());
    }
    PREFIXES.iter().find_map(|(_, prefix)| Some(format!("{prefix}*{}", of(word.strip_prefix(&prefix.to_lowercase()[..])?)?)))
}

/// Kelvins of a number of degrees, where a name is that of a temperature scale with another zero.
pub fn kelvins(name: &str, degrees: f64) -> Option<f64> {
    let kelvins = match &name.to_lowercase()[..] {
        "celsius" | "degc" | "centigrade" => degrees + 273.15,
        "fahrenheit" | "degf" => (degrees + 459.67) * 5.0 / 9.0,
        _ => return None,
    };
    // Without the rounding of the sum.
    Some((kelvins * 1e9).round() / 1e9)
}
