//! Parts of grids, exchanges, reductions and the order of the file, on ranks that are threads.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::io::opm;
use equelle_runtime::grid::{Cartesian, Grid, NONE, PartBox, Renumber, SideMap};
use equelle_runtime::ranks::{Boxes, CellGraph, Exchanged, HaloCounts, Partition, RankContext, RankId, ThreadTransport};
use equelle_runtime::reduce::reduce;
use equelle_runtime::session::grid_from_parameters;
use equelle_runtime::{BoolReduction, CanonicalSet, EntityKind, Extent, Parameters, Reduction};

use crate::triangles::{Order, triangles};

/// Numbers from a seed (splitmix64, Steele et al. 2014, doi:10.1145/2660193.2660195).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

const SETS: [CanonicalSet; 6] = [
    CanonicalSet::new(EntityKind::Cell, Extent::All),
    CanonicalSet::new(EntityKind::Cell, Extent::Interior),
    CanonicalSet::new(EntityKind::Cell, Extent::Boundary),
    CanonicalSet::new(EntityKind::Face, Extent::All),
    CanonicalSet::new(EntityKind::Face, Extent::Interior),
    CanonicalSet::new(EntityKind::Face, Extent::Boundary),
];

/// The canonical sets of a grid of so many dimensions, each once: edges and vertices where they are
/// neither faces nor cells.
fn sets(dim: usize) -> Vec<CanonicalSet> {
    let kinds = [EntityKind::Edge, EntityKind::Vertex].into_iter().filter(|kind| kind.on_grid_of(dim) == *kind);
    let skeleton = kinds.flat_map(|kind| [Extent::All, Extent::Interior, Extent::Boundary].map(|extent| CanonicalSet::new(kind, extent)));
    SETS.into_iter().chain(skeleton).collect()
}

/// A grid of arrays: lines, planes, blocks, planes with joined sides, triangles.
fn grid(random: &mut Random) -> Grid {
    let n = |random: &mut Random, most: usize| 1 + random.below(most);
    let cartesian = |shape: Cartesian| Grid::cartesian(shape).unwrap().as_unstructured();
    match random.below(5) {
        0 => cartesian(Cartesian::line(n(random, 40), 0.3)),
        1 => cartesian(Cartesian::plane([n(random, 12), n(random, 12)], [0.1, 0.7])),
        2 => cartesian(Cartesian::block([n(random, 6), n(random, 6), n(random, 6)], [0.3, 0.1, 1.7])),
        3 => {
            let [nx, ny] = [1 + n(random, 8), n(random, 9)].map(|n| n.to_string());
            let words = ["nx=".to_owned() + &nx, "ny=".to_owned() + &ny, "dx=0.3".into(), "grid_periodic=x-:x+".into()];
            grid_from_parameters(&Parameters::from_words(&words).unwrap()).unwrap().as_unstructured()
        }
        _ => {
            let text = triangles(n(random, 7), n(random, 7), Order::Shuffled);
            opm::read_text("triangles".as_ref(), text.as_bytes()).unwrap()
        }
    }
}

/// Owners of cells: at random, in stripes, or almost all of one rank. Every rank has one.
fn owners(random: &mut Random, n_cells: usize) -> (Vec<RankId>, u32) {
    let n_ranks = 1 + random.below(n_cells.min(7));
    let mut owners: Vec<RankId> = match random.below(3) {
        0 => (0..n_cells).map(|_| RankId(random.below(n_ranks) as u32)).collect(),
        1 => (0..n_cells).map(|cell| RankId((cell * n_ranks / n_cells) as u32)).collect(),
        _ => vec![RankId(0); n_cells],
    };
    // Ranks without a cell get one of the first cells.
    for rank in 0..n_ranks {
        if !owners.contains(&RankId(rank as u32)) {
            let many = |owners: &[RankId], cell: usize| owners.iter().filter(|&&other| other == owners[cell]).count() > 1;
            let cell = (0..n_cells).find(|&cell| many(&owners, cell)).unwrap();
            owners[cell] = RankId(rank as u32);
        }
    }
    (owners, n_ranks as u32)
}

