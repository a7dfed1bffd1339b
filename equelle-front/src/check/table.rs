//! The built-in functions for those who document and complete them: one list, made from the rows
//! that the checker uses.

use crate::check::builtins::{self, Row, Target, Word};
use crate::types::{CanonicalSet, EntityKind, Extent};

/// Category of a built-in in the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// The twelve canonical sets, such as `AllCells()`.
    Domains,
    /// Topology and geometry of the grid.
    Geometry,
    /// Discrete operators.
    Operators,
    /// Functions of numbers and vectors, element by element.
    Mathematics,
    /// One value from a collection.
    Reductions,
    /// Input of a program.
    Input,
    /// Output of a program.
    Output,
    /// Nonlinear equations.
    Solvers,
}

impl Category {
    /// All categories, in the order of the reference.
    pub const ALL: [Category; 8] = [
        Category::Domains,
        Category::Geometry,
        Category::Operators,
        Category::Mathematics,
        Category::Reductions,
        Category::Input,
        Category::Output,
        Category::Solvers,
    ];

    /// The heading of its part of the reference.
    pub fn title(self) -> &'static str {
        match self {
            Category::Domains => "Domains",
            Category::Geometry => "Topology and geometry",
            Category::Operators => "Discrete operators",
            Category::Mathematics => "Mathematics",
            Category::Reductions => "Reductions",
            Category::Input => "Input",
            Category::Output => "Output",
            Category::Solvers => "Solvers",
        }
    }
}

/// A parameter of a built-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, for documentation: calls give arguments by position.
    pub name: &'static str,
    /// The required argument, after "must be": `a Collection Of Scalar`.
    pub expected: String,
}

/// A built-in function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltinInfo {
    /// Name as written in programs.
    pub name: String,
    /// Its category in the reference.
    pub category: Category,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Type of the result; `None` if it has none, as `Output`.
    pub result: Option<String>,
    /// Dimension of the result; `None` if it has no numbers.
    pub dimension: Option<&'static str>,
    /// Its description, in a sentence or two of Markdown.
    pub doc: String,
}

impl BuiltinInfo {
    /// A call with the names of the parameters: `Dot(v1, v2)`.
    pub fn signature(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
        format!("{}({})", self.name, names.join(", "))
    }
}

/// Every built-in function, by category, and in the order of the checker's table within one.
pub fn builtins() -> Vec<BuiltinInfo> {
    let mut all: Vec<BuiltinInfo> = CanonicalSet::all().map(domain).chain(builtins::rows().map(entry)).collect();
    all.sort_by_key(|b| b.category);
    all
}

fn domain(set: CanonicalSet) -> BuiltinInfo {
    let kind = set.kind.name();
    let plural = CanonicalSet { extent: Extent::All, ..set }.name().trim_start_matches("All").to_lowercase();
    let doc = match set.extent {
        Extent::Interior if set.kind == EntityKind::Cell => "The cells without a face on the boundary of the grid.".to_owned(),
        Extent::Boundary if set.kind == EntityKind::Cell => "The cells with a face on the boundary of the grid.".to_owned(),
        Extent::Interior => format!("The {plural} that are not on the boundary of the grid."),
        Extent::Boundary => format!("The {plural} on the boundary of the grid."),
        Extent::All => format!("All {plural} of the grid."),
    };
    BuiltinInfo {
        name: set.name(),
        category: Category::Domains,
        parameters: Vec::new(),
        result: Some(format!("a domain: Collection Of {kind}")),
        dimension: None,
        doc,
    }
}

fn entry(row: &Row) -> BuiltinInfo {
    let (result, dimension) = match row.target {
        Target::Call { builtin: _, result, dimension } => (Some(result.described()), Some(dimension.described())),
        Target::Vector => {
            (Some("Vector, one per element of the arguments that are collections".to_owned()), Some("that of the components"))
        }
        Target::Power => {
            (Some("Scalar, one per element of the argument that is a collection".to_owned()), Some("that of `a`, to the power `b`"))
        }
        Target::Table2 => (Some("Table of two arguments".to_owned()), Some("none")),
        Target::Stencil(word) => match word {
            Word::Axis(_) => (Some("an index variable".to_owned()), Some("none")),
            Word::Width => (Some("Scalar".to_owned()), Some("a length")),
            Word::Extent => (Some("Scalar".to_owned()), Some("none")),
            Word::Index => (Some("Collection Of Scalar On AllCells()".to_owned()), Some("none")),
            Word::Even => (Some("Collection Of Bool On AllCells()".to_owned()), Some("none")),
            Word::Halo => (Some("as `u`".to_owned()), Some("that of `u`")),
        },
        Target::Output => (None, None),
        Target::NewtonSolve => (Some("Collection Of Scalar, as the guess".to_owned()), Some("that of the guess")),
        Target::NewtonSolveSystem => (Some("an Array with the type of each guess".to_owned()), Some("that of each guess")),
    };
    // A test makes sure that each row has its documentation.
    let (category, doc) = row.doc.unwrap_or((Category::Mathematics, ""));
    let parameters = row.params.iter().map(|p| Parameter { name: p.name, expected: p.rule.expected() }).collect();
    BuiltinInfo { name: row.name.to_owned(), category, parameters, result, dimension, doc: doc.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Keyword;
    use crate::units;

    #[test]
    fn every_row_is_documented() {
        let undocumented: Vec<&str> = builtins::rows().filter(|row| row.doc.is_none()).map(|row| row.name).collect();
        assert!(undocumented.is_empty(), "rows without `.doc(category, text)`: {undocumented:?}");
        for builtin in builtins() {
            let doc = &builtin.doc;
            assert!(doc.starts_with(char::is_uppercase) && doc.ends_with('.') && !doc.contains('\n'), "{}: {doc}", builtin.name);
        }
    }

    #[test]
    fn names_are_told_apart() {
        let all = builtins();
        assert_eq!(all.len(), 12 + builtins::rows().count());
        for (i, builtin) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|other| other.name != builtin.name), "{} twice", builtin.name);
            assert!(
                (Keyword::from_word(&builtin.name).is_none() || builtin.name == "Vector") && units::named(&builtin.name).is_none(),
                "{}",
                builtin.name
            );
        }
    }

    #[test]
    fn entries_say_what_the_checker_does() {
        let all = builtins();
        let named = |name: &str| all.iter().find(|b| b.name == name).unwrap_or_else(|| panic!("no {name}"));
        let gradient = named("Gradient");
        assert_eq!(gradient.signature(), "Gradient(values)");
        assert_eq!(gradient.parameters[0].expected, "a Collection Of Scalar On AllCells()");
        assert_eq!(gradient.result.as_deref(), Some("Collection Of Scalar On InteriorFaces()"));
        assert_eq!(named("BoundaryVertices").doc, "The vertices on the boundary of the grid.");
        assert_eq!(named("Output").result, None);
    }
}
