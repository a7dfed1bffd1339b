//! A steady step asks the system for no memory at all, counted by the allocator itself.

#![cfg(feature = "runtime")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use backend_serial::runtime::SerialRuntime;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::operations::*;
use equelle_runtime::session::Options;
use equelle_runtime::*;

thread_local! {
    /// Allocations of this thread; without destructor or lazy start, so that counting allocates
    /// nothing.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting.
struct Counting;

// SAFETY: every call goes to `System` unchanged, whose guarantees are those asked for; counting
// touches only a thread-local number.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`, which is that of `System.alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from `System.alloc` with this layout, through `alloc` above.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One step that visits every topic: geometry, vectors, comparison, ternary, On, Extend, Gradient,
/// Divergence, reductions.
fn step(rt: &mut SerialRuntime, u: &<SerialRuntime as EquelleRuntime>::ScalarCollection, dt: f64) -> Result<f64, Error> {
    rt.line(3);
    let interior = rt.domain(CanonicalSet { kind: EntityKind::Face, extent: Extent::Interior })?;
    let all = rt.domain(CanonicalSet { kind: EntityKind::Face, extent: Extent::All })?;
    let faces = rt.entities(&interior)?;
    let (first, second) = (rt.first_cell(&faces)?, rt.second_cell(&faces)?);
    let (from, to) = (rt.centroid(&first)?, rt.centroid(&second)?);
    let across = rt.sub(&to, &from)?;
    let distance = rt.length(&across)?;
    let normal = rt.normal(&faces)?;
    let projected = rt.dot(&across, &normal)?;
    let empty = rt.is_empty(&second)?;
    let distance = rt.select(&empty, &projected, &distance)?;
    let upwind = rt.compare(Comparison::Greater, &distance, &0.0)?;
    let cells = rt.select(&upwind, &first, &second)?;
    let upstream = rt.on(u, &cells)?;
    let gradient = rt.gradient(u)?;
    let flux = rt.mul(&upstream, &gradient)?;
    let flux = rt.extend(&flux, &all)?;
    let outflow = rt.divergence(&flux)?;
    let change = rt.mul(&outflow, &dt)?;
    let u = rt.sub(u, &change)?;
    let (max, sum) = (rt.reduce(Reduction::Max, &u)?, rt.reduce(Reduction::Sum, &u)?);
    rt.add(&max, &sum)
}

#[test]
fn a_steady_step_allocates_nothing() -> Result<(), Error> {
    let grid = Grid::cartesian(Cartesian::block([6, 5, 4], [1.0, 0.5, 0.25]))?;
    let mut rt = SerialRuntime::new(Session::on_grid(Program::named("test"), Parameters::default(), grid, Options::silent())?);
    let cells = rt.domain(CanonicalSet { kind: EntityKind::Cell, extent: Extent::All })?;
    let u = rt.scalar_collection(&cells, (0..120).map(|i| 1.0 + f64::from(i)).collect())?;
    let timesteps = Arc::new(vec![1e-3; 12]);
    let mut steps = rt.begin_loop(&timesteps)?;
    let mut steady = None;
    while let Some(dt) = rt.next(&mut steps)? {
        let before = ALLOCATIONS.get();
        step(&mut rt, &u, dt)?;
        steady = Some(ALLOCATIONS.get() - before);
    }
    assert_eq!(steady, Some(0));
    // The counter does count.
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1u8; 100]));
    assert!(ALLOCATIONS.get() > before);
    Ok(())
}
