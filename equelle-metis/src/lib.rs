//! METIS, which cuts graphs into parts of equal size that few edges join (Karypis and Kumar 1998,
//! doi:10.1137/S1064827595287997), loaded where it is installed.
//!
//! Nothing is linked and no header is read. How wide its numbers are differs from build to build,
//! and is found by what `METIS_SetDefaultOptions` writes.

use std::ffi::{c_int, c_void};
use std::fmt;

use equelle_runtime::Error;
use equelle_runtime::error::ErrorKind;
use equelle_runtime::ranks::{CellGraph, Partition, RankId};
use libloading::Library;

/// Names of the library, the usual one of Linux first.
const NAMES: [&str; 4] = ["libmetis.so.5", "libmetis.so", "libmetis.dylib", "metis.dll"];
/// Entries of the array of options (`METIS_NOPTIONS`, the same in versions 5.0 to 5.2).
const N_OPTIONS: usize = 40;
/// Value that functions return if they succeed (`METIS_OK`).
const OK: c_int = 1;

type SetDefaultOptions = unsafe extern "C" fn(*mut c_void) -> c_int;
/// Numbers of vertices and constraints, the graph, three kinds of weights, the number of parts,
/// wanted weights, tolerances, options, the edges cut, the part of each vertex.
type PartGraph = unsafe extern "C" fn(
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
) -> c_int;

/// METIS of version 5.
pub struct Metis {
    library: Library,
    name: &'static str,
    width: Width,
}

/// Width of the numbers of a build of METIS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Bits32,
    Bits64,
}

impl fmt::Debug for Metis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metis").field("name", &self.name).field("width", &self.width).finish()
    }
}

impl Metis {
    /// The library, if the loader finds one that is METIS of version 5.
    pub fn load() -> Option<Metis> {
        NAMES.into_iter().find_map(|name| {
            // SAFETY: METIS has no initialisers, and nothing else has these names.
            let library = unsafe { Library::new(name) }.ok()?;
            let width = width_of_numbers(&library)?;
            Some(Metis { library, name, width })
        })
    }

    /// The name by which it was found.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Cuts cells into parts of nearly the same size. The same graph gives the same parts with the
    /// same build of METIS.
    ///
    /// # Errors
    /// `Data` if there are more ranks than cells, METIS leaves a rank without cells or refuses the
    /// graph, or the graph is too large for its numbers.
    pub fn partition(&self, graph: &CellGraph, n_ranks: u32) -> Result<Partition, Error> {
        let n_cells = graph.n_cells();
        if n_ranks as usize > n_cells {
            return Err(Error::new(ErrorKind::Data, format!("{n_ranks} ranks for {n_cells} cells")));
        }
        if n_ranks < 2 {
            return Partition::new(vec![RankId(0); n_cells], n_ranks);
        }
        let owners = match self.width {
            Width::Bits32 => self.cut::<i32>(graph, n_ranks)?,
            Width::Bits64 => self.cut::<i64>(graph, n_ranks)?,
        };
        Partition::new(owners, n_ranks)
    }

    fn cut<N: MetisNumber>(&self, graph: &CellGraph, n_ranks: u32) -> Result<Vec<RankId>, Error> {
        let too_large = || Error::new(ErrorKind::Data, format!("the grid is too large for this build of METIS ({})", self.name));
        let starts: Option<Vec<N>> = graph.starts.iter().map(|&start| N::try_from(start).ok()).collect();
        let neighbours: Option<Vec<N>> = graph.neighbours.iter().map(|&cell| N::try_from(cell as usize).ok()).collect();
        let (Some(mut starts), Some(mut neighbours)) = (starts, neighbours) else { return Err(too_large()) };
        let number = |value: usize| N::try_from(value).map_err(|_| too_large());
        let (mut n_cells, mut n_constraints, mut n_parts) = (number(graph.n_cells())?, number(1)?, number(n_ranks as usize)?);
        let mut n_cut = N::default();
        let mut parts = vec![N::default(); graph.n_cells()];
        let none = std::ptr::null_mut();
        // SAFETY: the name is that of METIS 5, whose function has these thirteen parameters.
        let part_graph = unsafe { self.library.get::<PartGraph>(b"METIS_PartGraphKway\0") };
        let part_graph = part_graph.map_err(|error| Error::new(ErrorKind::Data, format!("{}: {error}", self.name)))?;
        let at = |value: &mut N| std::ptr::from_mut(value).cast::<c_void>();
        // SAFETY: all pointers are to numbers of the width that this build has, and the arrays have
        // the lengths that the first numbers say; neighbours are below the number of cells; null
        // stands for weights, tolerances and options of its own choice.
        let status = unsafe {
            part_graph(
                at(&mut n_cells),
                at(&mut n_constraints),
                starts.as_mut_ptr().cast(),
                neighbours.as_mut_ptr().cast(),
                none,
                none,
                none,
                at(&mut n_parts),
                none,
                none,
                none,
                at(&mut n_cut),
                parts.as_mut_ptr().cast(),
            )
        };
        if status != OK {
            return Err(Error::new(ErrorKind::Data, format!("METIS cannot cut the grid into {n_ranks} parts (status {status})")));
        }
        let owner = |part: N| u32::try_from(part.into()).map(RankId).map_err(|_| too_large());
        parts.into_iter().map(owner).collect()
    }
}

/// A number as a build of METIS has it.
trait MetisNumber: Copy + Default + TryFrom<usize> + Into<i64> {}
impl MetisNumber for i32 {}
impl MetisNumber for i64 {}

/// How wide the numbers of a library are, by how far it fills an array of options with -1; `None`
/// if it is not METIS of version 5.
fn width_of_numbers(library: &Library) -> Option<Width> {
    // SAFETY: METIS 5 has this function of one parameter.
    let set_default_options = unsafe { library.get::<SetDefaultOptions>(b"METIS_SetDefaultOptions\0") }.ok()?;
    let mut options = [0_i64; N_OPTIONS];
    // SAFETY: the array has room for the options in either width.
    unsafe { set_default_options(options.as_mut_ptr().cast()) };
    let filled = |range: std::ops::Range<usize>| options[range].iter().all(|&option| option == -1);
    match (filled(0..N_OPTIONS / 2), filled(N_OPTIONS / 2..N_OPTIONS)) {
        (true, true) => Some(Width::Bits64),
        (true, false) if options[N_OPTIONS / 2..].iter().all(|&option| option == 0) => Some(Width::Bits32),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equelle_runtime::grid::{Cartesian, Grid};
    use equelle_runtime::ranks::HaloCounts;

    /// Where METIS is not installed there is nothing to test.
    #[test]
    fn cubes_are_cut_evenly() {
        let Some(metis) = Metis::load() else { return };
        let grid = Grid::cartesian(Cartesian::block([12; 3], [1.0; 3])).expect("a shape");
        let graph = CellGraph::of(&grid);
        for n_ranks in [1, 2, 8, 27] {
            let partition = metis.partition(&graph, n_ranks).expect("it cuts a cube");
            assert!(partition.imbalance() <= 1.04, "{n_ranks}: {}", partition.imbalance());
            assert_eq!(metis.partition(&graph, n_ranks).expect("again"), partition);
        }
        // Planes through the cube send 144 cells each way; METIS is near that.
        let halves = metis.partition(&graph, 2).expect("two parts");
        assert!(HaloCounts::of(&graph, &halves, 1).most(|rank| rank.sent) <= 160);
        assert!(metis.partition(&graph, 1729).is_err());
    }
}
