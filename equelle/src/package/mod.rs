//! Verified IR to the text of a cargo package (docs/internals/generated-code.md).
//!
//! [`host`] writes the program (`src/lib.rs`), [`kernels`] the file that names no target
//! (`src/kernels.rs`), the back-ends their own files, [`manifest()`] what the program reads and
//! writes. The same input gives the same bytes.

mod cargo_toml;
mod host;
mod kernels;
mod manifest;
mod options;
mod ranks;
mod rust;
mod sets;
mod source;
pub mod vendor;
pub mod written;

use equelle_front::backend::{Backend, BackendError, Namer, snake_case};
use equelle_front::ir::interface::{Data, DataKind, ExpectedUnit};
use equelle_front::ir::{Module, Numbers, Precision, Rounding};
use equelle_front::types::{Basic, Dimension};
use equelle_front::verify::Verified;
use equelle_runtime::{InputKind, OutputKind, TableColumns};
use quote::quote;

pub use options::PackageOptions;
use ranks::PackagedProgram;
use source::{imported, newton_place, source_path};
pub(crate) use source::{retries, solves};

/// A cargo package as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Name of the package and of its program.
    pub name: String,
    /// Path in the package (with `/`) and text, sorted by path.
    pub files: Vec<(String, String)>,
    /// True if the program solves equations with Newton's method.
    pub implicit: bool,
}

/// Writes the package of a program.
///
/// # Errors
/// If the program uses a construct that the runtime trait or a back-end cannot express.
pub fn generate(verified: &Verified, options: &PackageOptions) -> Result<Package, BackendError> {
    let program = PackagedProgram::new(verified)?;
    let verified = &program.verified;
    let module = verified.module();
    let library = library_name(&module.name, options.backends);
    let name = package_name(&library);
    let implicit = newton_place(module).is_some();
    let mut files = vec![
        ("Cargo.toml".to_owned(), cargo_toml::text(&name, &library, implicit, options)),
        ("manifest.json".to_owned(), manifest::text(module)),
        ("src/main.rs".to_owned(), main_text(&library, module, options)?),
        ("src/lib.rs".to_owned(), host::text(module, &program.ranks, options)?),
    ];
    if let Some(path) = source_path(module) {
        files.push((path, module.source.text().to_owned()));
    }
    files.extend(imported(module).into_iter().map(|(_, path, text)| (path, text.to_owned())));
    if !module.kernels.is_empty() {
        files.push(("src/kernels.rs".to_owned(), kernels::text(module, &program.halo_layers)?));
        for backend in options.backends {
            files.extend(backend.files(verified)?);
        }
    }
    files.sort();
    Ok(Package { name, files, implicit })
}

/// Name of the package of a program, and of the program that cargo builds.
pub fn name(verified: &Verified, backends: &[&dyn Backend]) -> String {
    package_name(&library_name(&verified.module().name, backends))
}

/// `manifest.json` of a program: what it reads and writes.
pub fn manifest(verified: &Verified) -> String {
    manifest::text(verified.module())
}

/// The kind of an input, as the runtime knows it; that of a table has these columns.
pub(crate) fn input_kind(input: &Data, columns: TableColumns) -> InputKind {
    match input.kind {
        DataKind::Scalar => InputKind::Scalar,
        DataKind::Collection => match input.ty.basic {
            Basic::Vector => InputKind::Vectors,
            Basic::Bool => InputKind::Bools,
            Basic::Scalar | Basic::Text | Basic::Table | Basic::Axis(_) | Basic::Entity(_) => InputKind::Collection,
        },
        DataKind::Domain => InputKind::Domain,
        DataKind::Sequence => InputKind::Sequence,
        DataKind::Table => InputKind::Table(columns),
    }
}

/// The runtime's name of the kind of an output that is no text.
pub(crate) fn output_kind(module: &Module, output: &Data) -> OutputKind {
    let is_vector = match output.ty.basic {
        Basic::Vector => true,
        Basic::Scalar | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_) | Basic::Entity(_) => false,
    };
    match (output.ty.mapping(), is_vector) {
        (None, false) => OutputKind::Number,
        (None, true) => OutputKind::Vector,
        (Some(set), false) => OutputKind::Numbers(sets::entity_kind(module.sets.get(set).kind)),
        (Some(set), true) => OutputKind::Vectors(sets::entity_kind(module.sets.get(set).kind)),
    }
}

