//! Picks the back-end and runs the program.
use equelle_runtime::launch::{Backend, launch};
fn main() -> std::process::ExitCode {
    launch(
        heat_dirichlet::program(),
        &[
            Backend {
                name: "serial",
                run: |session| backend_serial::runtime::run(
                    session,
                    heat_dirichlet::simulate,
                ),
            },
        ],
    )
}
