//! A hint at the end of a run that another device would be faster.

use std::path::Path;

/// The device of a back-end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeDevice {
    /// The cores of this machine.
    Cores,
    /// On a GPU.
    Gpu,
}

/// Number of cells from which a run on a GPU is faster than on all cores, with its start of 0.3 s:
/// an explicit program of some ten thousand steps (13,000 at 10,648 cells, 3,700 at 262,144),
/// implicit heat of 105 steps, two phases of 28 (docs/benchmarks/crossover.md;
/// `cargo xtask crossover` writes such tables). A single step is faster from 1,000 cells, of
/// implicit heat from 1,700. It varies with devices and programs; hints keep a factor of
/// [`CLEARLY`] away.
pub const CROSSOVER_CELLS: usize = 10_000;

/// Factor between the grid and the crossover for a hint.
const CLEARLY: usize = 4;

/// Least time on cores in seconds for a hint: a GPU needs about one until the end of its first
/// step.
const LONG: f64 = 10.0;

/// The hint for a run of this size and time, if any.
pub fn hint(place: ComputeDevice, cells: usize, seconds: f64, gpu_is_here: bool) -> Option<String> {
    match place {
        ComputeDevice::Gpu if cells < CROSSOVER_CELLS / CLEARLY => Some(format!(
            "hint: a grid of {cells} cells is small for a GPU: below about {CROSSOVER_CELLS} the cores are faster (`--backend serial`)"
        )),
        ComputeDevice::Cores if cells > CROSSOVER_CELLS * CLEARLY && seconds > LONG && gpu_is_here => Some(format!(
            "hint: this machine has a GPU, which is faster from about {CROSSOVER_CELLS} cells on: build with `--backend serial,cuda`, run with `--backend cuda`"
        )),
        ComputeDevice::Gpu | ComputeDevice::Cores => None,
    }
}

/// True if the driver of a GPU has created its device file here. Starts nothing.
pub fn gpu_is_here() -> bool {
    ["/dev/nvidia0", "/dev/dxg"].iter().any(|device| Path::new(device).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_come_far_from_the_crossover_alone() {
        let (small, near, large) = (CROSSOVER_CELLS / 5, CROSSOVER_CELLS, CROSSOVER_CELLS * 5);
        assert_eq!(
            hint(ComputeDevice::Gpu, small, 0.5, true).as_deref(),
            Some("hint: a grid of 2000 cells is small for a GPU: below about 10000 the cores are faster (`--backend serial`)")
        );
        assert_eq!(
            hint(ComputeDevice::Cores, large, 20.0, true).as_deref(),
            Some(
                "hint: this machine has a GPU, which is faster from about 10000 cells on: build with `--backend serial,cuda`, run with `--backend cuda`"
            )
        );
        for (place, cells, seconds, gpu_is_here) in [
            (ComputeDevice::Gpu, near, 20.0, true),
            (ComputeDevice::Gpu, large, 20.0, true),
            (ComputeDevice::Cores, small, 20.0, true),
            (ComputeDevice::Cores, near, 20.0, true),
            // Shorter than the start of a GPU; and no GPU.
            (ComputeDevice::Cores, large, 5.0, true),
            (ComputeDevice::Cores, large, 20.0, false),
        ] {
            assert_eq!(hint(place, cells, seconds, gpu_is_here), None, "{place:?} {cells} {seconds} {gpu_is_here}");
        }
    }
}
