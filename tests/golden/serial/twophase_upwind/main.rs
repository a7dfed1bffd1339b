//! Picks the back-end and runs the program.
use equelle_runtime::simulator::{self, Backend};
fn main() -> std::process::ExitCode {
    simulator::run(
        twophase_upwind::program(),
        &[
            Backend {
                name: "serial",
                run: |session| backend_serial::runtime::run(
                    session,
                    twophase_upwind::simulate,
                ),
            },
        ],
    )
}
