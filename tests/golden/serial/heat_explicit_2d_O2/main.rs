//! Picks the back-end and runs the program.
use equelle_runtime::simulator::{self, Backend};
fn main() -> std::process::ExitCode {
    simulator::run(
        heat_explicit_2d::program(),
        &[
            Backend {
                name: "serial",
                run: |session| backend_serial::runtime::run(
                    session,
                    heat_explicit_2d::simulate,
                ),
            },
        ],
    )
}