/// The unit of an input, for people.
pub(crate) fn unit_text(module: &Module, unit: &ExpectedUnit) -> String {
    manifest::unit_text(module, unit)
}

/// The unit of an output: of the quantity that the program divides it by `Bar`, `2 Hour`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UnitOfOutput {
    /// It stands behind the name in files.
    Divided(String),
    /// The SI unit of its dimension.
    Si(String),
}

/// The unit of an output; `None` without a dimension.
pub(crate) fn output_unit(module: &Module, output: &Data) -> Option<UnitOfOutput> {
    match output.unit {
        Some(unit) => Some(UnitOfOutput::Divided(unit_text(module, &unit).replace(['[', ']'], ""))),
        None => symbol(output.dim).map(UnitOfOutput::Si),
    }
}

/// The SI unit of a dimension; `None` without one.
pub(crate) fn symbol(dimension: Dimension) -> Option<String> {
    Some(dimension.symbol()).filter(|symbol| !symbol.is_empty())
}

/// The name of the package, by that of its library.
fn package_name(library: &str) -> String {
    library.replace('_', "-").trim_matches('-').to_owned()
}

/// A crate name near to the stem of the Equelle file that hides neither a word of Rust nor a crate
/// that the program uses.
fn library_name(stem: &str, backends: &[&dyn Backend]) -> String {
    let mut namer = Namer::rust();
    namer.reserve(backends.iter().map(|backend| backend.runtime_crate().replace('-', "_")));
    namer.reserve(["core", "std", "alloc", "proc_macro", "test", "equelle_runtime", "build", "deps", "examples"]);
    let name = namer.fresh(snake_case(stem).trim_matches('_'));
    // Cargo wants a letter in front.
    if name.starts_with('_') { format!("program{name}") } else { name }
}

/// Precision and rounding for the summary of a run, unless that is strict double precision.
pub(crate) fn mode(numbers: Numbers) -> Option<String> {
    let precision = (numbers.precision != Precision::default()).then(|| numbers.precision.name().to_owned());
    let rounding = (numbers.rounding != Rounding::default()).then(|| format!("fp {}", numbers.rounding.name()));
    let words: Vec<String> = precision.into_iter().chain(rounding).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// `src/main.rs`
fn main_text(library: &str, module: &Module, options: &PackageOptions) -> Result<String, BackendError> {
    let (numbers, storage) = (module.numbers, &module.storage);
    let library = rust::ident(library);
    let backends = options.backends.iter().map(|backend| {
        let name = backend.name();
        let runtime = rust::ident(&backend.runtime_crate().replace('-', "_"));
        let session = match mode(numbers) {
            None => quote! { session },
            Some(mode) => quote! { session.in_mode(#mode) },
        };
        let session = match storage.text() {
            text if text.is_empty() => session,
            text => quote! { #session.with_storage(#text) },
        };
        let run = if backend.compiles_at_start() && !module.kernels.is_empty() {
            let kernels = rust::ident(&format!("kernels_{name}"));
            let real = match numbers.precision {
                Precision::Double => quote! { f64 },
                Precision::Single => quote! { f32 },
            };
            quote! { run_compiling::<#real>(#session, &[#library::#kernels::KERNELS], #library::simulate) }
        } else {
            match numbers.precision {
                Precision::Double => quote! { run(#session, #library::simulate) },
                Precision::Single => quote! { run_with_precision::<f32>(#session, #library::simulate) },
            }
        };
        quote! { Backend { name: #name, run: |session| #runtime::runtime::#run } }
    });
    rust::format(quote! {
        //! Picks the back-end and runs the program.

        use equelle_runtime::simulator::{self, Backend};

        fn main() -> std::process::ExitCode {
            simulator::run(#library::program(), &[#(#backends),*])
        }
    })
}
