//! Chains of choices between cells and between numbers, most of which are stored: the values are
//! those of `-O0`, bit for bit.

use std::fs;
use std::path::Path;

use crate::support::{How, Outputs, run, scratch};

/// Chains of so many links, with conditions of the grid, of data, and of earlier choices.
fn program(links: usize) -> String {
    let mut text = "# dimensions: ignore
f = InteriorFaces()
u = InputCollectionOfScalar(\"u\", AllCells())
n = Normal(f)[0]
a0 = FirstCell(f)
b0 = SecondCell(f)
c0 = a0
d0 = b0
s0 = u On a0
t0 = u On b0
"
    .to_owned();
    for (before, link) in (0..links).zip(1..) {
        let limit = format!("0.{link:03}");
        text += &format!(
            "a{link} = n > {limit} ? a{before} : b{before}
b{link} = n > {limit} ? b{before} : a{before}
c{link} = (u On c{before}) > 5 * {limit} ? d{before} : c{before}
d{link} = (u On c{before}) > (u On d{before}) ? c{before} : d{before}
s{link} = s{before} > 4 * {limit} ? t{before} : s{before}
t{link} = (u On a0) > 3 * {limit} ? s{before} : t{before} + {limit}
"
        );
    }
    text + &format!(
        "Output(\"way\", SumReduce(Dot(Centroid(a{links}) - Centroid(f), Normal(f))))
Output(\"cells\", Divergence((u On c{links}) - 2 * (u On d{links})))
Output(\"numbers\", Divergence(s{links} - 2 * t{links}))
"
    )
}

fn outputs(how: How, links: usize) -> Outputs {
    let folder = scratch("nested-choices");
    let file = |name: &str, text: &str| {
        fs::write(folder.join(name), text).expect("the folder can be written");
        folder.join(name).display().to_string()
    };
    // A sequence without a pattern, between 0 and 1.
    let numbers: Vec<String> = (0..30_u32).map(|i| format!("{}", f64::from(i * i * 37 % 101) / 101.0)).collect();
    let (program, data) = (file("program.equelle", &program(links)), file("u.txt", &numbers.join("\n")));
    assert!(Path::new(&program).is_absolute());
    run(how, &program, &["nx=6", "ny=5", "u_from_file=true", &format!("u_filename={data}")])
}

#[test]
fn chains_of_choices_have_the_values_of_their_operations() {
    for links in [12, 13, 40] {
        let operations = outputs(How::Interpreted0, links);
        assert_eq!(outputs(How::Interpreted2, links), operations, "{links}");
        // On the 25 faces whose normals point along x both chains keep their cells; on the 24 along
        // y they exchange them with each link. A cell is half a width before or behind the face.
        let along_y = if links % 2 == 0 { -12.0 } else { 12.0 };
        assert_eq!(operations.scalars["way"], [-12.5 + along_y], "{links}");
    }
}
