//! Shared parts of the back-ends at compile time: the trait [`Backend`], names in generated text,
//! and the marks that become comments.
//!
//! A back-end turns a verified module into the files of its half of the generated package
//! (docs/internals/generated-code.md). All of them agree on [`KernelNames`] and [`Handle`], because
//! the file `kernels.rs`, which names no target, is written from the same two.

pub mod branches;
pub mod faces;
pub mod forms;
pub mod inside;
pub mod loop_invariant;
pub mod offset_steps;
mod opposites;
pub mod order;
pub mod stencil;
pub mod structural;
pub mod tabulated;
pub mod usage;

use std::collections::BTreeSet;
use std::fmt::Write as _;

pub use crate::ir::visit;

use crate::cost::CostModel;
use crate::ir::{Kernel, Module};
use crate::source::Span;
use crate::types::{Basic, Shape, Type};
use crate::verify::Verified;
use forms::ChosenForm;

/// Numbers that the general body of a kernel keeps while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scratch {
    /// For each face, in one buffer.
    pub of_faces: u32,
    /// For each cell, in a buffer each.
    pub of_cells: u32,
}

impl Scratch {
    /// As much as either needs.
    #[must_use]
    pub fn most(self, other: Scratch) -> Scratch {
        Scratch { of_faces: self.of_faces.max(other.of_faces), of_cells: self.of_cells.max(other.of_cells) }
    }
}

/// Device on which the programs of a back-end compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// On the cores of the machine.
    Cores,
    /// On a GPU.
    Gpu,
}

/// Findings of a back-end on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Availability {
    /// True if programs can run here. Building them needs no more than cargo.
    pub runs: bool,
    /// Lines that say what was looked for and where it is.
    pub found: Vec<String>,
}

/// A target that programs can be compiled for. The driver knows a back-end only by this trait.
pub trait Backend: std::fmt::Debug + Sync {
    /// Name on the command line and in file names: `serial`.
    fn name(&self) -> &'static str;

    /// Compilation target, as a list of back-ends names it: `NVIDIA GPUs`.
    fn description(&self) -> &'static str;

    /// The crate that generated programs depend on.
    fn runtime_crate(&self) -> String {
        format!("backend-{}", self.name())
    }

    /// The stage of `equellec emit` that prints its code, and how the names of those files end.
    fn listing(&self) -> (&'static str, &'static str);

    /// Device on which its programs compute.
    fn device_kind(&self) -> DeviceKind;

    /// Looks at this machine, for `equellec doctor`.
    fn availability(&self) -> Availability {
        Availability { runs: true, found: Vec::new() }
    }

    /// Files that the back-end adds to a package, as path in the package and text.
    ///
    /// # Errors
    /// If the program uses a construct that the back-end cannot express.
    fn files(&self, module: &Verified) -> Result<Vec<(String, String)>, BackendError>;

    /// True if the module of a program's kernels has a constant `KERNELS`, which is compiled when
    /// the program starts.
    fn compiles_at_start(&self) -> bool {
        false
    }

    /// Returns the costs of operations there. They tell the passes what to store, before code is
    /// generated.
    fn costs(&self) -> CostModel;

    /// The loops of kernels on Cartesian grids, by kernel. Costs as much as [`Backend::files`].
    ///
    /// # Errors
    /// As [`Backend::files`].
    fn forms(&self, module: &Verified) -> Result<Vec<ChosenForm>, BackendError>;

    /// Returns the buffers that the general bodies of kernels need while they run, beside arguments
    /// and results: by kernel, none for those past the end of the list.
    fn scratch(&self, module: &Module) -> Vec<Scratch> {
        let _ = module;
        Vec::new()
    }
}

/// Back-ends of the same name are the same.
impl PartialEq for dyn Backend + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// A construct that a back-end, or the runtime contract, cannot express.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendError {
    /// One sentence.
    pub message: String,
    /// The construct.
    pub span: Span,
}

impl BackendError {
    /// An error about a place.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        BackendError { message: message.into(), span }
    }

    /// An error of the compiler itself, never of the user.
    pub fn internal(span: Span, message: impl Into<String>) -> Self {
        BackendError { message: format!("internal error: {}", message.into()), span }
    }
}

impl std::fmt::Display for BackendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BackendError {}

/// Associated type of the runtime trait that holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    /// `Scalar`
    Scalar,
    /// `Bool`
    Bool,
    /// `Vector`
    Vector,
    /// `ScalarCollection`
    ScalarCollection,
    /// `VectorCollection`
    VectorCollection,
    /// `BoolCollection`
    BoolCollection,
    /// `EntityCollection`
    EntityCollection,
    /// `Domain`
    Domain,
    /// `Sequence`
    Sequence,
    /// `Table`
    Table,
}

