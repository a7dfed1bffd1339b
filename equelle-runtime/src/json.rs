//! JSON for machine-readable messages.

use std::fmt::{Display, Write as _};

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

/// An array of JSON texts.
pub fn array<T: Display>(elements: impl IntoIterator<Item = T>) -> String {
    let mut out = "[".to_owned();
    for (number, element) in elements.into_iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(out, "{}{element}", if number == 0 { "" } else { "," });
    }
    out.push(']');
    out
}

/// An object, with its members in the order of the calls.
#[derive(Default)]
pub struct Object(String);

impl Object {
    /// A member that is JSON: a whole number, or text of this module.
    pub fn raw(mut self, key: &str, value: impl Display) -> Object {
        let comma = if self.0.is_empty() { "" } else { "," };
        let _ = write!(self.0, "{comma}{}:{value}", string(key));
        self
    }

    /// A text.
    pub fn text(self, key: &str, value: &str) -> Object {
        self.raw(key, string(value))
    }

    /// A number, as [`number`].
    pub fn number(self, key: &str, value: f64) -> Object {
        self.raw(key, number(value))
    }

    /// A count.
    pub fn count(self, key: &str, value: usize) -> Object {
        self.raw(key, value)
    }

    /// JSON, or `null`.
    pub fn optional(self, key: &str, value: Option<impl Display>) -> Object {
        match value {
            Some(value) => self.raw(key, value),
            None => self.raw(key, "null"),
        }
    }

    /// The members of another object, given as its text.
    pub fn members(mut self, object: &str) -> Object {
        let inner = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or("");
        if !self.0.is_empty() && !inner.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(inner);
        self
    }

    /// Its text.
    pub fn end(self) -> String {
        format!("{{{}}}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_numbers_are_json() {
        assert_eq!(string("a \"b\" \\ \n\t\u{1f}é"), "\"a \\\"b\\\" \\\\ \\n\\u0009\\u001fé\"");
        assert_eq!([number(0.25), number(-3.0), number(f64::NAN), number(f64::INFINITY)], ["0.25", "-3", "null", "null"]);
    }

    #[test]
    fn objects_keep_the_order_of_members() {
        let inner = Object::default().text("a \"b\"", "c").optional("d", None::<u32>).end();
        assert_eq!(inner, r#"{"a \"b\"":"c","d":null}"#);
        let outer = Object::default().count("z", 1).members(&inner).members("{}").raw("list", array([2, 1])).end();
        assert_eq!(outer, r#"{"z":1,"a \"b\"":"c","d":null,"list":[2,1]}"#);
        assert_eq!(Object::default().members("{}").end(), "{}");
    }
}
