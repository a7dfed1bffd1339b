//! Random explicit programs: loops over steps with random right-hand sides.
//!
//! Numbers stay finite: a state between 0.5 and 2 changes by millionths of a right-hand side, in
//! which functions are of what they are made for. So that one build serves many, a program has a
//! loop for each.

use std::fmt::Write as _;

use fastrand::Rng;

/// Ways to read neighbours, which restrict the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// Faces and their cells, on any grid.
    Faces,
    /// These, and neighbours by index along so many axes.
    Index(usize),
}

/// Inputs and functions, before the loops.
const HEAD: &str = "\
# dimensions: ignore
Import \"equelle:gradients\" (green_gauss)
u0 = InputCollectionOfScalar(\"u0\", AllCells())
kt = InputTable(\"kt\", \"x\", \"k\")
rounds = InputSequenceOfScalar(\"rounds\")
u : Mutable Collection Of Scalar On AllCells()
v : Mutable Collection Of Scalar On AllCells()
f = InteriorFaces()
a = FirstCell(f)
b = SecondCell(f)
t = |f| / |Centroid(b) - Centroid(a)|
c = Centroid(AllCells())
k0 = 1 + 0.5 * Sin(3 * c[0])
s : Mutable Scalar
left = Where(AllCells(), c[0] < 0.3)
few = Where(AllCells(), c[0] < 0.02)
faces_left = Where(f, Centroid(f)[0] < 0.5)
walls = BoundaryFaces()
";

/// A program with so many loops behind a first one; the line `#| name` stands before each.
pub(super) fn program(seed: u64, loops: usize, reads: Reads) -> String {
    let mut text = HEAD.to_owned();
    if let Reads::Index(axes) = reads {
        for (index, name) in [("I", "i"), ("J", "j"), ("K", "k")].into_iter().take(axes) {
            let _ = writeln!(text, "{name} = Stencil{index}()");
        }
    }
    text += "\n#| first\nu = u0\nv = 0.5 * u0\ns = 1\nFor n In rounds {\n    u = u + 1e-6 * s * v\n    v = v + 1e-6 * u\n}\n";
    for number in 0..loops {
        let mut writer =
            Writer { random: Rng::with_seed(seed.wrapping_mul(1000) + number as u64), reads, names: Vec::new(), body: String::new() };
        let _ = writeln!(text, "\n#| r{seed}_{number}\nu = u0\nv = 0.5 * u0\ns = 1\nFor n In rounds {{");
        writer.body();
        text += &writer.body;
        text += "}\n";
    }
    text + "Output(\"s\", SumReduce(u))\n"
}

/// Writes the body of a loop.
struct Writer {
    random: Rng,
    reads: Reads,
    /// Values on cells that have names.
    names: Vec<String>,
    body: String,
}

impl Writer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.body, "    {line}");
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.usize(..from.len())]
    }

    fn body(&mut self) {
        for number in 0..self.random.usize(0..4) {
            let value = self.cells(3);
            let name = format!("w{number}");
            self.line(&format!("{name} = {value}"));
            self.names.push(name);
        }
        let right = self.cells(4);
        self.line(&format!("u = u + 1e-6 * ({right})"));
        if self.random.bool() {
            let right = self.cells(3);
            self.line(&format!("v = v + 1e-6 * ({right})"));
        }
        if self.random.u8(..6) == 0 {
            let (of, reduction) = (self.leaf(), self.pick(&["MaxReduce", "MinReduce", "SumReduce"]));
            self.line(&format!("s = Min(1, Abs({reduction}({of})))"));
        }
    }

    fn leaf(&mut self) -> String {
        let names = self.names.len();
        match self.random.usize(..8 + 2 * names) {
            0..3 => "u".to_owned(),
            3 | 4 => "v".to_owned(),
            5 => self.pick(&["k0", "c[0]", "s * u", "u0"]).to_owned(),
            6 => format!("{} * u", self.pick(&["0.5", "2", "-1", "0.25"])),
            7 => format!("({} + v)", self.pick(&["0.5", "2", "1"])),
            other => self.names[(other - 8) / 2].clone(),
        }
    }

    /// Numbers on cells, with so many operations above one another.
    fn cells(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let kinds = if self.reads == Reads::Faces { 22 } else { 28 };
        let kind = self.random.usize(..kinds);
        let below = |writer: &mut Self| writer.cells(depth - 1);
        match kind {
            0..4 => {
                let (x, y) = (below(self), below(self));
                format!("({x} {} {y})", self.pick(&["+", "-", "*"]))
            }
            4 => {
                let (x, y) = (below(self), below(self));
                format!("{x} / (1 + ({y})^2)")
            }
            5 => format!("{}({}, {})", self.pick(&["Min", "Max"]), below(self), below(self)),
            6 => format!("Sqrt(1 + Abs({}))", below(self)),
            7 => match self.random.u8(..6) {
                0 => format!("(1 + Abs({}))^0.3", below(self)),
                1 => format!("Sin({})", below(self)),
                2 => format!("Log(1 + Abs({}))", below(self)),
                3 => format!("Interpolate(kt, {})", below(self)),
                _ => format!("Exp(-Abs({}))", below(self)),
            },
            8 => {
                let (condition, x, y) = (self.truth(depth - 1), self.cells(depth - 1), self.cells(depth - 1));
                format!("({condition} ? {x} : {y})")
            }
            9..15 => format!("Divergence({})", self.faces(depth - 1)),
            15 => format!("FaceSum({}, {})", self.faces(depth - 1), self.faces(depth - 1)),
            16 => format!("{}({}, {}, {})", self.pick(&["FaceMax", "FaceMin"]), self.faces(depth - 1), self.faces(depth - 1), self.leaf()),
            17 => format!("((({}) On {}) Extend AllCells())", below(self), self.pick(&["left", "few"])),
            18 => format!("green_gauss({})[0]", below(self)),
            // Vectors have as many components as the grid has axes.
            19 if self.reads != Reads::Index(2) => format!("Dot(green_gauss({}), green_gauss({}))", below(self), self.leaf()),
            19 => format!("Dot(Vector({}, {}), Vector({}, {}))", below(self), self.leaf(), self.leaf(), self.leaf()),
            20 => format!("Divergence((0.1 * ({} On InnerCell(walls))) Extend AllFaces())", self.leaf()),
            21 if self.reads != Reads::Index(2) => format!("|green_gauss({})|", below(self)),
            21 => format!("|Vector({}, {})|", below(self), self.leaf()),
            _ => self.by_index(depth - 1),
        }
    }

    /// Neighbours of a value that gets a name.
    fn by_index(&mut self, depth: usize) -> String {
        let Reads::Index(axes) = self.reads else { return self.leaf() };
        let of = if self.random.u8(..3) > 0 { self.leaf() } else { self.cells(depth) };
        let rule = self.pick(&["Mirror", "Periodic", "Copy", "Negate"]);
        let all = &["i", "j", "k"][..axes];
        let name = format!("h{}", self.body.len());
        self.line(&format!("{name} = Halo({of}, {rule}({}))", all.join(", ")));
        let axis = self.pick(all);
        match self.random.u8(..5) {
            0 => format!("({name}({axis}+1) - {name}({axis}-1))"),
            1 => format!("({name}({axis}+2) + {name}({axis}-2) - 2 * {name})"),
            2 => format!("({name}(i+1, j+1) + {name}(i-1, j-1))"),
            _ => {
                let pairs: Vec<String> = all.iter().map(|axis| format!("{name}({axis}+1) + {name}({axis}-1)")).collect();
                format!("({} - {} * {name})", pairs.join(" + "), 2 * axes)
            }
        }
    }

    /// Numbers on interior faces.
    fn faces(&mut self, depth: usize) -> String {
        if depth == 0 {
            let of = self.leaf();
            return match self.random.u8(..4) {
                0 => format!("t * Gradient({of})"),
                1 => format!("t * (({of}) On a)"),
                _ => format!("t * (0.5 * ((({of}) On a) + (({of}) On b)))"),
            };
        }
        match self.random.u8(..9) {
            0..3 => format!("-t * Gradient({})", self.cells(depth - 1)),
            3 => format!("t * (({}) On {})", self.cells(depth - 1), self.pick(&["a", "b"])),
            4 => {
                let (q, of) = (self.faces(depth - 1), self.leaf());
                format!("({q} > 0 ? ({of}) On a : ({of}) On b)")
            }
            5 => format!("((({}) On faces_left) Extend f)", self.faces(depth - 1)),
            6 => {
                let of = self.cells(depth - 1);
                format!("2 / (1 / (1 + Abs(({of}) On a)) + 1 / (1 + Abs(({of}) On b)))")
            }
            _ => format!("({} {} {})", self.faces(depth - 1), self.pick(&["+", "-", "*"]), self.faces(depth - 1)),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        let (x, y) = (self.cells(depth), self.leaf());
        match self.random.u8(..3) {
            0 => "c[0] < 0.5".to_owned(),
            1 => format!("({x} > {y} And c[1] < 0.7)"),
            _ => format!("{x} > {y}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use equelle_front::check::{CheckOptions, check_text};

    use super::*;

    #[test]
    fn programs_are_valid_and_differ() {
        for (seed, reads) in [(1, Reads::Faces), (2, Reads::Index(2)), (3, Reads::Index(3))] {
            let text = program(seed, 40, reads);
            let checked = check_text(&text, &CheckOptions::default());
            assert!(checked.program.is_some(), "{text}");
            assert_eq!(text.matches("\nFor n In rounds {").count(), 41);
            assert_ne!(text, program(seed + 10, 40, reads));
            assert_eq!(text, program(seed, 40, reads));
        }
    }
}