impl Handle {
    /// The handle of values of a type; `None` where the runtime trait has none (single entities,
    /// Text).
    pub fn of(ty: &Type) -> Option<Handle> {
        match (ty.shape, ty.basic) {
            (Shape::Single, Basic::Scalar) => Some(Handle::Scalar),
            (Shape::Single, Basic::Bool) => Some(Handle::Bool),
            (Shape::Single, Basic::Vector) => Some(Handle::Vector),
            (Shape::Collection(_), Basic::Scalar) => Some(Handle::ScalarCollection),
            (Shape::Collection(_), Basic::Vector) => Some(Handle::VectorCollection),
            (Shape::Collection(_), Basic::Bool) => Some(Handle::BoolCollection),
            (Shape::Collection(_), Basic::Entity(_)) => Some(Handle::EntityCollection),
            (Shape::Domain(_), Basic::Entity(_)) => Some(Handle::Domain),
            (Shape::Sequence, Basic::Scalar) => Some(Handle::Sequence),
            (Shape::Single, Basic::Table) => Some(Handle::Table),
            (Shape::Single, Basic::Entity(_) | Basic::Text | Basic::Axis(_))
            | (Shape::Collection(_), Basic::Text | Basic::Table | Basic::Axis(_))
            | (Shape::Domain(_), Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_))
            | (Shape::Sequence, Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_)) => None,
        }
    }

    /// Name of the associated type.
    pub fn name(self) -> &'static str {
        match self {
            Handle::Scalar => "Scalar",
            Handle::Bool => "Bool",
            Handle::Vector => "Vector",
            Handle::ScalarCollection => "ScalarCollection",
            Handle::VectorCollection => "VectorCollection",
            Handle::BoolCollection => "BoolCollection",
            Handle::EntityCollection => "EntityCollection",
            Handle::Domain => "Domain",
            Handle::Sequence => "Sequence",
            Handle::Table => "Table",
        }
    }
}

/// Names that a kernel has in generated Rust text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelNames {
    /// Method of the trait `Kernels`: `compute_u`.
    pub method: String,
    /// Argument struct: `ComputeU`.
    pub arguments: String,
    /// Constant with the `KernelInfo`: `COMPUTE_U`.
    pub info: String,
    /// Field of the argument struct, one per parameter.
    pub params: Vec<String>,
    /// One per result.
    pub results: Vec<String>,
}

impl KernelNames {
    /// Names of every kernel of a module, in order.
    pub fn for_module(module: &Module) -> Vec<KernelNames> {
        let mut methods = Namer::rust();
        // Types and constants live in one file; a struct and a constant may share a name only in
        // theory (`A` and `A`), and then the Namer numbers one.
        let mut items = Namer::rust();
        items.reserve(["Kernels", "KernelInfo", "KernelBytes", "EquelleRuntime", "Error"]);
        items.reserve(["CanonicalSet", "EntityKind", "Extent"]);
        module.kernels.iter().map(|kernel| Self::for_kernel(kernel, &mut methods, &mut items)).collect()
    }

    fn for_kernel(kernel: &Kernel, methods: &mut Namer, items: &mut Namer) -> KernelNames {
        let method = methods.fresh(&snake_case(&kernel.name));
        let arguments = items.fresh(&camel_case(&method));
        let info = items.fresh(&method.to_uppercase());
        let mut fields = Namer::rust();
        let params = kernel.params.iter().map(|p| fields.fresh(&p.name)).collect();
        let results = kernel.results.iter().map(|r| fields.fresh(&r.name)).collect();
        KernelNames { method, arguments, info, params, results }
    }
}

/// Hands out names that clash neither with each other nor with reserved words.
#[derive(Clone, Debug, Default)]
pub struct Namer {
    used: BTreeSet<String>,
}

/// Words that cannot be identifiers in Rust 2024 (`_` and weak keywords included where they would
/// confuse a reader).
const RUST_WORDS: [&str; 58] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override",
    "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof", "union", "unsafe",
    "unsized", "use", "virtual", "where", "while", "yield", // Not keywords, but the prelude would be shadowed.
    "Ok", "Err", "Some", "None", "drop",
];

impl Namer {
    /// Knows the reserved words of Rust.
    pub fn rust() -> Self {
        let mut namer = Namer::default();
        namer.reserve(RUST_WORDS);
        namer
    }

    /// Takes names out of circulation.
    pub fn reserve<S: AsRef<str>>(&mut self, names: impl IntoIterator<Item = S>) {
        self.used.extend(names.into_iter().map(|n| n.as_ref().to_owned()));
    }

    /// The wanted name if it is free, else with the first free number from 2 appended: `flux`,
    /// `flux_2`. Characters that no identifier can have become `_`.
    pub fn fresh(&mut self, wanted: &str) -> String {
        self.fresh_with(wanted, &[])
    }

