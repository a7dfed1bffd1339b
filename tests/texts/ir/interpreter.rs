//! The interpreter: meaning of statements and kernels, and what fails how.

use equelle_front::ir::text;
use equelle_front::source::SourceMap;
use equelle_front::verify::{Verified, verify};
use equelle_runtime::grid::Cartesian;
use equelle_runtime::{Error, ErrorKind};

use super::simulate::{Form, Inputs, collections, module, run, scalars};

const SHAPE: Cartesian = Cartesian { dim: 2, n: [3, 2, 1], spacing: [1.0, 1.0, 1.0], joined: [false; 3], place: None };

/// Error of a module that has a source text, so that messages have lines.
fn error(text: &str, source: &str) -> Error {
    let mut module = text::parse(text).unwrap_or_else(|e| panic!("{e}"));
    module.source = SourceMap::new("program.equelle", source);
    let verified = verify(module).unwrap_or_else(|e| panic!("{e:?}"));
    run(&verified, SHAPE, Inputs::default(), Form::General).unwrap_err()
}

/// A program of one kernel over cells that puts out its result.
fn over_cells(yielded: &str) -> Verified {
    module(&format!(
        "module m kernel k over AllCells() {{ param u: Scalar On AllCells() result r: Scalar On AllCells() body {{ {yielded} }} }}
         main {{ %t: Text = \"u\" %d: Domain AllCells() = AllCells() %u: Scalar On AllCells() = InputCollection(%t, %d)
           %r: Scalar On AllCells() = launch k(%u) Output(%t, %r) }}"
    ))
}

#[test]
fn functions_loops_and_mutables() {
    let module = module(
        "module m
         function weigh(%x: Scalar, %y: Scalar, %a: Scalar, %b: Scalar) -> (Scalar, Scalar) {
           %0: Scalar = %a * %x
           %1: Scalar = %b * %y
           %2: Scalar = %0 + %1
           return %2, %0
         }
         main {
           mutable @count: Scalar
           %a: Scalar = 5.0
           %b: Scalar = 6.0
           %one: Scalar = 1.0
           %zero: Scalar = 0.0
           %t: Text = \"q\"
           %n: Text = \"seq\"
           %n2: Text = \"seq2\"
           %seq: Sequence = InputSequence(%n)
           @count := %zero
           for %e1: Scalar in %seq {
             %seq2: Sequence = InputSequence(%n2)
             for %e2: Scalar in %seq2 {
               %3: Scalar = 3.0
               %w: Scalar, %5x: Scalar = call weigh(%3, %e2, %a, %b)
               %4: Scalar = %w + %e1
               Output(%t, %4)
               %5: Scalar = @count
               %6: Scalar = %5 + %one
               @count := %6
             }
           }
           %7: Scalar = @count
           %c: Text = \"count\"
           Output(%c, %7)
         }",
    );
    let inputs = Inputs::default().sequence("seq", &[1.0, 2.0]).sequence("seq2", &[10.0, 20.0]);
    let records = run(&module, SHAPE, inputs, Form::General).unwrap();
    // 5 * 3 + 6 * e2 + e1
    assert_eq!(scalars(&records, "q"), [76.0, 136.0, 77.0, 137.0]);
    assert_eq!(scalars(&records, "count"), [4.0]);
}

