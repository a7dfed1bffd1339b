//! Numbers that the host reads while the device goes on with the work behind them.

use std::sync::atomic::Ordering;

use equelle_runtime::Error;

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;

/// Words of `equelle_tell_host`: whether the others are there, the number, the Bool.
const WORDS: usize = 3;
/// Looks at the first word between two questions whether the device is idle.
const LOOKS: usize = 4096;

/// Values that the host waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EarlyRead {
    /// The address of a number.
    pub number: Option<DevicePtr>,
    /// The address of a Bool.
    pub condition: Option<DevicePtr>,
}

impl Executor {
    /// Submits all queued launches and waits for a number and a Bool, not for the launches behind
    /// the one that computes them. What is not asked for is 0 and false.
    ///
    /// # Errors
    /// `Backend`: a lost device, or an error of a launch.
    pub(crate) fn read_early(&self, read: EarlyRead) -> Result<(f64, bool), Error> {
        let told = match self.told.get() {
            Some(words) => words,
            None => {
                let words = self.device.mapped_words(WORDS)?;
                self.told.get_or_init(|| words)
            }
        };
        let [is_there, number, condition] = told.words() else { return Err(Error::internal("mapped words of another number")) };
        // Nothing in flight writes them: whoever asked before has waited.
        is_there.store(0, Ordering::Release);
        let address = |of: Option<DevicePtr>| of.map_or(0, |address| address.0);
        let call = self.runtime_call("equelle_tell_host")?.arg(address(read.number)).arg(address(read.condition)).arg(told.address());
        let addresses: Vec<DevicePtr> = [read.number, read.condition].into_iter().flatten().collect();
        self.queue.borrow_mut().insert_behind(call.on_one_thread(), &addresses);
        self.flush()?;
        self.count(|counters| counters.synchronisations += 1);
        while is_there.load(Ordering::Acquire) == 0 {
            if (0..LOOKS).any(|_| {
                std::hint::spin_loop();
                is_there.load(Ordering::Acquire) != 0
            }) {
                break;
            }
            // An error of a launch, which never comes to the end.
            if self.device.is_idle()? && is_there.load(Ordering::Acquire) == 0 {
                return Err(Error::internal("the device has told the host nothing"));
            }
        }
        let number = read.number.map_or(0.0, |_| f64::from_bits(number.load(Ordering::Relaxed)));
        Ok((number, read.condition.is_some() && condition.load(Ordering::Relaxed) != 0))
    }
}
