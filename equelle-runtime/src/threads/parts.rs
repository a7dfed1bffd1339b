//! Outputs of a parallel loop, split like the loop.

/// Ranges of [`Threads::each`](super::Threads::each) begin at multiples of this, the size of a leaf
/// of reductions, so that a range consists of whole leaves.
pub const BLOCK: usize = 1024;

/// Outputs of a loop: one item per element, or several. Slices, arrays and tuples of them (up to
/// twelve, possibly nested), [`PerBlock`], [`Columns`] and [`Entries`].
pub trait Parts: Send + Sized {
    /// Splits off the outputs of the first `at` elements.
    ///
    /// # Panics
    /// May panic if there are fewer.
    fn split_at(self, at: usize) -> (Self, Self);

    /// True if it has outputs for `len` elements.
    fn fits(&self, len: usize) -> bool;
}

impl<T: Send> Parts for &mut [T] {
    fn split_at(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }

    fn fits(&self, len: usize) -> bool {
        self.len() == len
    }
}

impl<P: Parts, const N: usize> Parts for [P; N] {
    fn split_at(self, at: usize) -> (Self, Self) {
        let mut rest: [Option<P>; N] = [const { None }; N];
        let mut places = rest.iter_mut();
        let first = self.map(|parts| {
            let (first, rest) = parts.split_at(at);
            if let Some(place) = places.next() {
                *place = Some(rest);
            }
            first
        });
        (first, rest.map(|rest| rest.expect("one rest for each of the parts")))
    }

    fn fits(&self, len: usize) -> bool {
        self.iter().all(|parts| parts.fits(len))
    }
}

macro_rules! tuple {
    ($($name:ident)*) => {
        impl<$($name: Parts),*> Parts for ($($name,)*) {
            #[allow(non_snake_case, unused_variables, clippy::unused_unit)]
            fn split_at(self, at: usize) -> (Self, Self) {
                let ($($name,)*) = self;
                $(let $name = $name.split_at(at);)*
                (($($name.0,)*), ($($name.1,)*))
            }

            #[allow(non_snake_case, unused_variables)]
            fn fits(&self, len: usize) -> bool {
                let ($($name,)*) = self;
                true $(&& $name.fits(len))*
            }
        }
    };
}

tuple!();
tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);
tuple!(A B C D E F G);
tuple!(A B C D E F G H);
tuple!(A B C D E F G H I);
tuple!(A B C D E F G H I J);
tuple!(A B C D E F G H I J K);
tuple!(A B C D E F G H I J K L);

/// One item for every [`BLOCK`] elements, such as the sum of a leaf.
#[derive(Debug)]
pub struct PerBlock<'a, T>(pub &'a mut [T]);

impl<T: Send> Parts for PerBlock<'_, T> {
    fn split_at(self, at: usize) -> (Self, Self) {
        debug_assert_eq!(at % BLOCK, 0, "cut between blocks");
        let (first, rest) = self.0.split_at_mut(at / BLOCK);
        (PerBlock(first), PerBlock(rest))
    }

    fn fits(&self, len: usize) -> bool {
        self.0.len() == len.div_ceil(BLOCK)
    }
}

/// An item per element in each of several slices.
#[derive(Debug)]
pub struct Columns<'a, T>(pub Vec<&'a mut [T]>);

impl<T: Send> Parts for Columns<'_, T> {
    fn split_at(self, at: usize) -> (Self, Self) {
        let (first, rest) = self.0.into_iter().map(|column| column.split_at_mut(at)).unzip();
        (Columns(first), Columns(rest))
    }

    fn fits(&self, len: usize) -> bool {
        self.0.iter().all(|column| column.len() == len)
    }
}

/// Entries of the rows of a sparse matrix: an element of the loop is a row.
#[derive(Debug)]
pub struct Entries<'a, T> {
    /// Index of the first entry of each row of this part, and the end of the last one, among all
    /// entries.
    row_ptr: &'a [usize],
    /// First row of this part.
    first: usize,
    entries: &'a mut [T],
}

impl<'a, T> Entries<'a, T> {
    /// The entries of a whole matrix: `row_ptr` `[rows + 1]` starts with 0, ascends and ends with
    /// the number of entries.
    ///
    /// # Panics
    /// If `row_ptr` is empty or ends with another number.
    pub fn new(row_ptr: &'a [usize], entries: &'a mut [T]) -> Self {
        assert_eq!(row_ptr.last(), Some(&entries.len()), "row pointers of these entries");
        Entries { row_ptr, first: 0, entries }
    }

    /// The entries of a row of the matrix.
    ///
    /// # Panics
    /// If the row is not in this part.
    #[inline]
    pub fn row(&mut self, row: usize) -> &mut [T] {
        let (local, start) = (row - self.first, self.row_ptr[0]);
        &mut self.entries[self.row_ptr[local] - start..self.row_ptr[local + 1] - start]
    }

    /// The entries of `len` rows of the matrix from a row on, one row after the other.
    ///
    /// # Panics
    /// If a row is not in this part.
    #[inline]
    pub fn rows(&mut self, row: usize, len: usize) -> &mut [T] {
        let (local, start) = (row - self.first, self.row_ptr[0]);
        &mut self.entries[self.row_ptr[local] - start..self.row_ptr[local + len] - start]
    }
}

impl<T: Send> Parts for Entries<'_, T> {
    fn split_at(self, at: usize) -> (Self, Self) {
        let (entries, rest) = self.entries.split_at_mut(self.row_ptr[at] - self.row_ptr[0]);
        (
            Entries { row_ptr: &self.row_ptr[..=at], first: self.first, entries },
            Entries { row_ptr: &self.row_ptr[at..], first: self.first + at, entries: rest },
        )
    }

    fn fits(&self, len: usize) -> bool {
        self.row_ptr.len() == len + 1
    }
}
