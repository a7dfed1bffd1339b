//! `equellec emit`

use equelle_front::backend::Backend;
use equelle_front::{ir, syntax};

use super::args::{Emit, EmitArgs};
use super::compile::compile;
use crate::cache::Cache;
use crate::console::{Console, MessageFormat};
use crate::failure::Failure;
use crate::package::{self, Package};
use crate::pipeline;
use crate::registry::{self, Registry};
use crate::report;

/// Prints a stage of compilation.
pub(super) fn emit(backends: Registry, args: &EmitArgs, console: &Console) -> Result<(), Failure> {
    let source = pipeline::read(&args.file)?;
    let default = registry::default(backends);
    let (program, options) = (&args.program, args.program.options(&[default]));
    let compile = |backend: &'static dyn Backend| compile(&source, program, &[backend], console);
    let generated = |backend: &'static dyn Backend| -> Result<Package, Failure> {
        let verified = compile(backend)?;
        pipeline::package(&source, &verified, &[backend], Cache::open()?.crates())
    };
    let text = match &args.what {
        Emit::Ast => syntax::print(&pipeline::parse(&source, console)?),
        Emit::Ir => ir::text::print(compile(default)?.module()),
        Emit::IrAfter(pass) => ir::text::print(pipeline::compile_until(&source, options, pass, console)?.module()),
        Emit::Code(backend) => sections(&generated(*backend)?, backend.listing().1),
        Emit::Manifest => package::manifest(&compile(default)?),
        Emit::Report => {
            let (verified, mut found) = pipeline::compile_with_report(&source, options, console)?;
            pipeline::add_forms(&mut found, &source, &verified, &[default])?;
            match console.format {
                MessageFormat::Human | MessageFormat::Short => report::text(&found, &source),
                MessageFormat::Json => format!("{:#}\n", report::json(&found)),
            }
        }
    };
    super::print(&text)
}

/// The files whose names end so; with a comment that names the file where there are several.
fn sections(package: &Package, ending: &str) -> String {
    let files: Vec<_> = package.files.iter().filter(|(name, _)| name.ends_with(ending) && name != "src/main.rs").collect();
    match files[..] {
        [] => "// no kernels\n".to_owned(),
        [(_, text)] => text.clone(),
        _ => files.iter().map(|(name, text)| format!("// {name}\n\n{text}")).collect::<Vec<_>>().join("\n"),
    }
}
