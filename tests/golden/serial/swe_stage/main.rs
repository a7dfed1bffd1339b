//! Picks the back-end and runs the program.
use equelle_runtime::launch::{Backend, launch};
fn main() -> std::process::ExitCode {
    launch(
        swe_stage::program(),
        &[
            Backend {
                name: "serial",
                run: |session| backend_serial::runtime::run(session, swe_stage::simulate),
            },
        ],
    )
}
