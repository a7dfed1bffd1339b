//! The library: texts in Equelle that are part of the compiler. A program imports them by a name
//! that begins with [`PREFIX`].

/// Prefix that tells imports of the library from files.
pub const PREFIX: &str = "equelle:";

/// Name and text of each, sorted.
const TEXTS: &[(&str, &str)] = &[
    ("equelle:boundaries", include_str!("boundaries.equelle")),
    ("equelle:derivatives", include_str!("derivatives.equelle")),
    ("equelle:gradients", include_str!("gradients.equelle")),
    ("equelle:limiters", include_str!("limiters.equelle")),
    ("equelle:shallow", include_str!("shallow.equelle")),
    ("equelle:time", include_str!("time.equelle")),
    ("equelle:twophase", include_str!("twophase.equelle")),
    ("equelle:wells", include_str!("wells.equelle")),
];

/// True if a path names a text of the library, there or not.
pub fn is_library(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// A text of the library.
pub fn text(path: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// The names of all texts.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}
