//! Conduction of heat by stencils: `examples/heat_stencils_3d` and a line with mirrored ends.

use std::f64::consts::PI;

use super::{example, program, same_in_every_way};
use crate::support::How;

/// Cells of the box along each axis, of width 1/n; the stages of the example by plain loops.
struct Plain {
    n: usize,
    u: Vec<f64>,
}

impl Plain {
    /// The temperature `by` cells along an axis from a cell, mirrored at the sides.
    fn read(&self, cell: [usize; 3], axis: usize, by: isize) -> f64 {
        let mut cell = cell;
        let moved = cell[axis] as isize + by;
        let n = self.n as isize;
        cell[axis] = if moved < 0 {
            -1 - moved
        } else if moved >= n {
            2 * n - 1 - moved
        } else {
            moved
        } as usize;
        self.u[cell[0] + self.n * (cell[1] + self.n * cell[2])]
    }

    fn step(&mut self, rate: f64, second: impl Fn(&Self, [usize; 3], usize) -> f64) {
        let n = self.n;
        let next = (0..n * n * n).map(|index| {
            let cell = [index % n, index / n % n, index / (n * n)];
            self.u[index] + rate * (second(self, cell, 0) + second(self, cell, 1) + second(self, cell, 2))
        });
        self.u = next.collect();
    }

    fn second_2(&self, cell: [usize; 3], axis: usize) -> f64 {
        let width = 1.0 / self.n as f64;
        let f = |by: isize| self.read(cell, axis, by);
        (f(1) + f(-1) - 2.0 * f(0)) / (width * width)
    }

    fn second_6(&self, cell: [usize; 3], axis: usize) -> f64 {
        let width = 1.0 / self.n as f64;
        let f = |by: isize| self.read(cell, axis, by);
        let even = 2.0 * (f(3) + f(-3)) - 27.0 * (f(2) + f(-2)) + 270.0 * (f(1) + f(-1));
        (even - 490.0 * f(0)) / (180.0 * (width * width))
    }
}

