//! Uses that cannot be differentiated, or fit no Newton solve, are errors that say so.

use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, failure, line, unknown_on_cells};

#[test]
fn unknowns_must_fit() -> Result<(), Error> {
    let mut rt = line(3);
    let cells = rt.domain(ALL_CELLS)?;
    let u = rt.broadcast(&1.0, &cells)?;
    assert!(rt.unknown(&u, 2, 5).is_ok());
    for (offset, total) in [(3, 5), (0, 2), (usize::MAX, usize::MAX)] {
        let error = failure(rt.unknown(&u, offset, total));
        assert_eq!(error.kind, ErrorKind::Backend);
        assert!(error.message.contains("are more than the"), "{}", error.message);
    }
    let error = failure(rt.unknown(&u, 0, 1 << 32));
    assert!(error.message.starts_with("4294967296 unknowns in one Newton solve"), "{}", error.message);
    Ok(())
}

#[test]
fn operands_of_different_solves_do_not_mix() -> Result<(), Error> {
    let mut rt = line(2);
    rt.line(4);
    let cells = rt.domain(ALL_CELLS)?;
    let values = rt.scalar_collection(&cells, vec![1.0, 2.0])?;
    let (u, v) = (rt.unknown(&values, 0, 2)?, rt.unknown(&values, 0, 3)?);
    let condition = rt.compare(Comparison::Equal, &u, &v)?;
    let errors = [
        failure(rt.add(&u, &v)),
        failure(rt.sub(&u, &v)),
        failure(rt.mul(&u, &v)),
        failure(rt.div(&u, &v)),
        failure(rt.select(&condition, &u, &v)),
    ];
    for error in errors {
        assert_eq!(error.kind, ErrorKind::Backend);
        assert_eq!(error.message, "operands with derivatives by 2 and by 3 unknowns: they are of different Newton solves");
        assert_eq!(error.lines, [4]);
    }
    Ok(())
}

#[test]
fn a_kernel_that_reads_an_unknown_is_noticed() -> Result<(), Error> {
    let mut rt = line(2);
    let u = unknown_on_cells(&mut rt, &[1.0, 2.0])?;
    rt.line(7);
    // Operations of the runtime itself are no kernels.
    rt.reduce(Reduction::Sum, &u)?;
    rt.output("u", &u)?;
    let constant = rt.without_derivatives(&u);
    rt.dense(&constant);
    rt.check_derivatives_kept()?;
    rt.dense(&u);
    rt.line(8);
    rt.dense(&u);
    let error = failure(rt.check_derivatives_kept());
    assert_eq!((error.kind, error.lines), (ErrorKind::Backend, vec![7]), "the first of them");
    rt.check_derivatives_kept()?;
    // Interpreted kernels take values to the host.
    rt.values(&u)?;
    let error = failure(rt.check_derivatives_kept());
    assert_eq!((error.kind, error.lines), (ErrorKind::Backend, vec![8]));
    Ok(())
}
