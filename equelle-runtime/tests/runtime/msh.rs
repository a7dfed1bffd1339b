//! Writes meshes in each version and encoding of Gmsh's format.

use std::fmt::Write as _;

/// How a mesh is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Text22,
    Binary22,
    SwappedBinary22,
    Text41,
    Binary41,
    SwappedBinary41,
    /// Counts and tags of 4 bytes.
    ShortBinary41,
}

impl Encoding {
    pub const ALL: [Encoding; 7] = [
        Encoding::Text22,
        Encoding::Binary22,
        Encoding::SwappedBinary22,
        Encoding::Text41,
        Encoding::Binary41,
        Encoding::SwappedBinary41,
        Encoding::ShortBinary41,
    ];

    fn is_text(self) -> bool {
        matches!(self, Encoding::Text22 | Encoding::Text41)
    }

    fn is_22(self) -> bool {
        matches!(self, Encoding::Text22 | Encoding::Binary22 | Encoding::SwappedBinary22)
    }

    fn is_swapped(self) -> bool {
        matches!(self, Encoding::SwappedBinary22 | Encoding::SwappedBinary41)
    }
}

/// An element with the groups of its entity.
#[derive(Clone, Debug)]
pub struct Element {
    pub dim: i32,
    pub entity: i32,
    /// Number of its type in the format.
    pub kind: i32,
    pub groups: Vec<i32>,
    /// Tags.
    pub nodes: Vec<u64>,
}

/// A mesh; its elements stand in the order of dimensions and entities.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// Dimension, number and name of physical groups.
    pub names: Vec<(i32, i32, String)>,
    /// Tags and positions.
    pub nodes: Vec<(u64, [f64; 3])>,
    pub elements: Vec<Element>,
}

struct Writer {
    encoding: Encoding,
    bytes: Vec<u8>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, text: String, mut bytes: Vec<u8>) {
        if self.encoding.is_text() {
            self.text(&(text + " "));
            return;
        }
        if self.encoding.is_swapped() {
            bytes.reverse();
        }
        self.bytes.extend(bytes);
    }

    fn int(&mut self, value: i32) {
        self.number(value.to_string(), value.to_ne_bytes().to_vec());
    }

    fn size(&mut self, value: u64) {
        let bytes =
            if self.encoding == Encoding::ShortBinary41 { (value as u32).to_ne_bytes().to_vec() } else { value.to_ne_bytes().to_vec() };
        self.number(value.to_string(), bytes);
    }

    fn real(&mut self, value: f64) {
        self.number(value.to_string(), value.to_ne_bytes().to_vec());
    }

    /// Ends a line of a text.
    fn line(&mut self) {
        if self.encoding.is_text() {
            self.text("\n");
        }
    }
}

impl Mesh {
    pub fn bytes(&self, encoding: Encoding) -> Vec<u8> {
        let mut out = Writer { encoding, bytes: Vec::new() };
        let (version, size) = (if encoding.is_22() { "2.2" } else { "4.1" }, if encoding == Encoding::ShortBinary41 { 4 } else { 8 });
        out.text(&format!("$MeshFormat\n{version} {} {size}\n", i32::from(!encoding.is_text())));
        if !encoding.is_text() {
            out.int(1);
            out.text("\n");
        }
        let mut names = String::new();
        self.names.iter().for_each(|(dim, group, name)| writeln!(names, "{dim} {group} \"{name}\"").expect("a string"));
        out.text(&format!("$EndMeshFormat\n$PhysicalNames\n{}\n{names}$EndPhysicalNames\n", self.names.len()));
        if encoding.is_22() {
            self.write_22(&mut out)
        } else {
            self.write_41(&mut out)
        }
        out.bytes
    }

    fn write_22(&self, out: &mut Writer) {
        out.text(&format!("$Nodes\n{}\n", self.nodes.len()));
        for &(tag, place) in &self.nodes {
            out.int(tag as i32);
            place.iter().for_each(|&x| out.real(x));
            out.line();
        }
        // An element once for each group.
        let repeated: Vec<(i32, &Element)> = self
            .elements
            .iter()
            .flat_map(|element| {
                let groups = if element.groups.is_empty() { vec![0] } else { element.groups.clone() };
                groups.into_iter().map(move |group| (group, element))
            })
            .collect();
        out.text(&format!("\n$EndNodes\n$Elements\n{}\n", repeated.len()));
        for ((group, element), number) in repeated.into_iter().zip(1..) {
            if !out.encoding.is_text() {
                [element.kind, 1, 2, number].iter().for_each(|&value| out.int(value));
            } else {
                [number, element.kind, 2].iter().for_each(|&value| out.int(value));
            }
            out.int(group);
            out.int(element.entity);
            element.nodes.iter().for_each(|&node| out.int(node as i32));
            out.line();
        }
        out.text("\n$EndElements\n");
    }

    fn write_41(&self, out: &mut Writer) {
        let mut entities: Vec<(i32, i32, &[i32])> = self.elements.iter().map(|e| (e.dim, e.entity, &e.groups[..])).collect();
        entities.dedup();
        out.text("$Entities\n");
        (0..4).for_each(|dim| out.size(entities.iter().filter(|entity| entity.0 == dim).count() as u64));
        out.line();
        for (dim, tag, groups) in entities {
            out.int(tag);
            (0..if dim == 0 { 3 } else { 6 }).for_each(|_| out.real(0.5));
            out.size(groups.len() as u64);
            groups.iter().for_each(|&group| out.int(group));
            if dim > 0 {
                out.size(2);
                out.int(1);
                out.int(-2);
            }
            out.line();
        }
        out.text("\n$EndEntities\n$Nodes\n");
        let n = self.nodes.len() as u64;
        [2, n, 1, n].iter().for_each(|&value| out.size(value));
        out.line();
        // The second block has parametric coordinates.
        for (nodes, dim, parametric) in [(&self.nodes[..1], 0, 0), (&self.nodes[1..], 2, 1)] {
            [dim, 1, parametric].iter().for_each(|&value| out.int(value));
            out.size(nodes.len() as u64);
            out.line();
            nodes.iter().for_each(|(tag, _)| out.size(*tag));
            out.line();
            for (_, place) in nodes {
                place.iter().for_each(|&x| out.real(x));
                (0..parametric * dim).for_each(|_| out.real(0.25));
                out.line();
            }
        }
        out.text("\n$EndNodes\n$Elements\n");
        let n = self.elements.len() as u64;
        [n, n, 1, n].iter().for_each(|&value| out.size(value));
        out.line();
        for (element, number) in self.elements.iter().zip(1..) {
            [element.dim, element.entity, element.kind].iter().for_each(|&value| out.int(value));
            out.size(1);
            out.line();
            out.size(number);
            element.nodes.iter().for_each(|&node| out.size(node));
            out.line();
        }
        out.text("\n$EndElements\n");
    }
}
