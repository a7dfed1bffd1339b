//! The pieces of `docs/book/src/patterns.md` are one program.

use std::fs;

use crate::support::{How, assert_close, repository, run, scratch};

/// The code of the page.
fn code() -> String {
    let page = fs::read_to_string(repository("docs/book/src/patterns.md")).unwrap();
    let pieces = page.split("```equelle\n").skip(1).map(|piece| piece.split_once("```").unwrap().0);
    pieces.collect()
}

/// 4 x 3 cells of 0.25 x 0.5 m: u is 1 + x/2, and goes along x only.
#[test]
fn what_the_page_says() {
    let folder = scratch("patterns-page");
    let path = folder.join("page.equelle");
    fs::write(&path, code()).unwrap();
    for how in [How::Interpreted0, How::Interpreted2] {
        let outputs = run(how, &path.to_string_lossy(), &["nx=4", "ny=3", "dx=0.25", "dy=0.5"]);
        let rows = |row: [f64; 4]| [row; 3].concat();
        let close = |tag: &str, expected: &[f64]| assert_close(outputs.last(tag), expected, 1e-14, &format!("{how:?}, {tag}"));
        close("above", &rows([0.0, 0.0, 0.1125, 0.2375]));
        close("slope", &rows([0.5; 4]));
        close("limiter", &rows([1.0; 4]));
        let middle = &outputs.last("average")[4..8];
        assert_close(middle, &[3.3125 / 3.0, 1.1875, 1.3125, 4.1875 / 3.0], 1e-14, "average");
        // Inside, what changes is -2 m/s times the slope; on the left the value outside is 1.
        assert_close(&outputs.last("change")[4..8], &[-0.5, -1.0, -1.0, -1.0], 1e-13, "change");
        assert_close(outputs.last("diverging"), outputs.last("leaving"), 1e-15, "leaving");
        assert_close(&outputs.last("leaving")[4..8], &[0.25, 0.0, 0.0, 1.75], 1e-14, "leaving");
        // 2 m/s into a side of 1.5 m, and 8 + 2 cells a second.
        assert_close(&outputs.scalars["inflow"], &[-3.0], 1e-14, "inflow");
        assert_close(&outputs.scalars["longest"], &[0.1], 1e-14, "longest");
    }
    fs::remove_dir_all(&folder).unwrap();
}
