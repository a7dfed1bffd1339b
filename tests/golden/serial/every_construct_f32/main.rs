//! Picks the back-end and runs the program.
use equelle_runtime::simulator::{self, Backend};
fn main() -> std::process::ExitCode {
    simulator::run(
        every_construct::program(),
        &[
            Backend {
                name: "serial",
                run: |session| backend_serial::runtime::run_with_precision::<
                    f32,
                >(session.in_mode("f32"), every_construct::simulate),
            },
        ],
    )
}
