//! Arrays and numbers that a program reads and writes in one launch.

use equelle_runtime::grid::{NONE, SideMap, Topology};
use equelle_runtime::threads::{Entries, Parts};

/// Places of entities in a set.
#[derive(Clone, Copy, Debug)]
pub enum Ranks<'a> {
    /// The first entities of a kind, as many as this: an entity's place is its index.
    All(u32),
    /// By entity; [`NONE`] outside of the set.
    Map(&'a [u32]),
}

impl Ranks<'_> {
    /// Place of an entity; [`NONE`], which is beyond every array, if it has none.
    #[inline(always)]
    pub fn of(self, entity: u32) -> u32 {
        match self {
            Ranks::All(len) => {
                if entity < len {
                    entity
                } else {
                    NONE
                }
            }
            Ranks::Map(map) => map.get(entity as usize).copied().unwrap_or(NONE),
        }
    }
}

/// An offset of reads by index, with what sides do.
#[derive(Clone, Copy, Debug)]
pub struct CellOffset {
    /// Cells further along each axis.
    pub by: [i8; 3],
    /// Low and high side of each axis.
    pub beyond: [SideMap; 6],
}

/// Arrays and numbers, by the indices of the program, which computes in `T`.
pub struct Bindings<'a, T> {
    /// The grid's, where the program needs it. Threads cannot make it: they may not share work in
    /// turn.
    pub topology: Option<&'a Topology>,
    /// Elements of the space, unless they are consecutive.
    pub elements: &'a [u32],
    /// Truth values are 1 and 0.
    pub uniforms: Vec<T>,
    pub reals: Vec<&'a [T]>,
    /// Doubles, which are rounded where they are read.
    pub triples: Vec<&'a [[f64; 3]]>,
    pub truths: Vec<&'a [bool]>,
    pub entities: Vec<&'a [u32]>,
    pub tables: Vec<&'a [f64]>,
    pub ranks: Vec<Ranks<'a>>,
    pub offsets: Vec<CellOffset>,
    /// The rows of an equation.
    pub rows: Rows<'a>,
}

/// Places of the derivatives of an equation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rows<'a> {
    /// Start of each row among all entries; one more than there are rows.
    pub row_ptr: &'a [usize],
    /// Column of each entry, ascending in a row.
    pub columns: &'a [u32],
    /// First column and number of elements of each unknown.
    pub unknowns: &'a [(usize, usize)],
}

impl Rows<'_> {
    /// The column of an element of an unknown.
    #[inline(always)]
    pub fn column(self, unknown: u32, position: usize) -> Option<u32> {
        let (first, len) = self.unknowns[unknown as usize];
        (position < len).then(|| (first + position) as u32)
    }

    /// The slot of a column in a row; first `guess` is tried, the slot in the row before.
    #[inline(always)]
    pub fn slot(self, row: usize, column: u32, guess: usize) -> Option<usize> {
        let own = &self.columns[self.row_ptr[row]..self.row_ptr[row + 1]];
        match own.get(guess) {
            Some(&other) if other == column => Some(guess),
            Some(_) | None => own.iter().position(|&other| other == column),
        }
    }
}

/// Rows as a program marks them.
#[derive(Debug, Default)]
pub struct Marks {
    /// Lane and column of the marks of a block.
    pub block: Vec<(u32, u32)>,
    /// Start of each row among all columns.
    pub row_ptr: Vec<usize>,
    /// Columns, ascending in a row.
    pub columns: Vec<u32>,
}

impl Marks {
    /// No rows.
    pub fn new() -> Self {
        Marks { row_ptr: vec![0], ..Marks::default() }
    }

    /// The marks of a block of lanes become rows.
    pub fn end_block(&mut self, lanes: usize) {
        self.block.sort_unstable();
        self.block.dedup();
        let mut marks = self.block.iter().peekable();
        for lane in 0..lanes as u32 {
            while let Some((_, column)) = marks.next_if(|(other, _)| *other == lane) {
                self.columns.push(*column);
            }
            self.row_ptr.push(self.columns.len());
        }
        self.block.clear();
    }
}

/// The part of a result that belongs to some positions; collections are of `S`.
#[derive(Debug)]
pub enum Output<'a, S> {
    Reals(&'a mut [S]),
    Truths(&'a mut [bool]),
    Entities(&'a mut [u32]),
    /// Derivatives.
    Entries(Entries<'a, S>),
    /// Places of derivatives; not shared among threads.
    Marks(&'a mut Marks),
}

/// Parts of all results, by component.
#[derive(Debug)]
pub struct Outputs<'a, S>(pub Vec<Output<'a, S>>);

impl<S: Send> Parts for Outputs<'_, S> {
    fn split_at(self, at: usize) -> (Self, Self) {
        let halves = self.0.into_iter().map(|output| match output {
            Output::Reals(values) => {
                let (first, rest) = values.split_at_mut(at);
                (Output::Reals(first), Output::Reals(rest))
            }
            Output::Truths(values) => {
                let (first, rest) = values.split_at_mut(at);
                (Output::Truths(first), Output::Truths(rest))
            }
            Output::Entities(values) => {
                let (first, rest) = values.split_at_mut(at);
                (Output::Entities(first), Output::Entities(rest))
            }
            Output::Entries(entries) => {
                let (first, rest) = entries.split_at(at);
                (Output::Entries(first), Output::Entries(rest))
            }
            Output::Marks(_) => unreachable!("rows are marked on one thread"),
        });
        let (first, rest) = halves.unzip();
        (Outputs(first), Outputs(rest))
    }

    fn fits(&self, len: usize) -> bool {
        self.0.iter().all(|output| match output {
            Output::Reals(values) => values.len() == len,
            Output::Truths(values) => values.len() == len,
            Output::Entities(values) => values.len() == len,
            Output::Entries(entries) => entries.fits(len),
            Output::Marks(_) => true,
        })
    }
}
