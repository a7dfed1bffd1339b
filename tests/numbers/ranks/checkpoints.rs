//! Checkpoints that ranks write and from which they go on: files of one process.

use std::collections::BTreeMap;

use super::{left, written};
use crate::support::{repository, scratch};

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
                    // What was printed before the checkpoint is not printed again.
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