#[test]
fn what_the_runtime_has_no_method_for() {
    let module = module(
        "module m
         main {
           %t: Text = \"r\"
           %d: Domain BoundaryFaces() = BoundaryFaces()
           %first: Cell On BoundaryFaces() In AllCells() = FirstCell(%d)
           %second: Cell On BoundaryFaces() In AllCells() = SecondCell(%d)
           %same: Bool On BoundaryFaces() = %first == %second
           %never: Bool = false
           %always: Bool On BoundaryFaces() = %never Broadcast %d
           %equal: Bool On BoundaryFaces() = %same == %always
           %low: Bool On BoundaryFaces() = IsEmpty(%first)
           %mixed: Bool On BoundaryFaces() = %low xor %equal
           %chosen: Bool On BoundaryFaces() = %low ? %mixed : %equal
           %n: Vector On BoundaryFaces() = Normal(%d)
           %minus: Vector On BoundaryFaces() = neg(%n)
           %outward: Vector On BoundaryFaces() = %low ? %minus : %n
           %x: Scalar On BoundaryFaces() = %outward[0]
           %y: Scalar On BoundaryFaces() = %outward[1]
           %one: Scalar = 1.0
           %two: Scalar = 2.0
           %less: Bool = %one < %two
           %no: Bool = not(%less)
           %or: Bool = %no or %less
           %pick: Scalar On BoundaryFaces() = %or ? %x : %y
           Output(%t, %pick)
           %picked: Scalar On BoundaryFaces() = %chosen ? %x : %y
           Output(%t, %picked)
         }",
    );
    let records = run(&module, SHAPE, Inputs::default(), Form::General).unwrap();
    let r = collections(&records, "r");
    // Boundary faces of 3x2 cells: x-faces 0, 3 (row 0), 4, 7 (row 1), then three y-faces below,
    // three above.
    assert_eq!(r[0], [-1.0, 1.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    // No boundary face has two equal cells, so `equal` is true everywhere; `mixed` is false on the
    // low sides.
    assert_eq!(r[1], [0.0, 1.0, 0.0, 1.0, -1.0, -1.0, -1.0, 0.0, 0.0, 0.0]);
}

/// The branch not taken is not evaluated: it may read where there is nothing.
#[test]
fn choices_are_lazy() {
    let text = "module m
        kernel k over BoundaryFaces() {
          param u: Scalar On AllCells()
          result a: Scalar On BoundaryFaces()
          result b: Scalar On BoundaryFaces()
          result c: Scalar On BoundaryFaces()
          body {
            b: Scalar = if is_empty(first(here)) { yield u[second(here)] } else { yield u[first(here)] }
            yield (is_empty(first(here)) ? u[second(here)] : u[first(here)]), b, u[(is_empty(first(here)) ? second(here) : first(here))]
          }
        }
        main {
          %t: Text = \"u\"
          %d: Domain AllCells() = AllCells()
          %u: Scalar On AllCells() = InputCollection(%t, %d)
          %a: Scalar On BoundaryFaces(), %b: Scalar On BoundaryFaces(), %c: Scalar On BoundaryFaces() = launch k(%u)
          Output(%t, %a) Output(%t, %b) Output(%t, %c)
        }";
    let inputs = Inputs::default().collection("u", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let records = run(&module(text), SHAPE, inputs, Form::General).unwrap();
    let expected = vec![0.0, 2.0, 3.0, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!(collections(&records, "u"), vec![expected; 3]);
}

/// Sums begin at +0, and reductions follow the order of leaves and tree.
#[test]
fn sums_and_reductions() {
    let sum = over_cells("s: Scalar = sum faces f of here boundary { yield -0.0 } yield s");
    let records = run(&sum, SHAPE, Inputs::default().scalar("u", 1.0), Form::General).unwrap();
    // The two middle cells have one boundary face, the others two: +0 - 0 is +0 on each; where the
    // cell is second the term is +0.
    assert!(collections(&records, "u")[0].iter().all(|v| v.to_bits() == 0));

    let text = "module m
        kernel k over AllCells() {
          param u: Scalar On AllCells()
          result total: Scalar reduce sum
          result most: Scalar reduce max
          body { yield u[here], (u[here] * -1.0) }
        }
        main {
          %t: Text = \"u\"
          %d: Domain AllCells() = AllCells()
          %u: Scalar On AllCells() = InputCollection(%t, %d)
          %a: Scalar, %b: Scalar = launch k(%u)
          %c: Scalar = sum(%u)
          Output(%t, %a) Output(%t, %b) Output(%t, %c)
        }";
    let values: Vec<f64> = (0..2500).map(|i| 1.0 / (1.0 + i as f64)).collect();
    let records = run(&module(text), Cartesian::line(2500, 1.0), Inputs::default().collection("u", &values), Form::General).unwrap();
    // Three leaves: (first + second) + third. Of each 256 chains, the second half added to the
    // first until one is left; the last leaf has 452 elements, so that chains are full.
    let leaf = |range: std::ops::Range<usize>| {
        let chain = |chain| values[range.clone()].iter().skip(chain).step_by(256).fold(0.0, |sum, v| sum + v);
        let mut chains: Vec<f64> = (0..256).map(chain).collect();
        while chains.len() > 1 {
            let second = chains.split_off(chains.len() / 2);
            chains.iter_mut().zip(second).for_each(|(first, second)| *first += second);
        }
        chains[0]
    };
    let expected = (leaf(0..1024) + leaf(1024..2048)) + leaf(2048..2500);
    assert_ne!(expected, values.iter().fold(0.0, |sum, v| sum + v), "the order shows");
    assert_eq!(scalars(&records, "u"), [expected, -1.0 / 2500.0, expected]);
}

#[test]
fn a_failed_check_names_element_and_lines() {
    let text = "module m
        kernel k over BoundaryFaces() !20..30 !40..50 {
          param u: Scalar On AllCells()
          result r: Scalar On BoundaryFaces()
          check on_empty not(is_empty(first(here))) !30..34
          body { yield u[first(here)] }
        }
        main {
          %one: Scalar = 1.0
          %d: Domain AllCells() = AllCells()
          %u: Scalar On AllCells() = %one Broadcast %d
          %r: Scalar On BoundaryFaces() = launch k(%u) !40..50
        }";
    // Lines of ten characters: offset 20 is in line 3, 30 in line 4, 40 in line 5.
    let e = error(text, &"123456789\n".repeat(6));
    assert_eq!(e.kind, ErrorKind::Simulation);
    assert_eq!(e.message, "an Empty element has no data and no geometry: the one that belongs to face 0");
    assert_eq!(e.lines, [4, 3, 5], "the check, then the kernel's expressions, innermost first");
}

#[test]
fn an_operation_on_an_empty_element_names_the_line() {
    let text = "module m
        main {
          %one: Scalar = 1.0
          %d: Domain AllCells() = AllCells() !10..11
          %u: Scalar On AllCells() = %one Broadcast %d !10..11
          %f: Domain BoundaryFaces() = BoundaryFaces() !10..11
          %first: Cell On BoundaryFaces() In AllCells() = FirstCell(%f) !10..11
          %r: Scalar On BoundaryFaces() = %u On %first !20..25
        }";
    let e = error(text, &"123456789\n".repeat(6));
    assert_eq!((e.kind, &e.lines[..]), (ErrorKind::Simulation, &[3][..]));
    assert!(e.message.contains("face 0"), "{}", e.message);
}

/// A kernel without the guard it needs is refused at the element, not evaluated to something.
#[test]
fn unguarded_reads_fail() {
    let fails = |yielded: &str, message: &str| {
        let e = run(&over_cells(yielded), SHAPE, Inputs::default().scalar("u", 1.0), Form::General).unwrap_err();
        assert_eq!(e.kind, ErrorKind::Simulation);
        assert_eq!(e.message, message);
    };
    fails("s: Scalar = sum faces f of here { yield u[first(f)] } yield s", "`u` is needed at an Empty element (evaluating k at cell 0)");
    fails(
        "s: Scalar = sum faces f of here { yield measure(second(f)) } yield s",
        "a measure is needed at an Empty element (evaluating k at cell 2)",
    );
    let text = "module m
        kernel k over AllCells() {
          param v: Scalar On InteriorFaces()
          result r: Scalar On AllCells()
          body { s: Scalar = sum faces f of here { yield v[f] } yield s }
        }
        main {
          %one: Scalar = 1.0
          %d: Domain InteriorFaces() = InteriorFaces()
          %v: Scalar On InteriorFaces() = %one Broadcast %d
          %r: Scalar On AllCells() = launch k(%v)
        }";
    let e = error(text, "");
    assert_eq!(e.message, "`v` is on InteriorFaces(), which does not hold face 0 (evaluating k at cell 0)");
    assert!(e.lines.is_empty(), "without a source there are no lines");
}

#[test]
fn other_failures() {
    let largest = "module m
        kernel k over InteriorCells() { result r: Scalar reduce max body { yield 1.0 } }
        main { %r: Scalar = launch k() !5..6 }";
    let e = error(largest, "a\nb\nc\nd");
    assert_eq!(
        (e.kind, e.message.as_str(), &e.lines[..]),
        (ErrorKind::Simulation, "MaxReduce of a collection without elements: InteriorCells() is empty", &[3][..])
    );

    let newton = "module m
        function f(%u: Scalar) -> (Scalar) { return %u }
        main { %u: Scalar = 1.0 %v: Scalar = newton [f()] from [%u] !2..3 }";
    let e = error(newton, "a\nb\n");
    // The checker lets only collections be unknowns, so this is a defect of whoever made the
    // module.
    assert_eq!((e.kind, &e.lines[..]), (ErrorKind::Backend, &[2][..]));
    assert!(e.message.contains("an unknown of Newton's method is"), "{}", e.message);

    let third = over_cells("yield component(centroid(here), 2)");
    let e = run(&third, SHAPE, Inputs::default().scalar("u", 1.0), Form::General).unwrap_err();
    assert_eq!((e.kind, e.message.as_str()), (ErrorKind::Data, "component 2 of a Vector needs a grid of more than 2 dimensions"));
}

/// Cartesian forms take geometry from the cell widths, for every axis and number of dimensions.
#[test]
fn cartesian_geometry() {
    let text = "module m
        kernel faces over InteriorFaces() {
          result area: Scalar On InteriorFaces()
          result distance: Scalar On InteriorFaces()
          result back: Scalar On InteriorFaces()
          body { yield -1.0, -1.0, -1.0 }
          cartesian per_axis {
            d: Vector = displacement(second(here), first(here))
            yield measure(here), length(d), dot(displacement(first(here), here), normal(here))
          }
        }
        kernel cells over AllCells() {
          param area: Scalar On InteriorFaces() per_axis
          result volume: Scalar On AllCells()
          result around: Scalar On AllCells()
          result inside: Scalar On AllCells()
          result reach: Scalar On AllCells()
          body { yield -1.0, -1.0, -1.0, -1.0 }
          cartesian full {
            around: Scalar, inside: Scalar, reach: Scalar = sum sides {
              low interior { yield neg(measure(side_face(low))), neg(area[side_face(low)]), dot(displacement(shift(here, -1), here), normal(side_face(low))) }
              low boundary { yield neg(measure(side_face(low))), 0.0, dot(displacement(side_face(low), here), normal(side_face(low))) }
              high interior { yield measure(side_face(high)), area[side_face(high)], dot(displacement(shift(here, 1), here), normal(side_face(high))) }
              high boundary { yield measure(side_face(high)), 0.0, dot(displacement(side_face(high), here), normal(side_face(high))) }
            }
            yield measure(here), around, inside, reach
          }
        }
        main {
          %t: Text = \"r\"
          %area: Scalar On InteriorFaces(), %distance: Scalar On InteriorFaces(), %back: Scalar On InteriorFaces() = launch faces()
          %volume: Scalar On AllCells(), %around: Scalar On AllCells(), %inside: Scalar On AllCells(), %reach: Scalar On AllCells() = launch cells(%area)
          Output(%t, %area) Output(%t, %distance) Output(%t, %back)
          Output(%t, %volume) Output(%t, %around) Output(%t, %inside) Output(%t, %reach)
        }";
    let module = module(text);
    let values = |shape| collections(&run(&module, shape, Inputs::default(), Form::Cartesian).unwrap(), "r");
    // 2 x 2 x 1 cells of 2 x 4 x 8: two interior x-faces, two interior y-faces, none along z.
    let r = values(Cartesian::block([2, 2, 1], [2.0, 4.0, 8.0]));
    assert_eq!(r[0], [32.0, 32.0, 16.0, 16.0]);
    assert_eq!(r[1], [2.0, 2.0, 4.0, 4.0]);
    assert_eq!(r[2], [-1.0, -1.0, -2.0, -2.0]);
    assert_eq!(r[3], [64.0; 4]);
    assert_eq!(r[4], [2.0 * (32.0 + 16.0 + 8.0); 4], "the whole surface");
    assert_eq!(r[5], [32.0 + 16.0; 4]);
    // The sign of the low side turns the distance to the low side positive: whole widths to
    // neighbours, half widths to the boundary.
    assert_eq!(r[6], [2.0 + 1.0 + 4.0 + 2.0 + 4.0 + 4.0; 4]);
    let r = values(Cartesian::line(3, 0.5));
    assert_eq!((&r[0][..], &r[1][..], &r[3][..]), (&[1.0, 1.0][..], &[0.5, 0.5][..], &[0.5, 0.5, 0.5][..]));
    assert_eq!((&r[4][..], &r[6][..]), (&[2.0, 2.0, 2.0][..], &[0.75, 1.0, 0.75][..]));
    // Without the option the general body counts.
    let general = collections(&run(&module, Cartesian::line(3, 0.5), Inputs::default(), Form::General).unwrap(), "r");
    assert_eq!(general[3], [-1.0; 3]);
}