/// Runs a function on ranks that are threads, each with its part of a grid, every second one in an
/// order of its own.
fn on_ranks<T: Send>(
    grid: &Grid,
    owners: &[RankId],
    n_ranks: u32,
    layers: usize,
    run: impl Fn(&RankContext, &Arc<Grid>) -> T + Sync,
) -> Vec<T> {
    on_parts(n_ranks, |rank| part(grid, owners, rank, layers, rank.0 % 2 == 1), run)
}

/// The part of a rank, in another order than that of layers and the file if `is_renumbered`.
fn part(grid: &Grid, owners: &[RankId], rank: RankId, layers: usize, is_renumbered: bool) -> Grid {
    let mut part = grid.part_of(owners, rank, layers).unwrap();
    part.renumber(if is_renumbered { Renumber::Yes } else { Renumber::No });
    part
}

/// The same with any parts.
fn on_parts<T: Send>(n_ranks: u32, part: impl Fn(RankId) -> Grid, run: impl Fn(&RankContext, &Arc<Grid>) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let run = &run;
        let ranks = ThreadTransport::connected(n_ranks as usize, Some(u64::from(n_ranks))).into_iter();
        let threads: Vec<_> = ranks
            .map(|transport| {
                let context = RankContext::new(Box::new(transport));
                let part = part(context.rank()).shared();
                scope.spawn(move || run(&context, &part))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A number for each element of a domain that tells its index in the file.
fn numbers(domain: &Domain, value: impl Fn(u32) -> f64) -> Vec<f64> {
    domain.elements().iter().map(|&element| value(domain.grid().file_index(domain.kind(), element))).collect()
}

/// Cells and faces of a part are those of the grid up to its last layer, where faces lack a cell.
#[test]
fn parts_are_the_grid_around_their_cells() {
    let mut random = Random(7_100_001);
    for _ in 0..60 {
        let whole = grid(&mut random);
        let (owners, n_ranks) = owners(&mut random, whole.n_cells());
        let layers = random.below(4);
        for (rank, is_renumbered) in (0..n_ranks).flat_map(|rank| [(rank, false), (rank, true)]) {
            let part = part(&whole, &owners, RankId(rank), layers, is_renumbered);
            let told = part.part().unwrap();
            let in_file = |kind, entity: u32| part.file_index(kind, entity);
            for cell in 0..part.n_cells() as u32 {
                let file = in_file(EntityKind::Cell, cell);
                let layer = told.layer(EntityKind::Cell, cell).unwrap();
                assert_eq!(told.owner(EntityKind::Cell, cell), Some(owners[file as usize]));
                assert_eq!(layer == 0, owners[file as usize] == RankId(rank));
                assert_eq!(part.find_entity(EntityKind::Cell, file), Some(cell));
                assert_eq!(part.geometry().cell_volumes[cell as usize].to_bits(), whole.geometry().cell_volumes[file as usize].to_bits());
                assert_eq!(part.geometry().cell_centroids[cell as usize], whole.geometry().cell_centroids[file as usize]);
                let faces: Vec<u32> = part.topology().faces_of(cell as usize).iter().map(|&face| in_file(EntityKind::Face, face)).collect();
                assert_eq!(faces, whole.topology().faces_of(file as usize), "all faces, in the same order");
                // The layer is the distance: a neighbour is a layer further at most.
                for &face in part.topology().faces_of(cell as usize) {
                    let ends = part.topology().face_cells[face as usize];
                    let expected = whole.topology().face_cells[in_file(EntityKind::Face, face) as usize];
                    for (end, expected) in ends.into_iter().zip(expected) {
                        match part.find_entity(EntityKind::Cell, expected) {
                            Some(here) if expected != NONE => {
                                assert_eq!(end, here);
                                assert!(told.layer(EntityKind::Cell, here).unwrap() <= layer + 1);
                            }
                            _ if expected == NONE => assert_eq!(end, expected),
                            _ => assert!(end == NONE && layer == layers, "only beyond the last layer"),
                        }
                    }
                }
            }
            for face in 0..part.n_faces() as u32 {
                let (file, ends) = (in_file(EntityKind::Face, face), part.topology().face_cells[face as usize]);
                let [first, second] = whole.topology().face_cells[file as usize];
                assert_eq!(told.owner(EntityKind::Face, face), Some(owners[if first == NONE { second } else { first } as usize]));
                let of_cells = ends.iter().filter_map(|&cell| told.layer(EntityKind::Cell, cell)).min();
                assert_eq!(told.layer(EntityKind::Face, face), of_cells);
                assert_eq!(part.find_entity(EntityKind::Face, file), Some(face));
                assert_eq!(part.geometry().face_areas[face as usize].to_bits(), whole.geometry().face_areas[file as usize].to_bits());
                assert_eq!(part.geometry().face_normals[face as usize], whole.geometry().face_normals[file as usize]);
                if let Some(interior) = part.interior_faces_first() {
                    assert_eq!(ends.contains(&NONE), face as usize >= interior, "interior faces first");
                }
            }
            for kind in [EntityKind::Edge, EntityKind::Vertex] {
                let (here, all) = (part.centroids(kind), whole.centroids(kind));
                assert!(here.iter().zip(0..).all(|(at, entity)| *at == all[in_file(kind, entity) as usize]), "{kind:?}");
                let (here, all) = (part.measures(kind), whole.measures(kind));
                assert!(here.iter().zip(0..).all(|(size, entity)| *size == all[in_file(kind, entity) as usize]), "{kind:?}");
            }
            for set in sets(whole.dim()) {
                let here = Domain::canonical(&Arc::new(part.clone()), set).unwrap();
                let all = Domain::canonical(&Arc::new(whole.clone()), set).unwrap();
                if !is_renumbered {
                    let of_layers: Vec<_> = here.elements().iter().map(|&element| told.layer(set.kind, element)).collect();
                    assert!(of_layers.is_sorted(), "by layer");
                }
                let is_inside = |element: u32| told.layer(set.kind, element).unwrap() < layers;
                let found: Vec<u32> =
                    here.elements().iter().filter(|&&element| is_inside(element)).map(|&element| in_file(set.kind, element)).collect();
                let mut members: Vec<u32> = found.clone();
                members.sort_unstable();
                let inside = |&&index: &&u32| part.find_entity(set.kind, index).is_some_and(is_inside);
                let expected: Vec<u32> = all.elements().iter().filter(inside).copied().collect();
                assert_eq!(members, expected, "members of {set:?}");
            }
        }
    }
}

/// A grid of 1 to 3 dimensions with so many cells along each.
fn shape(random: &mut Random, cells: std::ops::RangeInclusive<usize>) -> Cartesian {
    let dim = 1 + random.below(3);
    let mut n = [1; 3];
    n[..dim].fill_with(|| cells.start() + random.below(cells.end() - cells.start() + 1));
    let spacing = std::array::from_fn(|axis| if axis < dim { [0.1, 0.7, 1.3][axis] } else { 1.0 });
    Cartesian { dim, n, spacing, joined: [false; 3], place: None }
}

/// A Cartesian grid whose sides are joined along these axes.
fn joined(shape: Cartesian, axes: [bool; 3]) -> Grid {
    let sides = ["x-:x+", "y-:y+", "z-:z+"].into_iter().zip(axes).filter(|(_, joined)| *joined).map(|(sides, _)| sides);
    Grid::cartesian(shape).unwrap().with_periodic_sides(&sides.collect::<Vec<_>>().join(",")).unwrap()
}

/// Cells and faces are found by their number in the whole grid, of those that stand for one the
/// one of the least layer, and are in the order of the file.
fn assert_found(part: &Grid, whole: &Grid) {
    let told = part.part().unwrap();
    for (kind, n, n_whole) in [(EntityKind::Cell, part.n_cells(), whole.n_cells()), (EntityKind::Face, part.n_faces(), whole.n_faces())] {
        let kind_here = kind.on_grid_of(part.dim());
        let mut by_number: Vec<(u32, usize, u32)> =
            (0..n as u32).map(|entity| (part.file_index(kind, entity), told.layer(kind_here, entity).unwrap(), entity)).collect();
        by_number.sort_unstable();
        for index in 0..n_whole as u32 + 2 {
            let first = by_number.partition_point(|&(number, ..)| number < index);
            let expected = by_number.get(first).filter(|(number, ..)| *number == index).map(|&(.., entity)| entity);
            assert_eq!(part.find_entity(kind, index), expected, "{kind:?} {index}");
        }
        let domain = Domain::canonical(&Arc::new(part.clone()), CanonicalSet { kind, extent: Extent::All }).unwrap();
        let order: Vec<u32> = by_number.into_iter().map(|(.., entity)| entity).collect();
        assert_eq!(domain.file_order().map_or_else(|| (0..n as u32).collect(), <[u32]>::to_vec), order);
    }
}

/// Sides of one axis at least are joined: cells have the faces, the neighbours and the geometry
/// that they have in the whole grid, in its order, and boxes have its closed forms.
#[test]
fn boxes_of_joined_grids_are_the_grid_around_their_cells() {
    let mut random = Random(7_100_006);
    let (mut parts, mut across) = (0, 0);
    for _ in 0..80 {
        let open = shape(&mut random, 2..=7);
        let (n, dim) = (open.n, open.dim);
        let axes: [bool; 3] = std::array::from_fn(|axis| axis < dim && (axis == 0 || random.below(2) == 0));
        let whole = joined(open, axes);
        let shape = *whole.closed_shape().expect("whole sides");
        let n_ranks = 1 + random.below(5) as u32;
        let Ok(boxes) = Boxes::new(n.map(|n| n as u64), axes, n_ranks, [[0; 2]; 3]) else { continue };
        let owner = move |ijk: [usize; 3]| boxes.owner(ijk.map(|at| at as u64));
        let layers = 1 + random.below(2);
        for rank in 0..n_ranks {
            let own = boxes.box_of(RankId(rank));
            let (start, len) = (own.start.map(|at| at as usize), own.len.map(|n| n as usize));
            let Ok(part) = whole.box_of(PartBox { start, len, layers, wraps: [false; 3] }, owner) else { continue };
            parts += 1;
            assert!(part.closed_shape().is_some() && part.cartesian_shape().is_none());
            assert_found(&part, &whole);
            let (told, geometry, expected) = (part.part().unwrap(), part.geometry(), whole.geometry());
            for cell in 0..part.n_cells() as u32 {
                let file = part.file_index(EntityKind::Cell, cell);
                assert_eq!(told.owner(EntityKind::Cell, cell), Some(owner(shape.cell_ijk(file as usize))));
                assert_eq!(geometry.cell_centroids[cell as usize], expected.cell_centroids[file as usize]);
                if told.layer(EntityKind::Cell, cell).unwrap() == layers {
                    continue;
                }
                let in_file = |face: &u32| part.file_index(EntityKind::Face, *face);
                let faces: Vec<u32> = part.topology().faces_of(cell as usize).iter().map(in_file).collect();
                assert_eq!(faces, whole.topology().faces_of(file as usize), "{n:?} {axes:?}: all faces, in the same order");
                for face in part.topology().faces_of(cell as usize) {
                    let number = in_file(face) as usize;
                    let cells = part.topology().face_cells[*face as usize];
                    let cells = cells.map(|cell| if cell == NONE { NONE } else { part.file_index(EntityKind::Cell, cell) });
                    assert_eq!(cells, whole.topology().face_cells[number]);
                    assert_eq!(geometry.face_centroids[*face as usize], expected.face_centroids[number]);
                    assert_eq!(geometry.face_gaps[*face as usize], expected.face_gaps[number]);
                    across += usize::from(expected.face_gaps[number] != [0.0; 3]);
                }
            }
        }
    }
    assert!(parts > 100 && across > 1000, "{parts} parts with {across} faces between joined sides");
}

/// Boxes are the grid around their cells: neighbours by index and across faces, positions bit for
/// bit, sets away from their ends; along an axis that is read around they go on at its other end.
#[test]
fn boxes_are_the_grid_around_their_cells() {
    let mut random = Random(7_100_005);
    let (mut around, mut shared) = (0, 0);
    for _ in 0..80 {
        let shape = shape(&mut random, 2..=8);
        let Cartesian { dim, n, .. } = shape;
        let whole = Grid::cartesian(shape).unwrap();
        let n_ranks = 1 + random.below(4) as u32;
        let Ok(boxes) = Boxes::new(n.map(|n| n as u64), [false; 3], n_ranks, [[0; 2]; 3]) else { continue };
        let owner = move |ijk: [usize; 3]| boxes.owner(ijk.map(|at| at as u64));
        let wraps = [random.below(2) == 0, random.below(2) == 0, false];
        let layers = random.below(3);
        let mut owned: [Vec<u32>; 2] = Default::default();
        let mut parts = 0;
        for rank in 0..n_ranks {
            let own = boxes.box_of(RankId(rank));
            let part = PartBox { start: own.start.map(|at| at as usize), len: own.len.map(|n| n as usize), layers, wraps };
            let Ok(part) = whole.box_of(part, owner) else { continue };
            let (told, here) = (part.part().unwrap(), *part.cartesian_shape().unwrap());
            let geometry = part.geometry();
            assert_found(&part, &whole);
            for cell in 0..part.n_cells() as u32 {
                let file = part.file_index(EntityKind::Cell, cell);
                let ijk = shape.cell_ijk(file as usize);
                let layer = told.layer(EntityKind::Cell, cell).unwrap();
                assert_eq!(told.owner(EntityKind::Cell, cell), Some(owner(ijk)));
                assert!((layer == 0) <= (owner(ijk) == RankId(rank)), "own cells are of layer 0");
                assert_eq!(geometry.cell_centroids[cell as usize], whole.geometry().cell_centroids[file as usize]);
                assert_eq!(geometry.cell_volumes[cell as usize].to_bits(), whole.geometry().cell_volumes[file as usize].to_bits());
                assert_eq!(part.centroid(EntityKind::Cell, cell), Some(geometry.cell_centroids[cell as usize]));
                for axis in 0..dim {
                    assert_eq!(here.index_along(cell, axis), ijk[axis]);
                    for by in [-2_i8, -1, 1, 2] {
                        assert_eq!(here.is_outside(cell, axis, by), shape.is_outside(file, axis, by));
                        let maps = if wraps[axis] { SideMap::Wrap } else { SideMap::Mirror };
                        let mut offset = [0; 3];
                        offset[axis] = by;
                        if layer + usize::from(by.unsigned_abs()) <= layers || n_ranks == 1 {
                            let (found, expected) = (here.offset_cell(cell, offset, [maps; 6]), shape.offset_cell(file, offset, [maps; 6]));
                            assert_eq!(part.file_index(EntityKind::Cell, found), expected, "{n:?} {ijk:?} {axis} {by}");
                            around += usize::from(shape.is_outside(file, axis, by));
                        }
                    }
                }
                let faces: Vec<u32> =
                    part.topology().faces_of(cell as usize).iter().map(|&face| part.file_index(EntityKind::Face, face)).collect();
                // Programs that read around an axis that is cut have no faces.
                if wraps == [false; 3] {
                    assert_eq!(faces, whole.topology().faces_of(file as usize), "all faces, in the same order");
                }
                for &face in part.topology().faces_of(cell as usize).iter().filter(|_| layer < layers && wraps == [false; 3]) {
                    let ends = part.topology().face_cells[face as usize];
                    let expected = whole.topology().face_cells[part.file_index(EntityKind::Face, face) as usize];
                    let in_file = |cell: u32| if cell == NONE { NONE } else { part.file_index(EntityKind::Cell, cell) };
                    assert_eq!(ends.map(in_file), expected);
                }
            }
            parts += 1;
            // Programs that go around an axis that is cut have neither faces, edges nor vertices.
            if wraps != [false; 3] {
                continue;
            }
            for (kind, owned) in [EntityKind::Edge, EntityKind::Vertex].into_iter().zip(&mut owned) {
                let on = kind.on_grid_of(dim);
                for (entity, at) in (0..).zip(part.centroids(kind)) {
                    let file = part.file_index(kind, entity);
                    assert_eq!(*at, whole.centroids(kind)[file as usize], "{n:?} {kind:?} {file}");
                    assert_eq!(part.find_entity(kind, file), Some(entity));
                    assert_eq!(part.measures(kind)[entity as usize], whole.measures(kind)[file as usize]);
                    owned.extend(told.owns(RankId(rank), on, entity).then_some(file));
                }
                for extent in [Extent::Interior, Extent::Boundary] {
                    let members = |grid: &Grid| grid.canonical_elements(CanonicalSet::new(kind, extent)).unwrap();
                    let is_inside = |entity: &u32| told.layer(on, *entity).unwrap() < layers;
                    let mut found: Vec<u32> =
                        members(&part).into_iter().filter(is_inside).map(|entity| part.file_index(kind, entity)).collect();
                    found.sort_unstable();
                    let inside = |index: &u32| part.find_entity(kind, *index).is_some_and(|entity| is_inside(&entity));
                    assert_eq!(found, members(&whole).into_iter().filter(inside).collect::<Vec<_>>(), "{n:?} {kind:?} {extent:?}");
                }
            }
            for face in 0..part.n_faces() as u32 {
                let file = part.file_index(EntityKind::Face, face) as usize;
                assert_eq!(
                    geometry.face_centroids[face as usize][..dim],
                    whole.geometry().face_centroids[file][..dim],
                    "{n:?} face {file}"
                );
            }
        }
        if wraps == [false; 3] && parts == n_ranks {
            shared += usize::from(n_ranks > 1);
            for (kind, mut owned) in [EntityKind::Edge, EntityKind::Vertex].into_iter().zip(owned) {
                owned.sort_unstable();
                assert!(owned.into_iter().eq(0..whole.n_entities(kind).unwrap() as u32), "each has one owner: {n:?} {kind:?}");
            }
        }
    }
    assert!(around > 200, "sides were read beyond: {around}");
    assert!(shared >= 15, "edges and vertices of {shared} grids on several ranks");
}

/// After an exchange all layers up to its depth have the values of their owners, others what they
/// had; then all values are in the order of the file, and come back.
#[test]
fn halos_have_the_values_of_their_owners() {
    let mut random = Random(7_100_002);
    for _ in 0..60 {
        let whole = grid(&mut random);
        let (owners, n_ranks) = owners(&mut random, whole.n_cells());
        let (layers, seed) = (1 + random.below(3), random.next());
        let depth = 1 + random.below(layers) as u32;
        let value = |index: u32| f64::from(index) + 0.5;
        let sent = on_ranks(&whole, &owners, n_ranks, layers, |context, part| {
            for set in sets(part.dim()) {
                let all = Domain::canonical(part, set).unwrap();
                let held: Vec<bool> = numbers(&all, f64::from).iter().map(|&index| !(index as u64 ^ seed).is_multiple_of(3)).collect();
                for domain in [Domain::filtered("some", &all, &held), all] {
                    let told = part.part().unwrap();
                    let mut values = numbers(&domain, value);
                    let layer = |element: u32| told.layer(set.kind, element).unwrap();
                    for (place, &element) in values.iter_mut().zip(domain.elements()) {
                        if layer(element) > 0 {
                            *place = f64::NAN;
                        }
                    }
                    context.exchange(&domain, &mut values, depth).unwrap();
                    for ((found, expected), &element) in values.iter().zip(numbers(&domain, value)).zip(domain.elements()) {
                        let is_right = layer(element) <= depth as usize;
                        // Beyond the last layer members are not known.
                        if set.extent != Extent::All && layer(element) == layers {
                            continue;
                        }
                        assert!(if is_right { *found == expected } else { found.is_nan() }, "{set:?}, layer {}", layer(element));
                    }
                    let gathered = context.gather(&domain, &values).unwrap();
                    let whole_values: Option<Vec<f64>> = gathered.clone();
                    let back = context.scatter(&domain, gathered.as_deref()).unwrap();
                    for ((back, expected), &element) in back.iter().zip(numbers(&domain, value)).zip(domain.elements()) {
                        assert!(*back == expected || set.extent != Extent::All && layer(element) == layers, "{set:?}");
                    }
                    if let Some(values) = whole_values {
                        assert_eq!(values.len(), context.whole_len(&domain).unwrap());
                        assert!(values.is_sorted());
                    }
                }
            }
            context.progress().exchanged()
        });
        let alone = n_ranks == 1;
        assert_eq!(sent.iter().all(|sent| sent.messages == 0), alone || whole.n_cells() == 1);
    }
}

/// Messages and bytes that ranks send when they exchange each canonical set, and what they hold,
/// against those that are counted without running.
fn assert_counted(sent: &[(Exchanged, usize)], counts: &HaloCounts, depth: u32, whole: impl std::fmt::Debug) {
    for ((exchanged, held), counted) in sent.iter().zip(&counts.ranks) {
        let expected = Exchanged { messages: counted.neighbours, bytes: 8 * counted.sent };
        assert_eq!(*exchanged, expected, "{whole:?}, depth {depth}");
        assert_eq!(*held as u64, counted.owned + counted.halo, "{whole:?}, depth {depth}");
    }
    assert_eq!(sent.len(), counts.ranks.len());
}

/// Exchanges a number for each element of a set; what was sent, and the elements up to a depth.
fn exchange_once(context: &RankContext, part: &Arc<Grid>, set: CanonicalSet, depth: u32) -> (Exchanged, usize) {
    let domain = Domain::canonical(part, set).unwrap();
    context.exchange(&domain, &mut vec![0.0_f64; domain.len()], depth).unwrap();
    let is_near = |element: u32| part.part().unwrap().layer(domain.kind().on_grid_of(part.dim()), element).unwrap() <= depth as usize;
    (context.progress().exchanged(), domain.elements().iter().filter(|&&element| is_near(element)).count())
}

#[test]
fn exchanges_send_what_is_counted_before() {
    let mut random = Random(7_100_006);
    for _ in 0..40 {
        let whole = grid(&mut random);
        let (owners, n_ranks) = owners(&mut random, whole.n_cells());
        let (graph, partition) = (CellGraph::of(&whole), Partition::new(owners.clone(), n_ranks).unwrap());
        let layers = 1 + random.below(3);
        for set in SETS {
            // Beyond the last layer members are not known.
            let known = if set.extent == Extent::All { layers } else { layers - 1 };
            for depth in 0..=known {
                let counts = HaloCounts::from_set(&whole, &graph, &partition, set, depth).unwrap();
                let sent = on_ranks(&whole, &owners, n_ranks, layers, |context, part| exchange_once(context, part, set, depth as u32));
                assert_counted(&sent, &counts, depth as u32, set);
            }
        }
    }
}

/// Boxes narrower than the depth, around axes and joined sides, of any dimension.
#[test]
fn boxes_send_what_is_counted_before() {
    let mut random = Random(7_100_007);
    let (mut wrapped, mut joined_grids, mut times) = (0, 0, 0);
    for _ in 0..120 {
        let shape = shape(&mut random, 1..=7);
        let Cartesian { dim, n, .. } = shape;
        let n_ranks = 1 + random.below(8) as u32;
        let wraps: [bool; 3] = std::array::from_fn(|axis| axis < dim && random.below(3) == 0);
        // Where sides are joined programs read through faces, else around the axis by index.
        let is_joined = wraps.contains(&true) && (0..3).all(|axis| !wraps[axis] || n[axis] > 1) && random.below(2) == 0;
        let whole = if is_joined { joined(shape, wraps) } else { Grid::cartesian(shape).unwrap() };
        let layers = 1 + random.below(3);
        let Ok(boxes) = Boxes::new(n.map(|n| n as u64), wraps, n_ranks, [[0; 2]; 3]) else { continue };
        let part = |rank: RankId| {
            let own = boxes.box_of(rank);
            let part = PartBox { start: own.start.map(|at| at as usize), len: own.len.map(|n| n as usize), layers, wraps };
            whole.box_of(part, move |ijk| boxes.owner(ijk.map(|at| at as u64)))
        };
        if (0..n_ranks).any(|rank| part(RankId(rank)).is_err()) {
            continue;
        }
        let is_wrapped = wraps.contains(&true) && !is_joined;
        // Programs that read around an axis by index have all cells alone.
        for set in SETS.into_iter().take(if is_wrapped { 1 } else { SETS.len() }) {
            let known = if set.extent == Extent::All { layers } else { layers - 1 };
            for depth in 0..=known as u32 {
                let counts = boxes.halo_counts(dim, set, depth).unwrap();
                let sent = on_parts(n_ranks, |rank| part(rank).unwrap(), |context, part| exchange_once(context, part, set, depth));
                assert_counted(&sent, &counts, depth, (set, n, boxes.ranks(), wraps));
                times += 1;
            }
        }
        wrapped += u32::from(is_wrapped);
        joined_grids += u32::from(is_joined);
    }
    assert!(
        wrapped > 10 && joined_grids > 10 && times > 300,
        "{wrapped} grids that go around, {joined_grids} with joined sides, {times} exchanges"
    );
}

/// Sums reveal the order of additions in their bits: values differ by ten orders of magnitude.
fn reductions(seed: u64, times: usize) {
    let mut random = Random(seed);
    for _ in 0..times {
        let whole = Arc::new(grid(&mut random));
        let (owners, n_ranks) = owners(&mut random, whole.n_cells());
        let sets = sets(whole.dim());
        let (set, seed) = (sets[random.below(sets.len())], random.next());
        let value = |index: u32| {
            let mut own = Random(seed ^ u64::from(index));
            let exponent = own.below(10) as i32 - 5;
            (own.next() as f64 / u64::MAX as f64 - 0.5) * 10f64.powi(exponent)
        };
        let every = 1 + random.below(3) as u32;
        let some = |grid: &Arc<Grid>| {
            let all = Domain::canonical(grid, set).unwrap();
            let held: Vec<bool> = numbers(&all, f64::from).iter().map(|&index| (index as u32).is_multiple_of(every)).collect();
            Domain::filtered("some", &all, &held)
        };
        let expected = numbers(&some(&whole), value);
        let truths: Vec<bool> = expected.iter().map(|&value| value > 0.0).collect();
        on_ranks(&whole, &owners, n_ranks, 1 + random.below(2), |context, part| {
            let domain = some(part);
            // In the halo stands what must not be read.
            let own = |(value, position): (f64, usize)| if domain.is_own(position) { value } else { f64::NAN };
            let values: Vec<f64> = numbers(&domain, value).into_iter().zip(0..).map(own).collect();
            for reduction in [Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min] {
                let found = context.reduce(reduction, &domain, &values).unwrap();
                assert_eq!(found.map(f64::to_bits), reduce(reduction, &expected).map(f64::to_bits), "{reduction:?} of {set:?}");
                let singles: Vec<f32> = values.iter().map(|&value| value as f32).collect();
                let expected: Vec<f32> = expected.iter().map(|&value| value as f32).collect();
                let found = context.reduce(reduction, &domain, &singles).unwrap();
                assert_eq!(found.map(f64::to_bits), reduce(reduction, &expected).map(f64::to_bits), "{reduction:?} of {set:?} in singles");
            }
            let here: Vec<bool> = values.iter().map(|&value| value > 0.0).collect();
            assert_eq!(context.reduce_bools(BoolReduction::Any, &domain, &here).unwrap(), truths.contains(&true));
            assert_eq!(context.reduce_bools(BoolReduction::All, &domain, &here).unwrap(), !truths.contains(&false));
        });
    }
}

#[test]
fn reductions_have_the_bits_of_one_process() {
    reductions(7_100_003, 150);
    // Several leaves for each rank, the last one not full.
    let whole = Arc::new(Grid::cartesian(Cartesian::plane([113, 97], [1.0, 1.0])).unwrap().as_unstructured());
    let owners: Vec<RankId> = (0..whole.n_cells()).map(|cell| RankId((cell % 3) as u32)).collect();
    let value = |index: u32| f64::from(index).sin() * 10f64.powi(index as i32 % 13 - 6);
    let all = |grid: &Arc<Grid>| Domain::canonical(grid, SETS[0]).unwrap();
    let expected = reduce(Reduction::Sum, &numbers(&all(&whole), value)).map(f64::to_bits);
    let found = on_ranks(&whole, &owners, 3, 1, |context, part| {
        let domain = all(part);
        context.reduce(Reduction::Sum, &domain, &numbers(&domain, value)).unwrap().map(f64::to_bits)
    });
    assert_eq!(found, [expected; 3]);
}

#[test]
#[ignore = "100,000 grids, partitions and domains, three minutes: `.ci/full`"]
fn many_reductions_have_the_bits_of_one_process() {
    reductions(7_200_000, 100_000);
}
