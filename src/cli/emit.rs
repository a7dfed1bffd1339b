//! `equellec emit`

use equelle_front::backend::Backend;
use equelle_front::{ir, syntax};

use super::args::{Emit, EmitArgs};
use super::compile::compile;
use crate::console::{Console, MessageFormat};
use equelle::cache::Cache;
use equelle::compiled::Compiled;
use equelle::failure::Failure;
use equelle::package::{self, Package};
use equelle::pipeline;
use equelle::registry::{self, Registry};
use equelle::report;

/// Prints a stage of compilation.
pub(super) fn emit(backends: Registry, args: &EmitArgs, console: &Console) -> Result<(), Failure> {
    let default = registry::default(backends);
    let compile = |backend: &'static dyn Backend| compile(&args.file, &args.program, &[backend], console);
    let text = match &args.what {
        Emit::Ast => syntax::print(&pipeline::parse(&pipeline::read(&args.file)?, console)?),
        Emit::Ir => ir::text::print(compile(default)?.verified().module()),
        Emit::IrAfter(pass) => {
            let (source, options) = (pipeline::read(&args.file)?, args.program.options(&[default]));
            ir::text::print(pipeline::compile_until(&source, options, pass, console)?.module())
        }
        Emit::Code(backend) => sections(&compile(*backend)?.package(&Cache::open()?)?, backend.listing().1),
        Emit::Manifest => package::manifest(compile(default)?.verified()),
        Emit::Report => {
            let compiled = Compiled::new(pipeline::read(&args.file)?, args.program.options(&[default]), &[default], console)?;
            let found = compiled.report()?;
            match console.format {
                MessageFormat::Human | MessageFormat::Short => report::text(&found, compiled.source()),
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
