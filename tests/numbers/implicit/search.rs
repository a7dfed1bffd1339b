//! Line search, and the system at a failure as files.

use std::fs;
use std::path::Path;

use super::scalar::{interpret, program};
use crate::support::{How, run, scratch, stderr};

/// u / sqrt(u^2 + 1) = 0 from 2: the next iterate of u is -u^3, so that Newton's method goes away;
/// shorter steps lead to the root.
#[test]
fn line_search_finds_what_whole_steps_miss() {
    let folder = scratch("line-search");
    let text = "guess = InputScalarWithDefault(\"guess\", 2)
residual(u) = {
    -> u / Sqrt(u * u + (1 Extend AllCells()))
}
u = NewtonSolve(residual, guess Extend AllCells())
Output(\"u\", u)
";
    let path = program(&folder, text);
    let plain = interpret(&path, &["nx=2"]);
    assert_eq!(plain.status.code(), Some(3), "{}", stderr(&plain));
    let output = interpret(&path, &["nx=2", "newton_line_search=true", "verbose=2"]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(printed.contains("Line search: ") && printed.contains(" of the correction, after "), "{printed}");
    for how in [How::Interpreted0, How::Interpreted2] {
        let outputs = run(how, &path.to_string_lossy(), &["nx=2", "newton_line_search=true"]);
        // The residual is below 1e-6, and there it is u itself up to its third power.
        assert!(outputs.last("u").iter().all(|u| u.abs() <= 1e-6), "{how:?}: {:?}", outputs.last("u"));
    }
    let wrong = interpret(&path, &["newton_line_search=often"]);
    assert_eq!(wrong.status.code(), Some(4), "{}", stderr(&wrong));
    fs::remove_dir_all(&folder).unwrap();
}

/// u^2 = 1 from 0.1, where the first step is shortened to a tenth: 0.595. Outputs and variables of
/// the residual see the guess, and each iterate once.
#[test]
fn trials_have_no_effects() {
    let folder = scratch("line-search-effects");
    let text = "count : Mutable Scalar
count = 0
r(u) = {
    count = count + 1
    Output(\"seen\", u)
    -> u * u - (1 Extend AllCells())
}
u = NewtonSolve(r, 0.1 Extend AllCells())
Output(\"u\", u)
Output(\"count\", count)
";
    // The second has kernels for its residual, and a function for its output.
    let without_variable: String = text.lines().filter(|line| !line.contains("count")).map(|line| format!("{line}\n")).collect();
    for (text, ways) in [(text, [How::Interpreted0, How::Compiled2]), (without_variable.as_str(), [How::Interpreted2, How::Compiled2])] {
        let path = program(&folder, text);
        for how in ways {
            let outputs = run(how, &path.to_string_lossy(), &["nx=1", "newton_line_search=true"]);
            let seen: Vec<f64> = outputs.fields("seen").iter().map(|field| field[0]).collect();
            // 0.595, then 1.138, 1.0084, 1.000035, 1.0000000006 and 1: u/2 + 1/(2u) each.
            let mut expected = vec![0.1, 0.595];
            (0..5).for_each(|_| expected.push(expected[expected.len() - 1] / 2.0 + 0.5 / expected[expected.len() - 1]));
            assert_eq!(seen.len(), expected.len(), "{how:?}: {seen:?}");
            for (seen, expected) in seen.iter().zip(&expected) {
                // A few roundings of numbers near 1, times the derivative of an iterate by the one
                // before, which is below 1.
                assert!((seen - expected).abs() < 1e-13, "{how:?}: {seen} {expected}");
            }
            if let Some(count) = outputs.scalars.get("count") {
                assert_eq!(count, &[expected.len() as f64], "{how:?}");
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Entries of a Matrix Market file: the line of sizes, then all others.
fn matrix_market(path: &Path, header: &str) -> (Vec<usize>, Vec<Vec<f64>>) {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(header));
    let mut lines = lines.filter(|line| !line.starts_with('%'));
    let sizes = lines.next().unwrap().split(' ').map(|word| word.parse().unwrap()).collect();
    (sizes, lines.map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect()).collect())
}

const MATRIX: &str = "%%MatrixMarket matrix coordinate real general";
const ARRAY: &str = "%%MatrixMarket matrix array real general";

/// u^2 + div(-grad u) = 1 on three cells, which no iteration may solve: at 2 the Jacobian is 4 on
/// the diagonal and the Laplacian, the residual 3.
#[test]
fn system_at_a_failure_is_written() {
    let folder = scratch("newton-dump");
    let text = "guess = InputScalarWithDefault(\"guess\", 2)
residual(u) = {
    -> u * u - (1 Extend AllCells()) + Divergence(-Gradient(u))
}
u = NewtonSolve(residual, guess Extend AllCells())
Output(\"u\", u)
";
    let path = program(&folder, text);
    let dump = format!("newton_dump={}", folder.join("dump").display());
    let output = interpret(&path, &["nx=3", "ny=1", "max_iter=0", &dump]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{message}");
    let stem = folder.join("dump").join("failure-00000");
    assert!(message.contains(&format!("line 5: the system at the failure is in `{}-jacobian.mtx`", stem.display())), "{message}");
    let file = |what: &str| folder.join("dump").join(format!("failure-00000-{what}.mtx"));
    let (sizes, entries) = matrix_market(&file("jacobian"), MATRIX);
    assert_eq!(sizes, [3, 3, 7]);
    let expected =
        [[1, 1, 5], [1, 2, -1], [2, 1, -1], [2, 2, 6], [2, 3, -1], [3, 2, -1], [3, 3, 5]].map(|entry| entry.map(f64::from).to_vec());
    assert_eq!(entries, expected);
    assert_eq!(matrix_market(&file("residual"), ARRAY), (vec![3, 1], vec![vec![3.0]; 3]));

    // The linear system cannot be solved where u is 0 everywhere: what is written is its matrix.
    let singular = interpret(&path, &["nx=3", "ny=1", "guess=0", "solver=lu", &dump]);
    assert_eq!(singular.status.code(), Some(3), "{}", stderr(&singular));
    let (_, entries) = matrix_market(&file("jacobian"), MATRIX);
    assert_eq!(entries.iter().filter(|entry| entry[0] == 2.0).map(|entry| entry[2]).sum::<f64>(), 0.0, "the Laplacian alone: {entries:?}");

    // With `warn` the run goes on, and a second failure would be another file; what cannot be
    // written is a warning.
    let blocked = format!("newton_dump={}", path.display());
    let output = interpret(&path, &["nx=3", "ny=1", "max_iter=0", "newton_failure=continue", &blocked]);
    assert!(output.status.success() && stderr(&output).contains("the system at the failure could not be written: "), "{}", stderr(&output));
    fs::remove_dir_all(&folder).unwrap();
}

/// Two equations on a grid that is renumbered: rows and columns are in the order of the file all
/// the same.
#[test]
fn system_is_in_the_order_of_the_file() {
    let folder = scratch("newton-dump-order");
    let text = "x = InputCollectionOfScalar(\"x\", AllCells())
first(u, v) = {
    -> u * u - x + Divergence(-Gradient(u)) + v
}
second(u, v) = {
    -> v * x - u
}
solution = NewtonSolveSystem([first, second], [x, 2 * x])
Output(\"u\", solution[0])
";
    let path = program(&folder, text);
    let values: Vec<String> = (1..=20).map(|k| format!("{}", 1.0 + f64::from(k) / 8.0)).collect();
    fs::write(folder.join("x.txt"), values.join(" ")).unwrap();
    let file = format!("x_filename={}", folder.join("x.txt").display());
    let mut systems = Vec::new();
    for renumber in ["no", "yes"] {
        let dump = folder.join(renumber);
        let words = [
            "nx=5",
            "ny=4",
            "max_iter=0",
            "grid_layout=unstructured",
            "x_from_file=true",
            &file,
            &format!("renumber={renumber}"),
            &format!("newton_dump={}", dump.display()),
        ];
        let output = interpret(&path, &words);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        systems.push(
            [("jacobian", MATRIX), ("residual", ARRAY)]
                .map(|(what, header)| matrix_market(&dump.join(format!("failure-00000-{what}.mtx")), header)),
        );
    }
    // Dyadic numbers on unit cells: sums do not round, whatever their order.
    assert_eq!(systems[0], systems[1]);
    let [(sizes, entries), _] = &systems[0];
    assert_eq!(sizes[..2], [40, 40]);
    // The derivative of the second equation by its own unknown is x.
    let x_of_cell_7 = entries.iter().find(|entry| entry[0] == 28.0 && entry[1] == 28.0).unwrap()[2];
    assert_eq!(x_of_cell_7, 1.0 + 8.0 / 8.0);
    fs::remove_dir_all(&folder).unwrap();
}
