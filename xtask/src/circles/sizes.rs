//! Limits on the methods and fields of a type.
//!
//! Methods are those of inherent `impl` blocks wherever they stand in the crate, without those for
//! tests. A trait is a type whose methods are those that it declares; so an `impl` of a trait
//! counts with the trait and not with the type, and neither does one that a macro or `derive`
//! writes. Fields are those of a `struct`.

use super::modules::Size;

/// Maximum number of methods of a type.
const MAX_METHODS: usize = 60;

/// Maximum number of fields of a type.
const MAX_FIELDS: usize = 15;

/// A type that is larger than the limits: its file, its name and its size.
pub(super) type Exception = (&'static str, &'static str, Size);

/// Types that are larger than the limits, with their size of today, which can only shrink.
pub(super) const EXCEPTIONS: [Exception; 4] = [
    ("backend-cuda/src/codegen/emit/writer.rs", "Writer", Size { methods: 93, fields: 29 }),
    ("backend-cuda/src/runtime/executor/arguments.rs", "EqGrid", Size { methods: 0, fields: 21 }),
    ("backend-serial/src/codegen/emit/writer.rs", "Writer", Size { methods: 100, fields: 33 }),
    ("equelle-random/src/generate/mod.rs", "Generator", Size { methods: 124, fields: 20 }),
];

/// A type or a number of the workspace that a developer has to change.
#[derive(Debug, PartialEq)]
pub(super) struct Complaint<'a> {
    /// Its file; the one with the number where that has none.
    pub file: &'a str,
    pub text: String,
}

/// Types that are too large, and exceptions that are not the size of today.
pub(super) fn complaints<'a>(types: impl Iterator<Item = ((&'a str, &'a str), Size)>, exceptions: &[Exception]) -> Vec<Complaint<'a>> {
    let mut complaints = Vec::new();
    let mut used = vec![false; exceptions.len()];
    for ((file, name), size) in types {
        let known = exceptions.iter().position(|(of, exception, _)| (*of, *exception) == (file, name));
        known.iter().for_each(|&index| used[index] = true);
        let allowed = known.map(|index| exceptions[index].2);
        let Size { methods, fields } = size;
        let is_within = methods <= MAX_METHODS && fields <= MAX_FIELDS;
        let text = match allowed {
            None if is_within => continue,
            Some(allowed) if allowed == size && !is_within => continue,
            Some(_) if is_within => format!("{name} of {file} is within the limits: take it out of the exceptions of `sizes.rs`"),
            Some(allowed) if methods <= allowed.methods && fields <= allowed.fields => {
                format!("{name} of {file} has {methods} methods and {fields} fields: write the smaller number into `sizes.rs`")
            }
            None | Some(_) => {
                let (most_methods, most_fields) = allowed.map_or((MAX_METHODS, MAX_FIELDS), |allowed| (allowed.methods, allowed.fields));
                format!("{name} of {file} has {methods} methods and {fields} fields, and {most_methods} and {most_fields} are allowed")
            }
        };
        complaints.push(Complaint { file, text });
    }
    let gone = exceptions.iter().zip(used).filter(|(_, used)| !used);
    complaints
        .extend(gone.map(|((file, name, _), _)| Complaint { file, text: format!("{file} has no type {name}: take it out of `sizes.rs`") }));
    complaints
}

/// The complaint about the number of circles of two modules, if it is not the one written down.
pub(super) fn changed(pairs: usize, written: usize) -> Option<Complaint<'static>> {
    let file = "xtask/src/circles/mod.rs";
    let text = match pairs.cmp(&written) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Less => format!("{pairs} circles of two modules are left: write the smaller number into {file}"),
        std::cmp::Ordering::Greater => format!("{pairs} circles of two modules, and {written} are allowed"),
    };
    Some(Complaint { file, text })
}
