//! Random programs, as many as wanted.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use equelle_random::check;
use equelle_random::data::Fixtures;
use equelle_random::generate::{Purpose, program};

use crate::tools::Failure;

/// Features of programs, and the text that shows each.
const KINDS: [(&str, &[&str]); 28] = [
    ("one equation solved", &["NewtonSolve("]),
    ("systems of equations solved", &["NewtonSolveSystem("]),
    ("loops over sequences", &[" In t"]),
    ("loops over ranges", &[" In Range("]),
    ("loops that a condition ends", &["While ", "Repeat Until "]),
    ("mutable variables", &["Mutable"]),
    ("functions", &[") = {"]),
    ("domains read from files", &["InputDomainSubsetOf("]),
    ("Vectors and truth values read from files", &["InputCollectionOfVector(", "InputCollectionOfBool("]),
    ("domains by condition", &["Where("]),
    ("inner cells of boundary faces", &["InnerCell(", "OutwardSign(", "OutwardNormal("]),
    ("Divergence or Gradient", &["Divergence(", "Gradient("]),
    ("FaceSum, FaceMax or FaceMin", &["FaceSum(", "FaceMax(", "FaceMin("]),
    ("GivenTransmissibility", &["GivenTransmissibility("]),
    ("edges or vertices", &["Edges()", "Vertices()"]),
    ("reductions", &["Reduce("]),
    ("tables", &["InputTable("]),
    ("steps up to an end", &["next_step("]),
    ("nearest whole numbers", &["Round("]),
    ("index variables", &["StencilI()"]),
    ("neighbours read by index", &["(i+", "(i-", "j+", "j-", "k+", "k-"]),
    ("values beyond the grid", &["Halo("]),
    ("those of polynomials", &["Polynomial("]),
    ("those with values on cells", &["AtFace(", "Value(", "Slope("]),
    ("those with values that have rules of their own", &[", Halo("]),
    ("neighbours along two axes", &[", j+", ", j-", ", k+", ", k-"]),
    ("sets without elements", &["InputDomainSubsetOf(\"no_"]),
    ("sequences without elements", &["InputSequenceOfScalar(\"never\")"]),
];

/// Runs the programs of `programs` seeds from `seed` on.
pub fn run(programs: u64, seed: u64) -> Result<(), Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let scratch = tempfile::tempdir_in(root.join("target")).map_err(|e| format!("the folder `target`: {e}"))?;
    let folder = scratch.path();
    let fixtures = Fixtures::write(folder, &root.join("grids/triangles-6x5.grid")).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (begin, next) = (Instant::now(), AtomicU64::new(0));
    let tally = Mutex::new(Tally::default());
    let work = || {
        while let Some(seed) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|done| *done < programs).map(|done| seed.saturating_add(done))
        {
            let result = check(seed, &fixtures);
            let text = program(seed, Purpose::Run, &fixtures.ranges).text();
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.add(result, &text);
            if tally.done % 1000 == 0 {
                eprintln!("{} programs, {} failures, {:.0} s", tally.done, tally.failures, begin.elapsed().as_secs_f64());
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let Tally { failures, ended, kinds, .. } = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (count, (kind, _)) in kinds.iter().zip(KINDS) {
        println!("{count:8} with {kind}");
    }
    println!("{ended:8} end with an error on a grid, the same in every way");
    if failures == 0 { Ok(()) } else { Err(format!("{failures} of {programs} programs fail")) }
}

/// Results of the programs so far.
#[derive(Default)]
struct Tally {
    done: u64,
    failures: u64,
    /// Programs that end with an error on a grid.
    ended: u64,
    kinds: [u64; KINDS.len()],
}

impl Tally {
    fn add(&mut self, result: Result<usize, String>, text: &str) {
        self.done += 1;
        match result {
            Ok(on) => self.ended += u64::from(on > 0),
            Err(failure) => {
                self.failures += 1;
                println!("{failure}");
            }
        }
        for (count, (_, shown)) in self.kinds.iter_mut().zip(KINDS) {
            *count += u64::from(shown.iter().any(|shown| text.contains(shown)));
        }
    }
}
