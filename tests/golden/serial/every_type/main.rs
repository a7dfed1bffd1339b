//! Picks the back-end and runs the program.
use equelle_runtime::launch::{Backend, launch};
fn main() -> std::process::ExitCode {
    launch(
        every_type::program(),
        &[
            Backend {
                name: "serial",
                run: |session| backend_serial::runtime::run(
                    session,
                    every_type::simulate,
                ),
            },
        ],
    )
}
