//! A memory pool: buffers that return to the runtime.
//!
//! A collection's values are a [`Values`]: shared, immutable, returned to the runtime's pool by the
//! last handle, with the reference count. A [`Buffer`] is the same before it is shared, and is
//! writable. A time step with the same lengths as the step before therefore allocates nothing;
//! [`PoolCounters`] count.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Counters of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolCounters {
    /// Number of buffers taken.
    pub taken: u64,
    /// Number of those that were allocated.
    pub allocated: u64,
    /// Memory of all buffers of the pool, in use or idle, in bytes. Never shrinks.
    pub bytes: usize,
}

impl PoolCounters {
    /// Sum over two pools.
    #[must_use]
    pub fn plus(self, other: PoolCounters) -> PoolCounters {
        PoolCounters { taken: self.taken + other.taken, allocated: self.allocated + other.allocated, bytes: self.bytes + other.bytes }
    }
}

/// Bytes of a line of a cache, which is also the longest vector of a processor.
const LINE: usize = 64;

/// Buffers of fewer bytes begin anywhere.
const WORTH_ALIGNING: usize = 64 * LINE;

/// Memory of a buffer, and where in it the values begin.
struct Memory<T> {
    shared: Rc<Vec<T>>,
    start: usize,
    len: usize,
}

impl<T> Clone for Memory<T> {
    fn clone(&self) -> Self {
        Memory { shared: Rc::clone(&self.shared), ..*self }
    }
}

/// Idle buffers by length and by whether they begin at a line, the last returned on top, which is
/// most likely in cache.
type Idle<T> = BTreeMap<(usize, bool), Vec<Memory<T>>>;

/// Buffers in use and idle.
pub(super) struct Pool<T> {
    idle: RefCell<Idle<T>>,
    /// Numbers of buffers that have left, by length.
    left: RefCell<BTreeMap<usize, usize>>,
    counters: Cell<PoolCounters>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { idle: RefCell::default(), left: RefCell::default(), counters: Cell::default() }
    }
}

impl<T: Copy + Default> Pool<T> {
    /// A buffer of `len` values: those of its last user, or zeros if it is new. They leave the pool
    /// without a copy.
    pub(super) fn take(self: &Rc<Self>, len: usize) -> Buffer<T> {
        self.taken(len, false)
    }

    /// The same for loops by vectors: a long buffer begins at a line of the cache, so that vectors
    /// are in one line each. Its values are copied where they leave the pool.
    pub(super) fn take_aligned(self: &Rc<Self>, len: usize) -> Buffer<T> {
        self.taken(len, size_of::<T>() > 1 && len * size_of::<T>() >= WORTH_ALIGNING)
    }

    fn taken(self: &Rc<Self>, len: usize, aligned: bool) -> Buffer<T> {
        let mut counters = self.counters.get();
        counters.taken += 1;
        let (values, aligned) = self.idle(len, aligned, &mut counters).unwrap_or_else(|| {
            counters.allocated += 1;
            counters.bytes += len * size_of::<T>();
            let room = if aligned { LINE / size_of::<T>() } else { 0 };
            let values = vec![T::default(); len + room];
            let start = if aligned { values.as_ptr().align_offset(LINE).min(room) } else { 0 };
            (Memory { shared: Rc::new(values), start, len }, aligned)
        });
        self.counters.set(counters);
        Buffer(Values { values: Some(values), aligned, pool: Rc::clone(self) })
    }

    /// An idle buffer, and whether it is aligned. Where one must be aligned and only others are
    /// there, one of them is freed, so that alignment takes no memory of its own.
    fn idle(&self, len: usize, aligned: bool, counters: &mut PoolCounters) -> Option<(Memory<T>, bool)> {
        let mut idle = self.idle.borrow_mut();
        let mut pop = |aligned| idle.get_mut(&(len, aligned)).and_then(Vec::pop).map(|memory| (memory, aligned));
        pop(aligned).or_else(|| {
            let other = pop(!aligned)?;
            if aligned {
                counters.bytes -= len * size_of::<T>();
                return None;
            }
            Some(other)
        })
    }

    /// Takes values from outside; counts as an allocation. They join the idle buffers later, so
    /// that one of those makes room for them.
    pub(super) fn adopt(self: &Rc<Self>, values: Vec<T>) -> Values<T> {
        let mut counters = self.counters.get();
        let mut idle = self.idle.borrow_mut();
        let mut is_freed = |aligned| idle.get_mut(&(values.len(), aligned)).and_then(Vec::pop).is_some();
        if is_freed(false) || is_freed(true) {
            counters.bytes -= values.len() * size_of::<T>();
        }
        counters.taken += 1;
        counters.allocated += 1;
        counters.bytes += values.len() * size_of::<T>();
        self.counters.set(counters);
        Values { values: Some(Memory { len: values.len(), shared: Rc::new(values), start: 0 }), aligned: false, pool: Rc::clone(self) }
    }

