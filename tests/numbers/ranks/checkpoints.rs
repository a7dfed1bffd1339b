//! Checkpoints that ranks write and from which they go on: files of one process.

use std::collections::BTreeMap;

use super::{left, written};
use crate::support::{equellec, repository, scratch, stderr};

/// State of every kind in two loops, and values of all kinds that the second one takes from between
/// them, some of which are exchanged; collections on cells, faces and a set by a condition.
const STATE: &str = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())
speed : Mutable Vector = Vector(1, 0.5)
faces = InteriorFaces()
upwind : Mutable Collection Of Cell On InteriorFaces() = FirstCell(faces)
flow : Mutable Collection Of Scalar On InteriorFaces() = 0 * |faces|
moved : Mutable Collection Of Vector On AllCells() = Centroid(AllCells())
high : Mutable Collection Of Bool On AllCells() = u > 1
has_turned : Mutable Bool = 1 > 2
time : Mutable Scalar = 0
For dt In InputSequenceOfScalar(\"steps\") {
    rate = Dot(Normal(faces), speed) * |faces|
    upwind = rate > 0 ? FirstCell(faces) : SecondCell(faces)
    flow = rate * (u On upwind)
    u = u - dt * Divergence(flow Extend AllFaces()) / |AllCells()|
    moved = moved + dt * u * speed
    high = u > 1 Or high
    speed = has_turned ? speed : -0.5 * speed
    has_turned = time > 0.05
    time = time + dt
    Output(\"u\", u)
}
most = MaxReduce(u)
centre = SumReduce(u) * speed
is_flat = most < 1.5
above = Where(AllCells(), Centroid(AllCells())[0] > 0.3)
smooth = Divergence(Gradient(u) Extend AllFaces())
along = moved * 0.5
where_high = high
from = upwind
w : Mutable Collection Of Scalar On above = u On above
Output(\"most\", most)
While time < 0.35 {
    steep = Gradient(smooth)
    u = u + 0.001 * Divergence(steep Extend AllFaces()) + 0.01 * (is_flat ? 0 : Dot(along, centre))
    w = w + 0.5 * (u On above)
    flow = 0.5 * flow + (smooth On from)
    time = time + 0.1
    Output(\"u\", u)
    Output(\"w\", w)
    Output(\"high\", where_high)
    Output(\"sum\", SumReduce(flow))
}
Output(\"from\", from)
Output(\"moved\", along)
Output(\"above\", SumReduce(|above|))
";

fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>, which: &str) {
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{which}");
    let different: Vec<&String> = expected.iter().filter(|(file, bytes)| found[*file] != **bytes).map(|(file, _)| file).collect();
    assert!(different.is_empty(), "{which}: {different:?} differ");
}

/// A checkpoint of any number of ranks is that of one process, and any number goes on from it to
/// the same files.
#[test]
fn checkpoints_do_not_know_how_many_ranks_wrote_them() {
    let folder = scratch("ranks_checkpoints");
    let program = folder.join("state.equelle");
    std::fs::write(&program, STATE).expect("a program");
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let grids = [
        words(&["grid_dim=2", "nx=9", "ny=6", "dx=0.1", "dy=0.3"]),
        words(&["nx=8", "ny=5", "dx=0.1", "grid_periodic=x-:x+"]),
        vec![format!("grid_filename={}", repository("grids/triangles-6x5.grid").display())],
    ];
    let mut restarts = 0;
    for (number, grid) in grids.iter().enumerate() {
        for (level, kernels) in [("-O0", "--interpret=elements"), ("-O2", "--interpret")] {
            let given = words(&["run", &program.display().to_string(), level, kernels, "--nondimensional", "-q"]);
            let format = ["output_format=npy,csv", "output_format=vtu"][(number + usize::from(level == "-O2")) % 2];
            let more = words(&[format, "u_expression=1 + Sin(3*x)*y", "steps=5*0.02", "checkpoint_every=3"]);
            let on_ranks =
                |n_ranks: Option<u32>| n_ranks.map(|n_ranks| format!("--ranks-threads={n_ranks}")).into_iter().collect::<Vec<_>>();
            let run = |n_ranks, own: &[String]| [&given[..], &on_ranks(n_ranks), grid, &more, own].concat();
            // After step 3 of the first loop, of 5 steps, and step 6, the first one of the second.
            let whole = written(&folder.join("one"), &run(None, &[]));
            let names: Vec<String> = whole.keys().filter(|name| name.contains(".checkpoint-")).cloned().collect();
            assert_eq!(names, ["state.checkpoint-00003.npz", "state.checkpoint-00006.npz"]);
            for n_ranks in [1, 3, 4] {
                let found = written(&folder.join("ranks"), &run(Some(n_ranks), &[]));
                assert_same(&found, &whole, &format!("{grid:?} {level}, {n_ranks} ranks"));
            }
            for name in &names {
                for n_ranks in [None, Some(1), Some(3), Some(7)] {
                    // The folder of the four ranks, as it was when they wrote the checkpoint.
                    let again = folder.join("again");
                    let _ = std::fs::remove_dir_all(&again);
                    std::fs::create_dir_all(&again).expect("a folder");
                    for entry in std::fs::read_dir(folder.join("ranks")).expect("a folder") {
                        let path = entry.expect("an entry").path();
                        std::fs::copy(&path, again.join(path.file_name().expect("a name"))).expect("a copy");
                    }
                    let restart = [format!("restart={}", again.join(name).display())];
                    let mut found = left(&again, &run(n_ranks, &restart));
                    // Outputs before the checkpoint are not printed again.
                    let printed = found.insert("standard output".to_owned(), whole["standard output"].clone()).expect("an entry");
                    assert!(!printed.is_empty() && whole["standard output"].ends_with(&printed), "{level} {n_ranks:?} from {name}");
                    assert_same(&found, &whole, &format!("{grid:?} {level}, {n_ranks:?} from {name}"));
                    restarts += 1;
                }
            }
        }
    }
    assert_eq!(restarts, 48);
}

/// Exit code, results and messages of a run.
fn ended(words: &[String]) -> (Option<i32>, String, String) {
    let output = equellec().args(words).output().expect("equellec runs");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
}

/// A checkpoint of another grid, with other inputs or another sequence is refused in the words of
/// one process; a file `STOP`, which rank 0 sees, ends all ranks with a checkpoint.
#[test]
fn ranks_end_as_one_process_does() {
    let folder = scratch("ranks_ends");
    let program = folder.join("state.equelle");
    std::fs::write(&program, STATE).expect("a program");
    let dir = folder.join("out");
    let words = |n_ranks: Option<u32>, own: &[&str]| {
        let mut words: Vec<String> = ["run", "-q", "--interpret", "--nondimensional"].map(str::to_owned).to_vec();
        words.extend([program.display().to_string(), format!("output_dir={}", dir.display()), "output_format=npy".to_owned()]);
        words.extend(n_ranks.map(|n_ranks| format!("--ranks-threads={n_ranks}")));
        words.extend(own.iter().map(ToString::to_string));
        words
    };
    let case = ["nx=9", "ny=6", "steps=5*0.02", "u_expression=1+x*y"];
    let end = ended(&words(Some(3), &[&case[..], &["checkpoint_every=3"]].concat()));
    assert_eq!(end.0, Some(0), "{}", end.2);
    let from = format!("restart={}", dir.join("state.checkpoint-00003.npz").display());
    let mut messages = Vec::new();
    for wrong in [
        ["nx=10", "ny=6", "steps=5*0.02", "u_expression=1+x*y"],
        ["nx=9", "ny=6", "steps=5*0.02", "u_expression=1+y*y"],
        ["nx=9", "ny=6", "steps=5*0.03", "u_expression=1+x*y"],
        ["nx=9", "ny=6", "steps=2*0.02", "u_expression=1+x*y"],
    ] {
        let of = |n_ranks| ended(&words(n_ranks, &[&wrong[..], &[&from]].concat()));
        let expected = of(None);
        assert_eq!(expected.0, Some(4), "{}", expected.2);
        for n_ranks in [1, 2, 5] {
            assert_eq!(of(Some(n_ranks)), expected, "{n_ranks} ranks");
        }
        messages.push(expected.2);
    }
    for (message, expected) in messages.iter().zip(["its grid has", "input `u` has changed", "the sequence of its loop", "3 rounds of its"])
    {
        assert!(message.contains(expected), "{message}");
    }
    let stopped = |n_ranks| {
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(dir.join("STOP"), "").expect("a file");
        let end = ended(&words(n_ranks, &case));
        assert!(!dir.join("STOP").exists());
        let checkpoint = std::fs::read(dir.join("state.checkpoint-00001.npz")).expect("a checkpoint after the first round");
        (end, checkpoint)
    };
    let expected = stopped(None);
    assert_eq!(expected.0.0, Some(143), "{}", expected.0.2);
    for n_ranks in [1, 2, 5] {
        assert!(stopped(Some(n_ranks)) == expected, "{n_ranks} ranks");
    }
}

/// Checkpoints by time come after looks of rank 0, the first one after the first round. A run that
/// fails has the error of one process, and its checkpoints instead of a last good state.
#[test]
fn checkpoints_by_time_and_of_runs_that_fail() {
    let folder = scratch("ranks_fails");
    let program = folder.join("fails.equelle");
    let text = "u : Mutable Collection Of Scalar On AllCells() = Centroid(AllCells())[0]\n\
        For i In Range(0, 9) {\n    u = 2 * u\n    Output(\"u\", Sqrt(100 - u))\n}\n";
    std::fs::write(&program, text).expect("a program");
    let dir = folder.join("out");
    let run = |n_ranks: Option<u32>, own: &[&str]| {
        let mut words = ["run", "-q", "--interpret", "--nondimensional"].map(str::to_owned).to_vec();
        words.extend([program.display().to_string(), format!("output_dir={}", dir.display())]);
        words.extend(n_ranks.map(|n_ranks| format!("--ranks-threads={n_ranks}")));
        words.extend(["nx=6", "output_format=npy"].iter().chain(own).map(ToString::to_string));
        ended(&words)
    };
    let first_line = |end: (Option<i32>, String, String)| (end.0, end.2.lines().next().unwrap_or_default().to_owned());
    let expected = first_line(run(None, &[]));
    assert!(expected.0 == Some(3) && expected.1.contains("is not finite"), "{expected:?}");
    assert!(dir.join("failure").is_dir());
    for n_ranks in [1, 2, 4] {
        let _ = std::fs::remove_dir_all(&dir);
        assert_eq!(first_line(run(Some(n_ranks), &["checkpoint_minutes=1e-9"])), expected, "{n_ranks} ranks");
        assert!(!dir.join("failure").exists());
        // 5.5 times 2^4 is below 100, so that four rounds are whole.
        let on_three = first_line(run(Some(3), &["restart=latest"]));
        assert!(on_three.1.starts_with("error: output `u` is not finite in step 5 of 9"), "{on_three:?}");
        assert_eq!(on_three, first_line(run(None, &["restart=latest"])), "{n_ranks} ranks");
    }
}