/// The example has the bits of plain loops.
fn as_plain_loops(how: How, n: usize, steps: usize) {
    let start = |index: usize| ((index * 7919) % 1000) as f64 / 8.0;
    let folder = super::scratch(&format!("heat-stencils-{n}-{how:?}"));
    let values: Vec<String> = (0..n * n * n).map(|index| start(index).to_string()).collect();
    std::fs::write(folder.join("u.txt"), values.join("\n")).expect("a scratch folder can be written");
    // Stable for both: the largest symbols along an axis are 4 and 6.04, over the squared width.
    let dt = 0.125 / (n * n) as f64;
    let mut words = vec!["grid_dim=3".to_owned(), "k=0.5".to_owned(), format!("timesteps={steps}*{dt:?}")];
    words.extend(["x", "y", "z"].into_iter().flat_map(|axis| [format!("n{axis}={n}"), format!("l{axis}=1")]));
    words.extend(["u_initial_from_file=true".to_owned(), format!("u_initial_filename={}", folder.join("u.txt").display())]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = super::run(how, "examples/heat_stencils_3d/heat_stencils_3d.equelle", &words);
    let mut seven = Plain { n, u: (0..n * n * n).map(start).collect() };
    let mut nineteen = Plain { n, u: seven.u.clone() };
    for _ in 0..steps {
        seven.step(dt * 0.5, Plain::second_2);
        nineteen.step(dt * 0.5, Plain::second_6);
    }
    for (tag, plain) in [("u7", seven), ("u19", nineteen)] {
        let differing = found.last(tag).iter().zip(&plain.u).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        assert_eq!(differing, 0, "{tag}, {how:?}");
    }
}

#[test]
fn heat_in_a_box_has_the_bits_of_plain_loops() {
    as_plain_loops(How::Compiled2, 16, 10);
    as_plain_loops(How::Interpreted2, 16, 10);
}

/// A box of 64^3 cells, 100 steps.
#[test]
#[ignore = "a minute of interpreting; .ci/full"]
fn heat_in_a_large_box_has_the_bits_of_plain_loops() {
    as_plain_loops(How::Compiled2, 64, 100);
    as_plain_loops(How::Interpreted2, 64, 100);
}

#[test]
fn heat_in_a_box_in_every_way() {
    same_in_every_way("heat_stencils_3d", &["nx=8", "ny=4", "nz=4", "timesteps=5*0.025"]);
}

/// Cosines between mirrored sides are eigenvectors of both stencils.
#[test]
fn cosines_in_a_box_decay_by_their_symbols() {
    let found = example(How::Interpreted2, "heat_stencils_3d", &[]);
    let n = 16.0_f64;
    // One, two and one half waves along the axes.
    let angles = [1.0, 2.0, 1.0].map(|k| k * PI / n);
    let seven: f64 = angles.iter().map(|a| 2.0 * a.cos() - 2.0).sum();
    let nineteen: f64 = angles.iter().map(|a| (4.0 * (3.0 * a).cos() - 54.0 * (2.0 * a).cos() + 540.0 * a.cos() - 490.0) / 180.0).sum();
    for (tag, symbol) in [("u7", seven), ("u19", nineteen)] {
        let factor = (1.0 + 0.025 * 0.01 * n * n * symbol).powi(40);
        for (index, value) in found.last(tag).iter().enumerate() {
            let x = [index % 16, index / 16 % 16, index / 256].map(|c| (c as f64 + 0.5) / n * PI);
            let exact = 300.0 + 20.0 * factor * x[0].cos() * (2.0 * x[1]).cos() * x[2].cos();
            // 40 steps of some 20 roundings of 300 each, damped like what they round.
            assert!((value - exact).abs() <= 1e-11, "{tag}, cell {index}: {value} instead of {exact}");
        }
    }
    // The numbers of the README: decay per unit of time relative to that of the equation.
    let exact = -angles.iter().map(|a| a * a).sum::<f64>();
    assert!((1.0 - seven / exact - 0.009593).abs() < 1e-6, "{}", 1.0 - seven / exact);
    assert!((1.0 - nineteen / exact - 4.2964e-6).abs() < 1e-10, "{}", 1.0 - nineteen / exact);
}

/// Steps of first order: halved steps halve the error against the semi-discrete equation.
#[test]
fn steps_of_euler_are_of_first_order() {
    let error = |steps: i32| {
        let words = format!("timesteps={steps}*{:?}", 1.0 / f64::from(steps));
        let found = example(How::Interpreted2, "heat_stencils_3d", &["nx=8", "ny=8", "nz=8", &words]);
        let angles = [1.0, 2.0, 1.0].map(|k| k * PI / 8.0);
        let symbol: f64 = angles.iter().map(|a| 2.0 * a.cos() - 2.0).sum();
        let exact = (0.01 * 64.0 * symbol).exp();
        let largest = found.last("u7").iter().fold(0.0_f64, |largest, u| largest.max(u - 300.0));
        let start = (PI / 16.0).cos().powi(2) * (PI / 8.0).cos() * 20.0;
        (largest / start - exact).abs()
    };
    let order = (error(20) / error(40)).log2();
    // The next term is the 40th part of the first.
    assert!((order - 1.0).abs() < 0.03, "{order}");
}

/// A cosine between ends that are mirrored about the centres of their cells decays by
/// `1 - 2 Fo (1 - cos(pi / (n - 1)))` a step.
#[test]
fn a_cosine_on_a_line_decays_by_its_factor() {
    let text = "i = StencilI()
timesteps = InputSequenceOfScalar(\"timesteps\")
u : Mutable Collection Of Scalar On AllCells()
u = 1 + Cos(3.141592653589793 * IndexOf(i) / (Extent(i) - 1))
For fo In timesteps {
    t = Halo(u, MirrorAt(i))
    u = u + fo * ((t(i-1) - u) + (t(i+1) - u))
}
Output(\"u\", u)
";
    let (n, steps) = (1024, 1024);
    let found = program(How::Interpreted2, "line", text, &["grid_dim=1", "nx=1024", "timesteps=1024*0.4"]);
    let factor = (1.0 - 0.8 * (1.0 - (PI / f64::from(n - 1)).cos())).powi(steps);
    for (cell, value) in found.last("u").iter().enumerate() {
        let exact = 1.0 + factor * (PI * cell as f64 / f64::from(n - 1)).cos();
        // 1024 steps of a few roundings of 1e-16 each.
        assert!((value - exact).abs() <= 1e-12, "cell {cell}: {value} instead of {exact}");
    }
}
