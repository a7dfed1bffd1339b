//! Runs on ranks that fail: all ranks are gone soon, one message says why, the exit code is that of
//! its kind, and no output is torn.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use super::support::{Ended, Mpi, all, end, first, outputs, ranks_of, run, signal, start, wait_until, words};
use crate::support::{equellec, scratch};

/// Diffusion for as many steps as there are; from a step on no longer finite on one side.
const PROGRAM: &str = "u : Mutable Collection Of Scalar On AllCells() = Centroid(AllCells())[0]
steps = InputSequenceOfScalar(\"steps\")
k = InputScalarWithDefault(\"k\", 1)
bad = InputScalarWithDefault(\"bad\", 1000000)
side = InputScalarWithDefault(\"side\", 1)
behind = IsEmpty(SecondCell(AllFaces())) ? FirstCell(AllFaces()) : SecondCell(AllFaces())
empty = InputScalarWithDefault(\"empty\", 1000000)
chosen = Centroid(behind)[0] > empty ? SecondCell(AllFaces()) : behind
Output(\"behind\", u On chosen)
step : Mutable Scalar = 0
For dt In steps {
    u = u + dt * k * Divergence(Gradient(u) Extend AllFaces())
    step = step + 1
    zero = step > bad ? 0 : 1
    u = side * (Centroid(AllCells())[0] - 50) > 40 ? u / zero : u
    Output(\"u\", u)
}
";

/// Number of ranks.
const RANKS: u32 = 3;

/// Longest time from a fault to the end of all ranks.
const SOON: Duration = Duration::from_secs(20);

/// A folder with the program, its data, and what one process writes.
struct Case {
    folder: PathBuf,
    program: PathBuf,
    expected: BTreeMap<String, Vec<u8>>,
}

impl Case {
    fn new(n_steps: usize) -> Case {
        let folder = scratch("mpi_faults");
        let program = folder.join("long.equelle");
        std::fs::write(&program, PROGRAM).expect("a program");
        std::fs::write(folder.join("steps.txt"), "0.1\n".repeat(n_steps)).expect("steps");
        std::fs::write(
            folder.join("case.param"),
            "grid_dim=2\nnx=100\nny=50\nsteps_filename=steps.txt\noutput_to_file=true\noutput_every=50\n",
        )
        .expect("parameters");
        let case = Case { folder, program, expected: BTreeMap::new() };
        let one = case.folder.join("one");
        let ended = run(equellec().args(case.words(&one, &[])));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        Case { expected: outputs(&one), ..case }
    }

    fn words(&self, out: &Path, more: &[&str]) -> Vec<String> {
        let mut given = words(&["run", "--interpret", "--nondimensional", "-q"]);
        given.extend([self.program.display().to_string(), self.folder.join("case.param").display().to_string()]);
        given.push(format!("output_dir={}", out.display()));
        given.extend(more.iter().map(ToString::to_string));
        given
    }

    /// An empty folder for outputs.
    fn out(&self) -> PathBuf {
        let out = self.folder.join("out");
        let _ = std::fs::remove_dir_all(&out);
        out
    }

    /// A run by `equellec run --ranks` that has begun, and its ranks.
    fn begun(&self, mpi: &Mpi, out: &Path, more: &[&str]) -> (Child, Vec<u32>) {
        let ranks = format!("--ranks={RANKS}");
        let child = start(&mut mpi.equellec(&self.words(out, &[&[ranks.as_str()], more].concat())));
        wait_until("the first output", || outputs(out).keys().any(|name| name.starts_with("u-")));
        (child, ranks_of(out))
    }

    /// The words of a rank that a launcher starts by itself.
    fn rank(&self, mpi: &Mpi, out: &Path, more: &str) -> String {
        let given = self.words(out, &["--as-rank", &mpi.library.display().to_string()]);
        format!("{} {} {more}", env!("CARGO_BIN_EXE_equellec"), given.join(" "))
    }

    /// Checks the end of a run that fails.
    fn check(&self, what: &str, ended: &Ended, out: &Path, code: i32, says: &str) {
        assert_eq!(ended.code, Some(code), "{what}: {ended:?}");
        assert_eq!(ended.n_errors(), 1, "{what}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{what}: `{says}` is not in {}", ended.stderr);
        assert!(ended.after < SOON, "{what}: {:?}", ended.after);
        wait_until("the end of all ranks", || ranks_of(out).is_empty());
        for (name, bytes) in outputs(out) {
            let is_whole = self.expected.get(&name).is_none_or(|expected| *expected == bytes);
            assert!(is_whole || !name.ends_with(".output"), "{what}: `{name}` is not that of one process");
        }
    }
}

/// A number that goes on at random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// The message of a run, without the advice for ranks that share cores: machines differ in it.
fn without_advice(stderr: &str) -> &str {
    match stderr.split_once('\n') {
        Some((first, others)) if first.starts_with("warning: 3 ranks share ") => others,
        _ => stderr,
    }
}

/// Errors of the program: the words and the exit code of ranks that are threads.
fn errors_of_the_program(case: &Case, mpi: &Mpi) -> usize {
    let scenarios = [["bad=20", "side=1"], ["bad=20", "side=-1"], ["bad=0", "side=1"], ["empty=99", "side=1"], ["empty=60", "side=1"]];
    for more in scenarios {
        let out = case.out();
        let threads = run(equellec().args(case.words(&out, &[&["--ranks-threads=3"], &more[..]].concat())));
        let out = case.out();
        let ended = run(&mut mpi.equellec(&case.words(&out, &[&["--ranks=3"], &more[..]].concat())));
        let what = format!("{more:?} on {}", mpi.name);
        assert_eq!(without_advice(&ended.stderr), threads.stderr, "{what}");
        case.check(&what, &ended, &out, 3, if more[0].starts_with("bad") { "is not finite" } else { "Empty element" });
    }
    scenarios.len()
}

/// Ranks that do not have the same, or not what they need.
fn differences(case: &Case, mpi: &Mpi) -> usize {
    let out = case.out();
    let other = case.folder.join("other");
    std::fs::create_dir_all(&other).expect("a folder");
    for (file, folder, n) in [("grid.param", &case.folder, 100), ("grid.param", &other, 99)] {
        std::fs::write(folder.join(file), format!("nx={n}\n")).expect("parameters");
    }
    for (folder, width) in [(&case.folder, "1\n"), (&other, "2\n")] {
        std::fs::write(folder.join("widths.txt"), width.repeat(100)).expect("widths");
    }
    let other_program = case.folder.join("equellec-2");
    let mut bytes = std::fs::read(env!("CARGO_BIN_EXE_equellec")).expect("this compiler");
    bytes.push(0);
    std::fs::write(&other_program, bytes).expect("a file");
    std::fs::set_permissions(&other_program, std::fs::metadata(env!("CARGO_BIN_EXE_equellec")).expect("this").permissions())
        .expect("a mode");
    let partition = case.folder.join("parts.txt");
    std::fs::write(&partition, "0\n1\n".repeat(2500)).expect("a partition");
    let rank = |more: &str| case.rank(mpi, &out, more);
    let (here, there) = (case.folder.display(), other.display());
    let scenarios = [
        ("another parameter", format!("exec {}", rank("k=$((RANK / 2))")), 4, "ranks 0 and 2 differ in parameter `k`: `0` and `1`"),
        (
            "a parameter less",
            format!("[ $RANK = 1 ] || MORE=k=2; exec {}", rank("$MORE")),
            4,
            "ranks 0 and 1 differ in parameter `k`: `2` and not given",
        ),
        (
            "another parameter file",
            format!("cd {here}; [ $RANK != 1 ] || cd {there}; exec {}", rank("grid.param")),
            4,
            "ranks 0 and 1 differ in parameter `nx`: `100` and `99`",
        ),
        (
            "another grid",
            format!("cd {here}; [ $RANK != 2 ] || cd {there}; exec {}", rank("dx_filename=widths.txt")),
            4,
            "ranks 0 and 2 differ in the grid",
        ),
        (
            "another executable",
            format!(
                "[ $RANK = 0 ] || exec {}; exec {}",
                rank("").replace(env!("CARGO_BIN_EXE_equellec"), &other_program.display().to_string()),
                rank("")
            ),
            4,
            "ranks 0 and 1 differ in the executable",
        ),
        (
            "a file that one rank lacks",
            format!("cd {here}; [ $RANK != 1 ] || cd /; exec {}", rank("grid.param")),
            5,
            "cannot read parameter file",
        ),
        ("a bad parameter", format!("exec {}", rank("nx=many")), 4, "must be a whole number"),
        ("more ranks than cells", format!("exec {}", rank("nx=2 ny=1")), 4, "cannot be cut"),
        ("more ranks than cells of arrays", format!("exec {}", rank("nx=2 ny=1 grid_layout=unstructured")), 4, "rank 2 of 3 has no cell"),
        (
            "a rank without cells",
            format!("exec {}", rank(&format!("partition_file={}", partition.display()))),
            4,
            "has the cells of 2 ranks, and the run has 3",
        ),
    ];
    for (what, script, code, says) in &scenarios {
        let ended = run(&mut mpi.shell(RANKS, script));
        case.check(&format!("{what}, {}", mpi.name), &ended, &out, *code, says);
    }
    let _ = std::fs::remove_file(other_program);
    let blocked = case.folder.join("blocked");
    std::fs::write(&blocked, "").expect("a file");
    let ended = run(&mut mpi.equellec(&case.words(&blocked, &["--ranks=3"])));
    case.check("an output folder that is a file", &ended, &blocked, 5, "blocked");
    scenarios.len() + 1
}

/// Ranks that are killed: the driver names the rank, or says that one was.
fn killed(case: &Case, mpi: &Mpi, random: &mut Random) {
    let out = case.out();
    let (child, ranks) = case.begun(mpi, &out, &["checkpoint_every=100"]);
    assert_eq!(ranks.len(), RANKS as usize, "{ranks:?}");
    std::thread::sleep(Duration::from_millis(random.below(400)));
    signal("KILL", ranks[random.below(u64::from(RANKS)) as usize]);
    case.check(&format!("a rank that is killed, {}", mpi.name), &end(child), &out, 6, "was killed (signal 9)");
}

/// Ranks that stop: the others name the one that does not answer.
fn stopped(case: &Case, mpi: &Mpi, index: usize) {
    let out = case.out();
    let (child, ranks) = case.begun(mpi, &out, &["rank_timeout=3"]);
    signal("STOP", ranks[index]);
    case.check(&format!("a rank that stops, {}", mpi.name), &end(child), &out, 6, "has not answered for");
}

/// Signals for the driver: rank 0 ends the run in order, and another goes on from its state.
fn interrupted(case: &Case, mpi: &Mpi, name: &str, code: i32) {
    let out = case.out();
    let (child, _) = case.begun(mpi, &out, &["checkpoint_every=1000000"]);
    signal(name, child.id());
    case.check(&format!("{name}, {}", mpi.name), &end(child), &out, code, "the outputs so far are complete");
    let ended = run(equellec().args(case.words(&out, &["restart=latest"])));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for (file, bytes) in &case.expected {
        assert!(outputs(&out).get(file) == Some(bytes), "`{file}` after {name} and a restart on one process");
    }
}

#[test]
fn a_run_that_fails_on_one_rank_ends_on_all() {
    let Some(mpi) = first() else { return };
    let case = Case::new(3000);
    errors_of_the_program(&case, &mpi);
    differences(&case, &mpi);
}

#[test]
fn a_rank_that_is_killed_or_stops_is_told() {
    let Some(mpi) = first() else { return };
    let case = Case::new(6000);
    let mut random = Random(1);
    (0..2).for_each(|_| killed(&case, &mpi, &mut random));
    stopped(&case, &mpi, 1);
    interrupted(&case, &mpi, "TERM", 143);
}

/// 40 and more: 20 of them kill a rank at a random moment.
#[test]
#[ignore = "ten minutes; .ci/full runs it"]
fn faults_on_every_mpi() {
    let mpis = all();
    assert!(!mpis.is_empty(), "no MPI is installed");
    let case = Case::new(6000);
    let mut random = Random(7);
    let mut scenarios = 0;
    for mpi in &mpis {
        scenarios += errors_of_the_program(&case, mpi) + differences(&case, mpi);
        (0..3).for_each(|index| stopped(&case, mpi, index));
        interrupted(&case, mpi, "TERM", 143);
        interrupted(&case, mpi, "INT", 130);
        scenarios += 5;
    }
    for index in 0..20 {
        killed(&case, &mpis[index % mpis.len()], &mut random);
        scenarios += 1;
    }
    assert!(scenarios >= 40, "{scenarios} scenarios");
}

/// A launcher of one MPI, and the library of another.
#[test]
#[ignore = "needs two MPIs; .ci/full runs it"]
fn libraries_of_another_mpi_are_refused() {
    let mpis = all();
    let open = mpis.iter().find(|mpi| mpi.is_open).expect("an Open MPI");
    let other = mpis.iter().find(|mpi| !mpi.is_open).expect("an MPICH");
    let case = Case::new(1);
    for (launcher, library) in [(open, other), (other, open)] {
        let out = case.out();
        let ended = run(&mut launcher.shell(2, &format!("exec {}", case.rank(library, &out, ""))));
        case.check(&launcher.name, &ended, &out, 6, "started 2 times by a launcher of another MPI");
    }
}

/// Nothing but the compiler is on the PATH.
#[test]
fn without_mpi_the_commands_that_help_are_told() {
    let case = Case::new(1);
    let out = case.out();
    let ended = run(equellec().args(case.words(&out, &["--ranks=2"])).env("PATH", &case.folder));
    case.check("no MPI", &ended, &out, 6, "no MPI was found");
    assert!(ended.stderr.contains("apt install openmpi-bin") && ended.stderr.contains("pip install mpich"), "{}", ended.stderr);
    let doctor = run(equellec().arg("doctor").env("PATH", &case.folder));
    assert!(doctor.stdout.contains("MPI        no MPI was found"), "{}", doctor.stdout);
    let linked = run(Command::new("ldd").arg(env!("CARGO_BIN_EXE_equellec")));
    assert!(!linked.stdout.contains("libmpi"), "{}", linked.stdout);
}

/// Launchers do not compile a program once for each rank.
#[test]
fn a_launcher_of_equellec_run_is_refused() {
    let Some(mpi) = first() else { return };
    let case = Case::new(1);
    let out = case.out();
    let command = format!("exec {} {}", env!("CARGO_BIN_EXE_equellec"), case.words(&out, &[]).join(" "));
    let ended = run(&mut mpi.shell(2, &command));
    case.check("mpiexec equellec run", &ended, &out, 2, "--ranks 2` starts the launcher itself");
    assert!(outputs(&out).is_empty());
}
