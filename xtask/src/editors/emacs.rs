//! The Emacs mode.

use equelle_front::check::{BuiltinInfo, builtins};

use super::words::{WordKind, unit_names, words};

/// Text that does not come from tables; each `@NAME@` is replaced by a list.
const TEMPLATE: &str = include_str!("equelle-mode.el.in");

/// `equelle-mode.el`
pub(super) fn mode() -> String {
    let mut builtins = builtins();
    builtins.sort_by(|a, b| a.name.cmp(&b.name));
    TEMPLATE
        .replace("@TYPES@", &strings(&words(WordKind::Type)))
        .replace("@OPERATORS@", &strings(&words(WordKind::Operator)))
        .replace("@CONSTANTS@", &strings(&words(WordKind::Constant)))
        .replace("@CONTROL@", &strings(&words(WordKind::Control)))
        .replace("@BUILTINS@", &builtins.iter().map(entry).collect::<Vec<_>>().join("\n    "))
        .replace("@UNITS@", &strings(&unit_names()))
}

/// String literals, a few a line.
fn strings(words: &[&str]) -> String {
    let literals: Vec<String> = words.iter().map(|word| literal(word)).collect();
    literals.chunks(8).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n    ")
}

/// `("Dot" "Dot(v1, v2)" "The scalar product.")`
fn entry(builtin: &BuiltinInfo) -> String {
    format!("({} {}\n     {})", literal(&builtin.name), literal(&builtin.signature()), literal(&builtin.doc))
}

fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads Emacs Lisp as far as to tell lists, strings and comments apart; returns the top-level
    /// forms.
    fn forms(text: &str) -> Vec<String> {
        let (mut forms, mut depth, mut form) = (Vec::new(), 0_usize, String::new());
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c == ';' {
                chars.by_ref().take_while(|c| *c != '\n').for_each(drop);
                form.push('\n');
                continue;
            }
            form.push(c);
            match c {
                '"' => loop {
                    let inside = chars.next().expect("a string is closed");
                    form.push(inside);
                    match inside {
                        '\\' => form.push(chars.next().expect("an escape is complete")),
                        '"' => break,
                        _ => {}
                    }
                },
                // A character such as `?\;` or `?#`.
                '?' => {
                    let character = chars.next().expect("a character");
                    form.push(character);
                    if character == '\\' {
                        form.push(chars.next().expect("a character"));
                    }
                }
                '(' => depth += 1,
                ')' => {
                    depth = depth.checked_sub(1).unwrap_or_else(|| panic!("too many parentheses after {form}"));
                    if depth == 0 {
                        forms.push(std::mem::take(&mut form).trim().to_owned());
                    }
                }
                _ => {}
            }
        }
        assert!(depth == 0 && form.trim().is_empty(), "not closed: {form}");
        forms
    }

    #[test]
    fn the_file_is_complete() {
        let text = mode();
        assert!(!text.contains('@'), "a list is missing");
        let forms = forms(&text);
        for beginning in [
            "(defconst equelle-builtins",
            "(defvar equelle-mode-syntax-table",
            "(define-derived-mode equelle-mode",
            "(provide 'equelle-mode)",
        ] {
            assert!(forms.iter().any(|form| form.starts_with(beginning)), "no form {beginning}");
        }
        // Every function that is named after the mode is defined.
        let defined = |name: &str| forms.iter().any(|form| form.split([' ', '\n']).nth(1) == Some(name));
        for form in &forms {
            for name in form.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).filter(|name| name.starts_with("equelle-")) {
                assert!(defined(name) || name.starts_with("equelle-mode"), "{name} is not defined");
            }
        }
    }

    #[test]
    fn text_is_quoted() {
        assert_eq!(literal("a \"b\" \\c"), r#""a \"b\" \\c""#);
    }
}
