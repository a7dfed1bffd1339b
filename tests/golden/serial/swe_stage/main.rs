//! Picks the back-end and runs the program.
use equelle_runtime::simulator::{self, Backend};
fn main() -> std::process::ExitCode {
    simulator::run(
        swe_stage::program(),
        &[
            Backend {
                name: "serial",
                run: |session| backend_serial::runtime::run(session, swe_stage::simulate),
            },
        ],
    )
}
