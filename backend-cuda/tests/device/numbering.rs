//! The prelude's numbering of grids against the runtime library's, entity by entity, and who makes
//! what is kept of it.
#![cfg(feature = "runtime")]

use std::sync::Arc;

use backend_cuda::runtime::executor::arguments::EqGrid;
use backend_cuda::runtime::{CudaRuntime, FloatingPoint, GridArrays, KernelModule};
use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Cartesian, Grid, NONE, Renumber};
use equelle_runtime::session::SUPPORTED_SETS;
use equelle_runtime::{CanonicalSet, EntityKind, EquelleRuntime, Extent, HostAccess};

const KERNELS: KernelModule = KernelModule::constant("numbering", include_str!("../numbering/kernels.cu"), FloatingPoint::Strict);

/// The canonical sets, and of each every second element.
fn sets(rt: &mut CudaRuntime) -> Vec<Arc<Domain>> {
    let canonical: Vec<Arc<Domain>> = SUPPORTED_SETS.iter().map(|&set| rt.domain(set).unwrap()).collect();
    let halves = canonical.iter().map(|set| {
        let elements = set.elements().iter().copied().step_by(2).collect();
        Domain::subset("half", set, elements).unwrap()
    });
    canonical.iter().cloned().chain(halves).collect()
}

#[test]
fn ranks_agree_with_the_library() {
    for device in crate::common::devices() {
        for shape in crate::common::shapes().into_iter().chain(crate::common::joined_shapes()) {
            let mut rt = crate::common::runtime(device.clone(), crate::common::grid(shape), &[]);
            for set in sets(&mut rt) {
                let all = rt.domain(CanonicalSet::new(set.kind(), Extent::All)).unwrap();
                let expected: Vec<Option<u32>> = (0..all.len() as u32).map(|entity| set.rank(entity)).collect();
                let what = format!("{} ({} elements) of {:?}, joined {:?}", set.name(), set.len(), &shape.n[..shape.dim], shape.joined);

                // An entity collection full of Empty to write to.
                let out = rt.entity_collection(&all, set.kind(), vec![None; all.len()]).unwrap();
                let ranks = rt.ranks(&set).unwrap();
                let call = rt.call(&KERNELS, "ranks_by_table").unwrap().arg(all.len() as u32).arg(ranks).arg(out.pointer());
                rt.launch_over(call, all.len()).unwrap();
                assert_eq!(rt.entity_indices(&out).unwrap(), expected, "by table: {what}");

                let (g, ranks) = (rt.cartesian_args().unwrap(), rt.cartesian_ranks(&set).unwrap());
                let out = rt.entity_collection(&all, set.kind(), vec![None; all.len()]).unwrap();
                let call = rt.call(&KERNELS, "ranks_by_division").unwrap().arg(all.len() as u32).arg(g).arg(ranks).arg(out.pointer());
                rt.launch_over(call, all.len()).unwrap();
                assert_eq!(rt.entity_indices(&out).unwrap(), expected, "by division: {what}");

                let out = rt.entity_collection(&all, set.kind(), vec![None; all.len()]).unwrap();
                let call = rt.call(&KERNELS, "ranks_by_position").unwrap().arg(g).arg(ranks).arg(out.pointer());
                rt.launch_over_cells(call).unwrap();
                assert_eq!(rt.entity_indices(&out).unwrap(), expected, "by position: {what}");
            }
        }
    }
}

