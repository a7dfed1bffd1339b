//! Expressions as CUDA C++ text that knows whether it needs parentheses.

use std::fmt;

/// An expression. Displayed as an operand: compound ones in parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::codegen) struct Text {
    bare: String,
    form: TextForm,
}

/// Precedence of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextForm {
    /// The name of one value.
    Name,
    /// A literal, a call, an element.
    Atom,
    /// An operation.
    Compound,
}

impl Text {
    pub(in crate::codegen) fn name(text: impl Into<String>) -> Self {
        Text { bare: text.into(), form: TextForm::Name }
    }

    pub(in crate::codegen) fn atom(text: impl Into<String>) -> Self {
        Text { bare: text.into(), form: TextForm::Atom }
    }

    pub(in crate::codegen) fn compound(text: impl Into<String>) -> Self {
        Text { bare: text.into(), form: TextForm::Compound }
    }

    /// As a whole expression: an argument, an index, the right side of a definition.
    pub(in crate::codegen) fn bare(&self) -> &str {
        &self.bare
    }

    /// True if it is the name of a value, which costs nothing to repeat.
    pub(in crate::codegen) fn is_name(&self) -> bool {
        self.form == TextForm::Name
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form {
            TextForm::Name | TextForm::Atom => f.write_str(&self.bare),
            TextForm::Compound => write!(f, "({})", self.bare),
        }
    }
}
