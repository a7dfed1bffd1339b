//! Building blocks of programs by stencils: three stages of third order, and periodic reads.

use super::program;
use crate::support::How;

/// The three stages of `examples/mhd` on y' = -y^2 + sin y from 1.3 to time 1: errors of third
/// order, as computed with twice the digits.
#[test]
fn three_stages_are_of_third_order() {
    let text = "timesteps = InputSequenceOfScalar(\"timesteps\")
rate(y) = { -> Sin(y) - y^2 }
q : Mutable Array Of 1 Collection Of Scalar On AllCells()
q = [1.3 Extend AllCells()]
rates(q) = { -> [rate(q[0])] }
For dt In timesteps {
    q1 = q + (1/3 * dt) * rates(q)
    q2 = q1 - 25/16 * (q1 - q) + (15/16 * dt) * rates(q1)
    q = q2 - 17/25 * (q2 - q1) + (8/15 * dt) * rates(q2)
}
Output(\"y\", q[0])
";
    let run = |steps: u32| {
        let words = format!("timesteps={steps}*{:?}", 1.0 / f64::from(steps));
        program(How::Interpreted2, &format!("stages-{steps}"), text, &["grid_dim=1", "nx=1", &words]).last("y")[0]
    };
    // Half of the step divides the error by 8: what 5120 steps are off is 4e-15.
    let exact = run(5120);
    for (steps, expected) in [(10, 3.833e-5), (20, 4.439e-6), (40, 5.339e-7), (80, 6.546e-8)] {
        let error = (run(steps) - exact).abs();
        assert!((error / expected - 1.0).abs() <= 0.01, "{steps} steps: {error:e}");
    }
}

/// Periodic reads are reads at indices modulo the numbers of cells, at corners too, on the seven
/// shapes of Astaroth's tests, halved and quartered.
#[test]
fn periodic_reads_are_modulo() {
    let offsets = [[3, 0, 0], [0, -3, 0], [0, 0, 2], [1, 1, 0], [-3, 0, 3], [2, -2, 1], [-3, -3, -3]];
    let mut text = String::from(
        "i = StencilI()\nj = StencilJ()\nk = StencilK()\nu = Halo(InputCollectionOfScalar(\"u\", AllCells()), Periodic(i, j, k))\n",
    );
    for (number, [x, y, z]) in offsets.iter().enumerate() {
        text += &format!("Output(\"moved_{number}\", u(i{x:+}, j{y:+}, k{z:+}))\n");
    }
    for shape in [[8, 8, 8], [16, 8, 8], [8, 16, 8], [8, 8, 16], [16, 16, 8], [16, 8, 16], [8, 16, 16], [3, 4, 5]] {
        let n: [i32; 3] = shape;
        let value = |cell: [i32; 3]| f64::from(cell[0]) + 100.0 * f64::from(cell[1]) + 10_000.0 * f64::from(cell[2]);
        let words = ["grid_dim=3".to_owned(), format!("nx={}", n[0]), format!("ny={}", n[1]), format!("nz={}", n[2])];
        // Centroids are half a cell beyond the index.
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["u_expression=x-0.5+100*(y-0.5)+10000*(z-0.5)"]).collect();
        let found = program(How::Interpreted2, &format!("modulo-{n:?}"), &text, &words);
        for (number, by) in offsets.iter().enumerate() {
            for (index, moved) in found.last(&format!("moved_{number}")).iter().enumerate() {
                let index = index as i32;
                let cell = [index % n[0], index / n[0] % n[1], index / (n[0] * n[1])];
                let expected = value(std::array::from_fn(|axis| (cell[axis] + by[axis]).rem_euclid(n[axis])));
                assert_eq!(*moved, expected, "{n:?}, {by:?}, {cell:?}");
            }
        }
    }
}

/// Fields that are one field times powers of two stay so: any number of them, in one array.
#[test]
fn any_number_of_fields() {
    let run = |how: How, fields: usize| {
        let starts: Vec<String> = (0..fields).map(|m| format!("{:?} * u", f64::from(1_u32 << (m % 32)))).collect();
        let rates: Vec<String> = (0..fields).map(|m| format!("second_6(Halo(q[{m}], Periodic(i)), i)")).collect();
        let mut text = format!(
            "Import \"equelle:derivatives\" (second_6)\ni = StencilI()\nu = InputCollectionOfScalar(\"u\", AllCells())\n\
             q : Mutable Array Of {fields} Collection Of Scalar On AllCells()\nq = [{}]\n\
             For dt In InputSequenceOfScalar(\"timesteps\") {{\n    q = q + dt * [{}]\n}}\n",
            starts.join(", "),
            rates.join(", ")
        );
        for m in 0..fields {
            text += &format!("Output(\"q{m}\", q[{m}])\n");
        }
        program(how, &format!("fields-{fields}"), &text, &["grid_dim=1", "nx=16", "u_expression=Sin(x)", "timesteps=5*0.1"])
    };
    let one = run(How::Interpreted2, 1);
    for (how, fields) in
        [(How::Interpreted2, 3), (How::Interpreted2, 8), (How::Interpreted0, 16), (How::Interpreted2, 32), (How::Compiled2, 32)]
    {
        let found = run(how, fields);
        for m in 0..fields {
            let expected: Vec<f64> = one.last("q0").iter().map(|u| f64::from(1_u32 << (m % 32)) * u).collect();
            assert_eq!(found.last(&format!("q{m}")), expected, "{fields} fields, field {m}");
        }
    }
}