    /// Takes back values that left the pool by [`Values::into_vec`]; frees others, of which there
    /// would be more and more.
    pub(super) fn give_back(&self, values: Vec<T>) {
        match self.left.borrow_mut().get_mut(&values.len()) {
            Some(left) if *left > 0 => *left -= 1,
            Some(_) | None => return,
        }
        let memory = Memory { len: values.len(), shared: Rc::new(values), start: 0 };
        self.idle.borrow_mut().entry((memory.len, false)).or_default().push(memory);
    }

    pub(super) fn counters(&self) -> PoolCounters {
        self.counters.get()
    }
}

/// Shared immutable values, one per element of a domain. Reads as a slice; a clone copies no value.
pub struct Values<T = f64> {
    /// `None` only while the last handle is dropped.
    values: Option<Memory<T>>,
    /// Which idle buffers they join.
    aligned: bool,
    pool: Rc<Pool<T>>,
}

impl<T> Clone for Values<T> {
    fn clone(&self) -> Self {
        Values { values: self.values.clone(), aligned: self.aligned, pool: Rc::clone(&self.pool) }
    }
}

impl<T: Clone> Values<T> {
    /// The values, copied unless this is the last handle of a buffer of [`Pool::take`]. They leave
    /// the pool until they are given back.
    pub(super) fn into_vec(mut self) -> Vec<T> {
        if self.aligned {
            return self.to_vec();
        }
        let values = self.values.take().map(|memory| memory.shared);
        match values.map(Rc::try_unwrap) {
            Some(Ok(values)) => {
                *self.pool.left.borrow_mut().entry(values.len()).or_default() += 1;
                values
            }
            Some(Err(shared)) => shared.to_vec(),
            None => Vec::new(),
        }
    }
}

impl<T> Values<T> {
    /// The handle, which leaves one without values.
    pub(super) fn take(&mut self) -> Values<T> {
        Values { values: self.values.take(), aligned: self.aligned, pool: Rc::clone(&self.pool) }
    }
}

impl<T: Copy + Default> Values<T> {
    /// The values to be overwritten: themselves if this is the last handle, else a copy.
    pub(super) fn into_buffer(self) -> Buffer<T> {
        if self.values.as_ref().is_some_and(|memory| Rc::strong_count(&memory.shared) == 1) {
            return Buffer(self);
        }
        let mut copy = self.pool.take_aligned(self.len());
        copy.copy_from_slice(&self);
        copy
    }
}

impl<T> Deref for Values<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.values.as_ref().map_or(&[], |memory| &memory.shared[memory.start..][..memory.len])
    }
}

