//! Sequences and loops over them.

use std::sync::Arc;

use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::line;

#[test]
fn scaled_divided_negated() -> Result<(), Error> {
    let mut rt = line(1, 1.0);
    let sequence: Arc<Vec<f64>> = Arc::new(vec![49.0, 0.0, -3.0]);
    assert_eq!(*rt.mul(&sequence, &2.0)?, [98.0, 0.0, -6.0]);
    // A true division: the reciprocal of 49 times 49 is not 1.
    assert_eq!(*rt.div(&sequence, &49.0)?, [1.0, 0.0, -3.0 / 49.0]);
    let negated = rt.neg(&sequence)?;
    assert_eq!(*negated, [-49.0, 0.0, 3.0]);
    assert!(negated[1].is_sign_negative());
    Ok(())
}

#[test]
fn loops_give_the_elements_in_order_and_may_nest() -> Result<(), Error> {
    let mut rt = line(1, 1.0);
    let (outer, inner): (Arc<Vec<f64>>, Arc<Vec<f64>>) = (Arc::new(vec![1.0, 2.0]), Arc::new(vec![10.0, 20.0, 30.0]));
    let mut seen = vec![];
    let mut outer_loop = rt.begin_loop(&outer)?;
    while let Some(a) = rt.next(&mut outer_loop)? {
        let mut inner_loop = rt.begin_loop(&inner)?;
        while let Some(b) = rt.next(&mut inner_loop)? {
            seen.push(a * b);
        }
    }
    rt.finish()?;
    assert_eq!(seen, [10.0, 20.0, 30.0, 20.0, 40.0, 60.0]);
    Ok(())
}

#[test]
fn an_empty_sequence_is_no_iteration() -> Result<(), Error> {
    let mut rt = line(1, 1.0);
    let mut state = rt.begin_loop(&Arc::new(vec![]))?;
    assert_eq!(rt.next(&mut state)?, None);
    assert_eq!(rt.next(&mut state)?, None, "asking again stays harmless");
    Ok(())
}
