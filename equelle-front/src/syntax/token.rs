//! Tokens.

use crate::source::Span;

/// A token with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token {
    /// Kind of token.
    pub kind: TokenKind,
    /// Its span.
    pub span: Span,
}

/// Kinds of token. Comments, blanks and continued line ends make no token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenKind {
    /// A lower-case letter, then letters, digits, underscores.
    Name,
    /// An upper-case letter, then letters, digits, underscores, no keyword: built-in functions and
    /// units.
    Builtin,
    /// A reserved word.
    Keyword(Keyword),
    /// A number; `integer` when it is made of digits only.
    Number {
        /// Its value, finite and not negative (0 after an error that has been reported).
        value: f64,
        /// Digits only, so it may be an index or a size.
        integer: bool,
    },
    /// A string literal, quotes included in the span.
    Text,
    /// `:`
    Colon,
    /// `=`
    Assign,
    /// `(`
    LeftParen,
    /// `)`
    RightParen,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `^`
    Caret,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `->`
    Arrow,
    /// `{`
    LeftBrace,
    /// `}`
    RightBrace,
    /// `,`
    Comma,
    /// `|`
    Bar,
    /// `?`
    Question,
    /// `[`
    LeftBracket,
    /// `]`
    RightBracket,
    /// End of a line that is not continued.
    Newline,
    /// Text that is no token; an error has been reported.
    Error,
    /// End of the text; always the last token.
    End,
}

macro_rules! keywords {
    ($($word:ident),* $(,)?) => {
        /// Reserved words, spelled as in the text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Keyword { $($word,)* }

        impl Keyword {
            /// All reserved words.
            pub const ALL: &'static [Keyword] = &[$(Keyword::$word,)*];

            /// As written.
            pub fn as_str(self) -> &'static str {
                match self { $(Keyword::$word => stringify!($word),)* }
            }

            /// The reserved word with exactly this spelling.
            pub fn from_word(word: &str) -> Option<Keyword> {
                match word { $(stringify!($word) => Some(Keyword::$word),)* _ => None }
            }
        }
    };
}

keywords! {
    Collection, Stencil, Sequence, Array, Of, On, Extend, Subset, Scalar, Vector, Bool, Cell, Face, Edge, Vertex, String,
    Function, And, Or, Not, Xor, True, False, For, In, Repeat, Until, While, Mutable, Import,
}

impl Keyword {
    /// The reserved word that differs from `word` in letter case only.
    pub fn from_word_ignoring_case(word: &str) -> Option<Keyword> {
        Keyword::ALL.iter().copied().find(|k| k.as_str().eq_ignore_ascii_case(word))
    }
}

impl TokenKind {
    /// The spelling of a token that has only one; `None` for names, numbers, strings, line ends and
    /// errors.
    pub fn symbol(self) -> Option<&'static str> {
        Some(match self {
            TokenKind::Keyword(word) => word.as_str(),
            TokenKind::Colon => ":",
            TokenKind::Assign => "=",
            TokenKind::LeftParen => "(",
            TokenKind::RightParen => ")",
            TokenKind::Plus => "+",
            TokenKind::Minus => "-",
            TokenKind::Star => "*",
            TokenKind::Slash => "/",
            TokenKind::Caret => "^",
            TokenKind::Less => "<",
            TokenKind::Greater => ">",
            TokenKind::LessEqual => "<=",
            TokenKind::GreaterEqual => ">=",
            TokenKind::Equal => "==",
            TokenKind::NotEqual => "!=",
            TokenKind::Arrow => "->",
            TokenKind::LeftBrace => "{",
            TokenKind::RightBrace => "}",
            TokenKind::Comma => ",",
            TokenKind::Bar => "|",
            TokenKind::Question => "?",
            TokenKind::LeftBracket => "[",
            TokenKind::RightBracket => "]",
            TokenKind::Name
            | TokenKind::Builtin
            | TokenKind::Number { .. }
            | TokenKind::Text
            | TokenKind::Newline
            | TokenKind::Error
            | TokenKind::End => return None,
        })
    }
}