/// A grid as it is, with nothing known of its shape, and with interior faces first.
fn forms(shape: Cartesian) -> [(&'static str, Grid); 3] {
    let unstructured = || Grid::cartesian(shape).unwrap().as_unstructured();
    let mut renumbered = unstructured();
    renumbered.renumber(Renumber::Yes);
    [("Cartesian", Grid::cartesian(shape).unwrap()), ("unstructured", unstructured()), ("interior faces first", renumbered)]
}

/// Canonical sets of all kinds that a grid has, of each every second element, and of those every
/// second one.
fn nested_sets(rt: &mut CudaRuntime) -> Vec<Arc<Domain>> {
    let kinds = [EntityKind::Cell, EntityKind::Face, EntityKind::Edge, EntityKind::Vertex];
    let extents = [Extent::All, Extent::Interior, Extent::Boundary];
    let canonical = kinds.iter().flat_map(|&kind| extents.map(|extent| CanonicalSet::new(kind, extent)));
    let mut sets = Vec::new();
    for set in canonical.filter_map(|set| rt.canonical_domain(set).ok()) {
        let half = Domain::subset("half", &set, set.elements().iter().copied().step_by(2).collect()).unwrap();
        let quarter = Domain::subset("quarter", &half, half.elements().iter().copied().step_by(2).collect()).unwrap();
        sets.extend([set, half, quarter]);
    }
    sets
}

/// Ranks are made by the device, of lists that it has: what goes there is a list that the host
/// alone knows, once.
#[test]
fn only_lists_are_copied_to_the_device() {
    for device in crate::common::devices() {
        for shape in crate::common::shapes() {
            for (form, grid) in forms(shape) {
                let mut rt = crate::common::runtime(device.clone(), grid, &[]);
                let sets = nested_sets(&mut rt);
                assert!(sets.len() >= 18, "those of cells and faces at least");
                let mut there: Vec<Arc<Domain>> = Vec::new();
                for set in sets {
                    let around = rt.canonical_domain(set.superset()).unwrap();
                    let what = format!("{} of {}, {form}, {:?}", set.name(), around.name(), &shape.n[..shape.dim]);
                    let closed_form = form == "Cartesian" && matches!(set.kind(), EntityKind::Cell | EntityKind::Face);
                    let mut expected_bytes = 0;
                    // A list of a canonical set is asked for only where nothing else says what is
                    // in it, and then it makes a table.
                    let needed = [(around.offset().is_none(), &around), (set.canonical_set().is_none(), &set)];
                    for (_, domain) in needed.into_iter().filter(|&(needed, _)| needed) {
                        let by_device = domain.canonical_set().is_some() && closed_form;
                        if !by_device && !there.iter().any(|known| Arc::ptr_eq(known, domain)) {
                            expected_bytes += 4 * domain.len() as u64;
                        }
                        there.push(domain.clone());
                    }
                    let before = rt.counters().uploaded_bytes;
                    let ranks = rt.ranks(&set).unwrap();
                    assert_eq!(rt.ranks(&set).unwrap(), ranks, "{what}");
                    assert_eq!(rt.counters().uploaded_bytes - before, expected_bytes, "{what}");

                    let all = rt.canonical_domain(CanonicalSet::new(set.kind(), Extent::All)).unwrap();
                    let expected: Vec<Option<u32>> = (0..all.len() as u32).map(|entity| set.rank(entity)).collect();
                    let out = rt.entity_collection(&all, set.kind(), vec![None; all.len()]).unwrap();
                    let call = rt.call(&KERNELS, "ranks_by_table").unwrap().arg(all.len() as u32).arg(ranks).arg(out.pointer());
                    rt.launch_over(call, all.len()).unwrap();
                    assert_eq!(rt.entity_indices(&out).unwrap(), expected, "{what}");
                    let elements: Vec<Option<u32>> = set.elements().iter().copied().map(Some).collect();
                    let entities = rt.entities(&set).unwrap();
                    assert_eq!(rt.entity_indices(&entities).unwrap(), elements, "{what}");
                }
            }
        }
    }
}

#[test]
fn neighbours_are_the_cells_of_the_faces() {
    for device in crate::common::devices() {
        for shape in crate::common::shapes().into_iter().chain(crate::common::joined_shapes()) {
            let mut rt = crate::common::runtime(device.clone(), crate::common::grid(shape), &[]);
            let sides = 2 * shape.dim * shape.n_cells();
            // Room for one index per side of a cell: a collection over as many cells of another
            // grid.
            let room = Grid::cartesian(equelle_runtime::grid::Cartesian::line(sides, 1.0)).unwrap().shared();
            let room = Domain::canonical(&room, CanonicalSet::new(EntityKind::Cell, Extent::All)).unwrap();
            let mut at_sides = |kernel| {
                let out = rt.entity_collection(&room, EntityKind::Cell, vec![Some(0); sides]).unwrap();
                let call = rt.call(&KERNELS, kernel).unwrap().arg(rt.cartesian_args().unwrap()).arg(out.pointer());
                rt.launch_inside_and_boundary(call).unwrap();
                rt.entity_indices(&out).unwrap()
            };
            let (neighbours, faces) = (at_sides("neighbours"), at_sides("side_faces"));
            let grid = rt.session().grid();
            for cell in 0..shape.n_cells() {
                for axis in 0..shape.dim {
                    for high in [false, true] {
                        let face = shape.cell_face(cell, axis, high);
                        let cells = grid.topology().face_cells[face];
                        let expected = Some(cells[usize::from(high)]).filter(|&c| c != NONE);
                        let at = 2 * (shape.dim * cell + axis) + usize::from(high);
                        let what = format!("cell {cell}, axis {axis}, {high}, {:?}, joined {:?}", shape.n, shape.joined);
                        assert_eq!((neighbours[at], faces[at]), (expected, Some(face as u32)), "{what}");
                    }
                }
            }
        }
    }
}

/// Each cell once, by the part of the launch that it belongs to; grids of one cell and of two along
/// an axis have no inside.
#[test]
fn a_march_and_its_boundary_meet_every_cell_once() {
    let thin = [[1, 1, 1], [2, 1, 3], [5, 2, 1], [40, 9, 1], [7, 3, 11], [33, 17, 6], [3, 3, 3], [67, 131, 61], [130, 65, 70]];
    let boxes = thin.map(|n| Cartesian { n, dim: 3, ..crate::common::shapes()[0] });
    let plates = thin.into_iter().chain([[700, 750, 1]]).map(|[x, y, _]| Cartesian { n: [x, y, 1], dim: 2, ..crate::common::shapes()[0] });
    let lines = [1, 2, 3, 200].map(|n| Cartesian::line(n, 1.0));
    for device in crate::common::devices() {
        for shape in crate::common::shapes().into_iter().chain(boxes).chain(plates.clone()).chain(lines) {
            let mut rt = crate::common::runtime(device.clone(), Grid::cartesian(shape).unwrap(), &[]);
            let cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All)).unwrap();
            let out = rt.entity_collection(&cells, EntityKind::Cell, vec![Some(0); cells.len()]).unwrap();
            let g = rt.cartesian_args().unwrap();
            let call = rt.call(&KERNELS, "visits").unwrap().arg(g).arg(out.pointer());
            rt.launch_inside_and_boundary(call).unwrap();
            let inside = |cell: usize| {
                let ijk = [cell % shape.n[0], cell / shape.n[0] % shape.n[1], cell / shape.n[0] / shape.n[1]];
                // In one dimension all cells go together.
                shape.dim > 1 && (0..shape.dim).all(|axis| ijk[axis] > 0 && ijk[axis] + 1 < shape.n[axis])
            };
            let expected: Vec<Option<u32>> = (0..shape.n_cells()).map(|cell| Some(if inside(cell) { 1 } else { 256 })).collect();
            assert_eq!(rt.entity_indices(&out).unwrap(), expected, "{:?}", &shape.n[..shape.dim]);
        }
    }
}

