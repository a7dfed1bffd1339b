//! Picks the back-end and runs the program.
use equelle_runtime::simulator::{self, Backend};
fn main() -> std::process::ExitCode {
    simulator::run(
        cells_wells::program(),
        &[
            Backend {
                name: "serial",
                run: |session| backend_serial::runtime::run(
                    session,
                    cells_wells::simulate,
                ),
            },
        ],
    )
}