    /// The same for a name that begins others, which end so: all of them are free, and taken.
    pub fn fresh_with(&mut self, wanted: &str, endings: &[&str]) -> String {
        let base = identifier(wanted);
        let mut name = base.clone();
        let mut number = 2;
        loop {
            let mut all: Vec<String> = endings.iter().map(|ending| format!("{name}{ending}")).collect();
            all.push(name.clone());
            if all.iter().all(|name| !self.used.contains(name)) {
                self.used.extend(all);
                return name;
            }
            name = if base.ends_with('_') { format!("{base}{number}") } else { format!("{base}_{number}") };
            number += 1;
        }
    }
}

/// The nearest identifier: `value` for nothing, `_` for what an identifier cannot hold, `_` before
/// a leading digit.
fn identifier(wanted: &str) -> String {
    let mut name: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if name.chars().all(|c| c == '_') {
        name = "value".to_owned();
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

/// `BoundaryFaces`, `boundaryFaces` -> `boundary_faces`; capitals in a row stay together (`expU` ->
/// `exp_u`, `UVel` -> `uvel`).
pub fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            text.push('_');
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// `compute_u` -> `ComputeU`.
pub fn camel_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut start = true;
    for c in name.chars() {
        if c == '_' {
            start = true;
        } else {
            text.push(if start { c.to_ascii_uppercase() } else { c });
            start = false;
        }
    }
    text
}

/// Name of the macro whose statements `mark!("text");` stand for a comment line until
/// [`restore_comments`] writes it. Pretty-printers work on token trees and would drop a real
/// comment.
pub const COMMENT_MARK: &str = "__comment";
/// Name of the macro whose statement `mark!();` stands for an empty line until [`restore_comments`]
/// writes it.
pub const BLANK_MARK: &str = "__blank";

/// Replaces the lines that hold nothing but a mark by the comment or empty line that it stands for.
/// Lines that are not marks stay as they are.
pub fn restore_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        // A mark that is too long for a line has its text on one of its own.
        if code.strip_prefix(COMMENT_MARK) == Some("!(") {
            if let Some(comment) = lines.next().map(str::trim).and_then(|text| mark_text(&format!("{COMMENT_MARK}!({text});"))) {
                let _ = writeln!(out, "{}", format!("{}// {comment}", &line[..line.len() - code.len()]).trim_end());
            }
            lines.next();
            continue;
        }
        let indent = &line[..line.len() - code.len()];
        if code == format!("{BLANK_MARK}!();") {
            out.push('\n');
        } else if let Some(comment) = mark_text(code) {
            let _ = writeln!(out, "{}", format!("{indent}// {comment}").trim_end());
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The text in `__comment!("text");`, with the escapes of a Rust string literal undone.
fn mark_text(code: &str) -> Option<String> {
    let literal = code.strip_prefix(COMMENT_MARK)?.strip_prefix("!(\"")?.strip_suffix("\");")?;
    let mut text = String::with_capacity(literal.len());
    let mut chars = literal.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('t')) => text.push(' '),
            ('\\', Some('n' | 'r' | '0')) => text.push(' '),
            ('\\', Some('u')) => {
                let code: String = chars.by_ref().skip_while(|&c| c == '{').take_while(|&c| c != '}').collect();
                text.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32).filter(|c| !c.is_control()));
            }
            ('\\', Some(other)) => text.push(other),
            (c, _) => text.push(c),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_avoid_keywords_and_each_other() {
        let mut namer = Namer::rust();
        assert_eq!(namer.fresh("flux"), "flux");
        assert_eq!(namer.fresh("flux"), "flux_2");
        assert_eq!(namer.fresh("flux_2"), "flux_2_2");
        assert_eq!(namer.fresh("type"), "type_2");
        assert_eq!(namer.fresh(""), "value");
        assert_eq!(namer.fresh("2nd"), "_2nd");
        assert_eq!(namer.fresh("a[0]"), "a_0_");
    }

    #[test]
    fn every_reserved_word_is_avoided() {
        for word in RUST_WORDS {
            assert_ne!(Namer::rust().fresh(word), word);
        }
    }

    #[test]
    fn cases() {
        assert_eq!(snake_case("BoundaryFaces"), "boundary_faces");
        assert_eq!(snake_case("expU"), "exp_u");
        assert_eq!(snake_case("u2Next"), "u2_next");
        assert_eq!(camel_case("compute_u"), "ComputeU");
        assert_eq!(camel_case("fused_u0_2"), "FusedU02");
    }

    #[test]
    fn marks_become_comments_and_other_lines_stay() {
        let text =
            "fn f() {\n    __comment!(\"a.equelle:1: s = \\\"x\\\" \\\\ y\\u{e9}\");\n    __blank!();\n    let s = \"__comment!(\";\n}\n";
        assert_eq!(restore_comments(text), "fn f() {\n    // a.equelle:1: s = \"x\" \\ y\u{e9}\n\n    let s = \"__comment!(\";\n}\n");
        assert_eq!(restore_comments("    __comment!(\n        \"long\"\n    );\n    f();\n"), "    // long\n    f();\n");
    }
}
