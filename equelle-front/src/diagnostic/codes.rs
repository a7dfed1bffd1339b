//! The table of diagnostic codes. A code once given keeps its meaning.
//! 00xx text and syntax, 01xx names, 02xx types and domains, 03xx units, 04xx functions, 05xx built-ins and solvers, 09xx limits; W for warnings.

use crate::diagnostic::Severity;

macro_rules! codes {
    ($($variant:ident = $code:literal, $severity:ident, $title:literal;)*) => {
        /// Stable identity of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Code { $(#[doc = $title] $variant,)* }

        impl Code {
            /// All codes in order.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// `E0042`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code,)* }
            }

            /// Severity of every diagnostic with this code.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)* }
            }

            /// A few words.
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title,)* }
            }
        }
    };
}

// Syntax codes are listed first, then those of the checker. Keep each family together.
codes! {
    UnexpectedCharacter = "E0001", Error, "unexpected character";
    MalformedNumber = "E0002", Error, "malformed number";
    NumberOutOfRange = "E0003", Error, "number out of range";
    UnterminatedString = "E0004", Error, "unterminated string";
    UnexpectedToken = "E0005", Error, "unexpected token";
}