/// As many numbers as a kernel of one thread for each of `threads` entities writes.
fn numbers(rt: &mut CudaRuntime, kernel: &'static str, grid: EqGrid, threads: usize, each: usize) -> Vec<u64> {
    let room = Grid::cartesian(Cartesian::line(threads * each, 1.0)).unwrap().shared();
    let room = Domain::canonical(&room, CanonicalSet::new(EntityKind::Cell, Extent::All)).unwrap();
    let out = rt.scalar_collection(&room, vec![f64::NAN; threads * each]).unwrap();
    let call = rt.call(&KERNELS, kernel).unwrap().arg(grid).arg(out.pointer());
    rt.launch_over(call, threads).unwrap();
    rt.values(&out).unwrap().into_iter().map(f64::to_bits).collect()
}

/// Spacings without a finite binary form, where differences of nodes differ from the spacing: what
/// a Cartesian run computes is what another one reads, to the bit, and nothing is copied for it.
#[test]
fn closed_forms_have_the_bits_of_the_arrays() {
    let needs = GridArrays {
        face_cells: true,
        cell_volumes: true,
        cell_centroids: true,
        face_areas: true,
        face_centroids: true,
        face_normals: true,
        ..GridArrays::default()
    };
    for device in crate::common::devices() {
        for shape in crate::common::shapes() {
            let shape = Cartesian { spacing: [0.1, 0.7, 1.3], ..shape };
            let shape = Cartesian { spacing: std::array::from_fn(|a| if a < shape.dim { shape.spacing[a] } else { 1.0 }), ..shape };
            let (cells, faces, dim) = (shape.n_cells(), shape.n_faces(), shape.dim);
            let found = forms(shape).into_iter().take(2).map(|(form, grid)| {
                let mut rt = crate::common::runtime(device.clone(), grid, &[]);
                let grid = rt.grid_args(needs).unwrap();
                assert_eq!(rt.counters().uploads, if form == "Cartesian" { 0 } else { 6 }, "{form}");
                let of_cells = numbers(&mut rt, "cells_of_any_grid", grid, cells, 1 + dim);
                [of_cells, numbers(&mut rt, "faces_of_any_grid", grid, faces, 3 + 2 * dim)]
            });
            let [computed, read] = <[_; 2]>::try_from(found.collect::<Vec<_>>()).unwrap();
            assert_eq!(computed, read, "{:?}", &shape.n[..dim]);
        }
    }
}

#[test]
fn elements_of_domains_come_back() {
    for device in crate::common::devices() {
        for shape in crate::common::shapes() {
            let mut rt = crate::common::runtime(device.clone(), Grid::cartesian(shape).unwrap(), &[]);
            for set in sets(&mut rt) {
                let entities = rt.entities(&set).unwrap();
                let uploads = rt.counters().uploads;
                let expected: Vec<Option<u32>> = set.elements().iter().copied().map(Some).collect();
                assert_eq!(rt.entity_indices(&entities).unwrap(), expected);
                // Asked for again, they are there already.
                let again = rt.entities(&set).unwrap();
                assert_eq!(again.pointer(), entities.pointer());
                assert_eq!(rt.counters().uploads, uploads);
            }
        }
    }
}
