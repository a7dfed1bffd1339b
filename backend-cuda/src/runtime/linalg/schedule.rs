//! Parallel orders of rows on the device, and their launches: one for each group of many rows, one
//! with a single block for consecutive groups of few. Nothing waits for the device.

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::matrix::schedule::Schedule;
use equelle_runtime::linalg::space::matrix_space::Direction;

use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::{Argument, Call, EqRows};
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::{KernelModule, SUBSTITUTION_MODULE};

/// Largest number of rows in a group for which one block takes about as long as a launch: a few
/// microseconds either way.
const FEW: usize = 1024;
/// Threads of that block.
const BLOCK: u32 = 512;

/// A schedule on the device.
#[derive(Debug)]
pub(crate) struct DeviceSchedule {
    rows: Rc<Buffer>,
    starts: Rc<Buffer>,
    stages: Vec<Stage>,
}

/// The work of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A group: its rows as a range of the schedule, one thread each.
    Group { from: u32, to: u32 },
    /// Several groups one after the other.
    Groups { first: u32, count: u32 },
}

/// One launch for each group, except that consecutive groups of few rows share one.
fn stages(starts: &[usize]) -> Vec<Stage> {
    let mut stages = Vec::new();
    for (group, ends) in starts.windows(2).enumerate() {
        let (from, to) = (ends[0], ends[1]);
        match stages.last_mut() {
            _ if to - from > FEW => stages.push(Stage::Group { from: from as u32, to: to as u32 }),
            Some(Stage::Groups { count, .. }) => *count += 1,
            _ => stages.push(Stage::Groups { first: group as u32, count: 1 }),
        }
    }
    stages
}

impl DeviceSchedule {
    /// Copies a schedule to the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn new(executor: &Executor, schedule: &Schedule) -> Result<Self, Error> {
        let starts: Vec<u32> = schedule.starts().iter().map(|&start| start as u32).collect();
        Ok(DeviceSchedule {
            rows: executor.upload("the order of a triangular solve", schedule.rows())?,
            starts: executor.upload("the order of a triangular solve", &starts)?,
            stages: stages(schedule.starts()),
        })
    }

    /// Queues a kernel for all rows, group after group. `kernels` are those for one group and for
    /// several; their first arguments are the part of the schedule, whether it is reversed, and the
    /// schedule, before those of `arguments`.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn launch(
        &self,
        executor: &Executor,
        (module, kernels): (&KernelModule, [&'static str; 2]),
        direction: Direction,
        arguments: impl Fn(Call) -> Call,
    ) -> Result<(), Error> {
        let back = direction == Direction::Backward;
        let begin = |call: Call, first: u32, last: u32| arguments(call.arg(first).arg(last).arg(u32::from(back)).arg(self));
        for number in 0..self.stages.len() {
            match self.stages[if back { self.stages.len() - 1 - number } else { number }] {
                Stage::Group { from, to } => {
                    let call = executor.call(module, kernels[0])?;
                    executor.launch_over(begin(call, from, to), (to - from) as usize)?;
                }
                Stage::Groups { first, count } => {
                    let call = executor.call(module, kernels[1])?;
                    executor.push(begin(call, first, count).shaped(LaunchShape { grid: [1; 3], block: [BLOCK, 1, 1] }));
                }
            }
        }
        Ok(())
    }
}

impl Argument for &DeviceSchedule {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.rows.address().0, self.starts.address().0]);
    }
}

/// One Gauss-Seidel sweep for `A x = b` in the order of colours: `x_i = x_i + d_i (b - A x)_i`.
/// Nothing waits.
///
/// # Errors
/// `Backend`: the kernels cannot be compiled or loaded.
pub(crate) fn gauss_seidel(
    executor: &Executor,
    colours: &DeviceSchedule,
    a: EqRows,
    d: DevicePtr,
    b: DevicePtr,
    x: DevicePtr,
    direction: Direction,
) -> Result<(), Error> {
    let kernels = (&SUBSTITUTION_MODULE, ["equelle_relax", "equelle_relax_groups"]);
    colours.launch(executor, kernels, direction, |call| call.arg(a).arg(d).arg(b).arg(x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::test_support::{bits, box_matrix, numbers, spaces};

    #[test]
    fn neighbouring_groups_of_few_rows_share_a_launch() {
        let wide = FEW + 1;
        let starts = [0, 3, 3 + wide, 4 + wide, 5 + wide, 5 + 2 * wide];
        let group = |from: usize| Stage::Group { from: from as u32, to: (from + wide) as u32 };
        let expected = [Stage::Groups { first: 0, count: 1 }, group(3), Stage::Groups { first: 2, count: 2 }, group(5 + wide)];
        assert_eq!(stages(&starts), expected);
        assert!(stages(&[0]).is_empty());
    }

    /// Colours of many rows (13^3 cells in two colours), and of few.
    #[test]
    fn sweeps_go_colour_by_colour_and_back() {
        for size in [[13, 13, 13], [4, 3, 2]] {
            let matrix = box_matrix(size, 1);
            let colours = Schedule::colours(matrix.row_ptr(), matrix.col_idx());
            assert_eq!(colours.len(), 2);
            let n = matrix.n_rows();
            let (b, start) = (numbers(1, n), numbers(2, n));
            let d: Vec<f64> = matrix.diagonal().iter().map(|d| 1.0 / d).collect();
            let mut x = start.clone();
            // In the order of the colours, and in reverse.
            for &row in colours.rows().iter().chain(colours.rows().iter().rev()) {
                let row = row as usize;
                let product = matrix.row(row).fold(0.0, |sum, (column, value)| sum + value * x[column]);
                x[row] += d[row] * (b[row] - product);
            }
            for rt in spaces() {
                let on_device = DeviceSchedule::new(&rt.executor, &colours).expect("memory");
                let (a, _owner) = rt.executor.put_matrix(&matrix);
                let (d, b, here) = (rt.executor.put(&d), rt.executor.put(&b), rt.executor.put(&start));
                for direction in [Direction::Forward, Direction::Backward] {
                    gauss_seidel(&rt.executor, &on_device, a, d.address(), b.address(), here.address(), direction).expect("kernels");
                }
                assert_eq!(rt.executor.bits(here.address(), n), bits(&x));
            }
        }
    }
}
