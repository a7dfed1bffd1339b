//! Interruption of runs during library calls that cannot be interrupted.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

/// Interval between two checks for an interrupt.
const PATIENCE: Duration = Duration::from_millis(20);

/// Reason why the work has no result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InterruptibleError {
    /// The run was interrupted.
    Interrupted,
    /// The operating system could not start a thread.
    NoThread,
}

/// Runs some work on its own thread and waits for the result. After an interrupt it detaches the
/// thread, whose result is dropped; the end of the process does not wait for it.
pub(super) fn interruptible<T: Send + 'static>(
    is_interrupted: &dyn Fn() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, InterruptibleError> {
    let (sender, receiver) = channel();
    let work = move || {
        // The receiver may be gone.
        let _ = sender.send(work());
    };
    let thread = Builder::new().name("factorisation".to_owned()).spawn(work).map_err(|_| InterruptibleError::NoThread)?;
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(made) => return Ok(made),
            Err(RecvTimeoutError::Timeout) if is_interrupted() => return Err(InterruptibleError::Interrupted),
            Err(RecvTimeoutError::Timeout) => {}
            // The thread ended without a result, so it panicked.
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Ok(()) => return Err(InterruptibleError::Interrupted),
                Err(panic) => resume_unwind(panic),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn work_ends_or_is_left() {
        assert_eq!(interruptible(&|| false, || 6 * 7), Ok(42));
        // The work takes until it is released; the third check returns an interrupt.
        let (let_go, wait) = sync_channel::<()>(0);
        let (tell, told) = channel();
        let looks = Cell::new(0);
        let ends = || {
            looks.set(looks.get() + 1);
            looks.get() == 3
        };
        let error = interruptible(&ends, move || {
            let _ = wait.recv();
            let _ = tell.send("over");
        });
        assert_eq!((error, looks.get()), (Err(InterruptibleError::Interrupted), 3));
        drop(let_go);
        assert_eq!(told.recv(), Ok("over"), "the thread goes on by itself");
        let panic = catch_unwind(AssertUnwindSafe(|| interruptible(&|| false, || -> u32 { panic!("a bug") }))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug"));
    }
}
