//! Tests of parallel loops: every element is in one range, with its outputs, for any number of
//! threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;

/// Ranges of a loop, in order.
fn ranges(threads: usize, len: usize, unit: usize) -> Vec<Range<usize>> {
    let seen = Mutex::new(Vec::new());
    Threads::new(threads).each_of(len, unit, (), |range, ()| seen.lock().unwrap().push(range));
    let mut seen = seen.into_inner().unwrap();
    seen.sort_by_key(|range| range.start);
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn ranges_cover_the_loop_and_begin_at_multiples_of_the_unit(threads in 1usize..6, len in 0usize..40_000, unit in 1usize..3000) {
        let ranges = ranges(threads, len, unit);
        prop_assert_eq!(ranges.first().map(|r| r.start), Some(0));
        prop_assert_eq!(ranges.last().map(|r| r.end), Some(len));
        for pair in ranges.windows(2) {
            prop_assert_eq!(pair[0].end, pair[1].start);
            prop_assert_eq!(pair[1].start % unit, 0);
            prop_assert!(!pair[0].is_empty());
        }
        if threads == 1 || len < WORTH_SHARING {
            prop_assert_eq!(ranges.len(), 1);
        }
    }

    #[test]
    fn every_output_gets_its_own_elements(threads in 1usize..6, len in 0usize..20_000, rows in proptest::collection::vec(0usize..4, 97)) {
        // Rows of 0 to 3 entries.
        let mut row_ptr = vec![0];
        for row in 0..len {
            row_ptr.push(row_ptr[row] + rows[row % rows.len()]);
        }
        let (mut a, mut flags, mut entries) = (vec![0usize; len], vec![false; len], vec![usize::MAX; row_ptr[len]]);
        let mut pair = [vec![0usize; len], vec![0usize; len]];
        let outputs = (&mut a[..], (&mut flags[..], pair.each_mut().map(|c| &mut c[..])), Entries::new(&row_ptr, &mut entries));
        Threads::new(threads).each(len, outputs, |range, (a, (flags, pair), mut entries)| {
            for p in range.clone() {
                a[p - range.start] = p;
                flags[p - range.start] = p % 3 == 0;
                for (factor, component) in (2..).zip(pair.iter()) {
                    assert_eq!(component.len(), range.len(), "factor {factor}");
                }
                entries.row(p).fill(p);
            }
            for (factor, component) in (2..).zip(pair) {
                component.iter_mut().zip(range.clone()).for_each(|(out, p)| *out = factor * p);
            }
        });
        prop_assert!(a.iter().enumerate().all(|(p, &v)| v == p));
        prop_assert!(flags.iter().enumerate().all(|(p, &v)| v == (p % 3 == 0)));
        prop_assert!(pair[0].iter().enumerate().all(|(p, &v)| v == 2 * p));
        prop_assert!(pair[1].iter().enumerate().all(|(p, &v)| v == 3 * p));
        for row in 0..len {
            prop_assert!(entries[row_ptr[row]..row_ptr[row + 1]].iter().all(|&v| v == row));
        }
    }

    #[test]
    fn the_error_is_that_of_the_first_element(threads in 1usize..6, len in 1usize..30_000, bad in proptest::collection::vec(0usize..30_000, 0..5)) {
        let outcome = Threads::new(threads).try_each(len, (), |mut range, ()| range.find(|p| bad.contains(p)).map_or(Ok(()), Err));
        let first = bad.iter().copied().filter(|&p| p < len).min();
        prop_assert_eq!(outcome.err(), first);
    }
}

#[test]
fn one_thread_is_the_calling_one() {
    let here = std::thread::current().id();
    let threads = Threads::new(1);
    threads.each(10 * WORTH_SHARING, (), |_, ()| assert_eq!(std::thread::current().id(), here));
    assert!(threads.pool.is_none());
}

/// Two ranges that wait for each other can only end on two threads.
#[cfg(feature = "threads")]
#[test]
fn two_threads_work_at_the_same_time() {
    let threads = Threads::new(2);
    assert!(!threads.are_used(), "threads start with the first loop that needs them");
    let begun = AtomicUsize::new(0);
    threads.each(2 * WORTH_SHARING, (), |_, ()| {
        begun.fetch_add(1, Ordering::SeqCst);
        while begun.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
    });
    assert!(threads.clone().are_used(), "clones share them");
}

#[test]
fn after_an_error_no_further_range_begins() {
    let begun = AtomicUsize::new(0);
    let len = 100 * WORTH_SHARING;
    let outcome = Threads::new(2).try_each(len, (), |range, ()| {
        begun.fetch_add(1, Ordering::SeqCst);
        Err(range.start)
    });
    assert_eq!(outcome, Err(0));
    assert!(begun.into_inner() <= 2, "one range for each thread at most");
}

#[test]
#[should_panic(expected = "outputs of 5 elements")]
fn an_output_of_another_length_is_refused() {
    let mut short = [0.0; 4];
    Threads::one().each(5, &mut short[..], |_, _| {});
}

#[test]
fn the_parameter() {
    let threads = |text: Option<&str>| {
        let mut parameters = Parameters::default();
        if let Some(text) = text {
            parameters.set("threads", text);
        }
        Threads::from_parameters(&parameters)
    };
    assert_eq!(threads(Some("3")).unwrap().number(), 3);
    assert_eq!(threads(None).unwrap().number(), std::thread::available_parallelism().unwrap().get());
    for text in ["0", "1025", "-2", "1.5", "all", "", "99999999999999999999"] {
        let error = threads(Some(text)).unwrap_err();
        let message = format!("parameter `threads` (command line) must be a whole number from 1 to 1024, not `{text}`");
        assert_eq!((error.kind, error.message), (ErrorKind::Data, message));
        assert!(error.hint.is_some_and(|hint| hint.contains("threads=4")));
    }
}

#[test]
fn values_and_filters_are_those_of_one_thread() {
    for len in [0, 1, 1023, 1024, 40_000, 100_001] {
        for threads in [Threads::one(), Threads::new(3)] {
            assert_eq!(threads.values(len, |i| i * i), (0..len).map(|i| i * i).collect::<Vec<_>>());
            let odd = threads.filtered(len, |i| i % 3 == 1);
            assert_eq!(odd, (0..len as u32).filter(|i| i % 3 == 1).collect::<Vec<_>>());
        }
    }
}
