//! JSON for machine-readable messages.

use std::fmt::Write as _;

use crate::number::write_shortest;

/// A text as a JSON string, with its quotes.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                // Writing to a String cannot fail. Control characters fit four digits.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A number as JSON; `null` if it is not finite, which JSON cannot express.
pub fn number(value: f64) -> String {
    let mut out = String::new();
    if value.is_finite() {
        write_shortest(&mut out, value)
    } else {
        out.push_str("null")
    }
    out
}

/// A message as a line: `{"severity":"warning","message":"..."}`.
pub fn message(severity: &str, text: &str) -> String {
    format!("{{\"severity\":{},\"message\":{}}}\n", string(severity), string(text))
}

/// An error as a line, with its Equelle lines and hint.
pub fn error(error: &crate::error::Error) -> String {
    let lines: Vec<String> = error.lines.iter().map(u32::to_string).collect();
    let hint = error.hint.as_deref().map_or_else(|| "null".to_owned(), string);
    format!("{{\"severity\":\"error\",\"message\":{},\"lines\":[{}],\"hint\":{hint}}}\n", string(&error.message), lines.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_numbers_are_json() {
        assert_eq!(string("a \"b\" \\ \n\t\u{1f}é"), "\"a \\\"b\\\" \\\\ \\n\\u0009\\u001fé\"");
        assert_eq!([number(0.25), number(-3.0), number(f64::NAN), number(f64::INFINITY)], ["0.25", "-3", "null", "null"]);
    }
}