impl<T> Drop for Values<T> {
    fn drop(&mut self) {
        if let Some(memory) = self.values.take_if(|memory| Rc::strong_count(&memory.shared) == 1) {
            self.pool.idle.borrow_mut().entry((memory.len, self.aligned)).or_default().push(memory);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Values<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Values of a single owner. Reads and writes as a slice; the owner must write every element before
/// sharing.
pub struct Buffer<T = f64>(Values<T>);

impl<T> Buffer<T> {
    /// Ends writing: the values are shared and immutable from now on.
    #[must_use]
    pub fn share(self) -> Values<T> {
        self.0
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // Only `share` clones the handle, so the values are not shared yet.
        let Some(Memory { shared, start, len }) = &mut self.0.values else { return &mut [] };
        Rc::get_mut(shared).map_or(&mut [], |values| &mut values[*start..][..*len])
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_handle_returns_the_buffer_and_the_next_taker_gets_it() {
        let pool = Rc::new(Pool::<f64>::default());
        let mut buffer = pool.take(3);
        buffer.copy_from_slice(&[1.0, 2.0, 3.0]);
        let shared = buffer.share();
        let other = shared.clone();
        drop(shared);
        let second = pool.take(3);
        assert_eq!(pool.counters(), PoolCounters { taken: 2, allocated: 2, bytes: 48 });
        assert_eq!(&*other, [1.0, 2.0, 3.0], "a handle that still lives keeps its values");
        drop(other);
        let third = pool.take(3);
        assert_eq!(&*third, [1.0, 2.0, 3.0], "the returned buffer is reused as it is");
        assert_eq!(pool.counters(), PoolCounters { taken: 3, allocated: 2, bytes: 48 });
        drop((second, third));
    }

    #[test]
    fn lengths_do_not_mix() {
        let pool = Rc::new(Pool::<u32>::default());
        drop(pool.take(2));
        assert_eq!(pool.take(5).len(), 5);
        assert_eq!(pool.counters().allocated, 2);
        assert_eq!(pool.take(2).len(), 2);
        assert_eq!(pool.counters().allocated, 2);
    }

    #[test]
    fn an_abandoned_buffer_returns_too() {
        let pool = Rc::new(Pool::<bool>::default());
        drop(pool.take(4));
        drop(pool.take(4));
        assert_eq!(pool.counters(), PoolCounters { taken: 2, allocated: 1, bytes: 4 });
    }

    /// The last handle returns its values without a copy; other handles keep theirs.
    #[test]
    fn values_leave_the_pool_and_come_back() {
        let pool = Rc::new(Pool::<f64>::default());
        let mut buffer = pool.take(2);
        buffer.copy_from_slice(&[1.0, 2.0]);
        let address = buffer.as_ptr();
        let shared = buffer.share();
        let copy = shared.clone().into_vec();
        assert_ne!(copy.as_ptr(), address);
        let moved = shared.into_vec();
        assert_eq!((moved.as_ptr(), &moved[..]), (address, &[1.0, 2.0][..]));
        pool.give_back(moved);
        // The copy never was of the pool, and neither were values from elsewhere.
        pool.give_back(copy);
        pool.give_back(vec![3.0; 5]);
        assert_eq!(pool.idle.borrow().values().map(Vec::len).sum::<usize>(), 1);
        assert_eq!(pool.take(2).as_ptr(), address);
        assert_eq!(pool.counters(), PoolCounters { taken: 2, allocated: 1, bytes: 16 });
    }

    /// Values are written in place where this is their last handle; other handles keep theirs.
    #[test]
    fn the_last_handle_is_written_in_place() {
        let pool = Rc::new(Pool::<f64>::default());
        let mut buffer = pool.take(2);
        buffer.copy_from_slice(&[1.0, 2.0]);
        let shared = buffer.share();
        let other = shared.clone();
        let mut copy = shared.into_buffer();
        copy[0] = 3.0;
        assert_eq!((&*other, &*copy), (&[1.0, 2.0][..], &[3.0, 2.0][..]));
        let address = other.as_ptr();
        let mut same = other.into_buffer();
        same[1] = 4.0;
        assert_eq!((same.as_ptr(), &*same), (address, &[1.0, 4.0][..]));
        assert_eq!(pool.counters().allocated, 2);
    }

    /// Long buffers for loops begin at a line; that takes no more memory.
    #[test]
    fn long_buffers_are_aligned() {
        let pool = Rc::new(Pool::<f32>::default());
        let mut buffer = pool.take_aligned(5000);
        assert_eq!((buffer.len(), buffer.as_ptr().align_offset(LINE)), (5000, 0));
        buffer[4999] = 7.0;
        let address = buffer.as_ptr();
        drop(pool.take(5000));
        assert_eq!(buffer.share().into_vec()[4999], 7.0);
        assert_eq!(pool.take_aligned(5000).as_ptr(), address);
        // One that is idle and not aligned makes room for one that is.
        let pool = Rc::new(Pool::<f64>::default());
        drop(pool.take(5000));
        assert_eq!(pool.take_aligned(5000).as_ptr().align_offset(LINE), 0);
        drop(pool.take(5000));
        assert_eq!(pool.counters().bytes, 5000 * size_of::<f64>());
        assert_eq!(pool.counters(), PoolCounters { taken: 3, allocated: 2, bytes: 40_000 });
    }

    /// Whoever brings values of its own each time needs no more memory than once.
    #[test]
    fn values_from_outside_take_the_room_of_idle_ones() {
        let pool = Rc::new(Pool::<f64>::default());
        for round in 0..100 {
            let (new, other) = (pool.adopt(vec![1.0; 3]), pool.adopt(vec![2.0; 3]));
            assert_eq!((&*new, &*other, round + 1), (&[1.0; 3][..], &[2.0; 3][..], pool.counters().allocated / 2));
        }
        assert_eq!(pool.counters().bytes, 2 * 3 * size_of::<f64>());
        let idle: usize = pool.idle.borrow().values().map(Vec::len).sum();
        assert_eq!(idle, 2);
    }

    #[test]
    fn buffers_outlive_their_maker() {
        let pool = Rc::new(Pool::<f64>::default());
        let mut buffer = pool.take(1);
        drop(pool);
        buffer[0] = 7.0;
        assert_eq!(&*buffer.share(), [7.0]);
    }
}
