//! A cube as lists of faces and cells, for loops by hand.

/// Stands for no cell.
pub const OUTSIDE: u32 = u32::MAX;

/// Any grid.
pub struct Mesh {
    /// Start of each cell's faces. `[cells + 1]`
    pub cell_face_pos: Vec<u32>,
    pub cell_faces: Vec<u32>,
    /// First and second cell. `[faces]`
    pub face_cells: Vec<[u32; 2]>,
    /// Transmissibility of inner faces and faces with a given temperature; 0 for others. `[faces]`
    pub trans: Vec<f64>,
    /// Temperature outside, where one is given. `[faces]`
    pub given: Vec<f64>,
    /// `[cells]`
    pub inverse_volume: Vec<f64>,
}

impl Mesh {
    /// A cube of unit cells with conductivity `k` and temperatures given on both ends of the first
    /// axis, numbered as the compiler's Cartesian grids are.
    pub fn cube(n: usize, k: f64, ends: [f64; 2]) -> Mesh {
        let cells = n.pow(3);
        let (across_y, across_z) = ((n + 1) * n * n, 2 * (n + 1) * n * n);
        let mut face_cells = vec![[OUTSIDE; 2]; 3 * (n + 1) * n * n];
        let mut cell_faces = vec![0_u32; 6 * cells];
        for cell in 0..cells {
            let (i, j, k) = (cell % n, cell / n % n, cell / (n * n));
            let (x, y, z) = (i + (n + 1) * (j + n * k), across_y + i + n * (j + (n + 1) * k), across_z + cell);
            for (slot, face) in [x, x + 1, y, y + n, z, z + n * n].into_iter().enumerate() {
                cell_faces[6 * cell + slot] = face as u32;
                face_cells[face][1 - slot % 2] = cell as u32;
            }
        }
        let mut trans = vec![0.0; face_cells.len()];
        let mut given = vec![0.0; face_cells.len()];
        for (face, pair) in face_cells.iter().enumerate() {
            if !pair.contains(&OUTSIDE) {
                trans[face] = k;
            } else if face < across_y {
                trans[face] = 2.0 * k;
                given[face] = if pair[0] == OUTSIDE { ends[0] } else { ends[1] };
            }
        }
        let cell_face_pos = (0..=cells).map(|cell| 6 * cell as u32).collect();
        Mesh { cell_face_pos, cell_faces, face_cells, trans, given, inverse_volume: vec![1.0; cells] }
    }
}
