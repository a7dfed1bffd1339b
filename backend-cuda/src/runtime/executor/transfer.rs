//! Copies between host and device, in order with launches, and conversions between precisions.

use std::rc::Rc;

use bytemuck::{AnyBitPattern, NoUninit};
use equelle_runtime::{Error, Float};

use crate::runtime::device::{AsyncCopy, DevicePtr};
use crate::runtime::executor::Executor;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::precision::Precision;

impl Executor {
    /// Submits all queued launches to the device.
    ///
    /// # Errors
    /// `Backend`: those of the launches.
    pub(crate) fn flush(&self) -> Result<(), Error> {
        let mut counters = self.counters.get();
        let result = self.queue.borrow_mut().flush(&*self.device, &mut counters);
        self.counters.set(counters);
        result
    }

    /// Waits for all submitted work.
    ///
    /// # Errors
    /// `Backend`: a lost device, or an error of a launch.
    pub(crate) fn synchronise(&self) -> Result<(), Error> {
        self.count(|counters| counters.synchronisations += 1);
        self.device.synchronise()
    }

    /// Copies values to a new buffer.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or a lost device.
    pub(crate) fn upload<T: NoUninit>(&self, what: &str, values: &[T]) -> Result<Rc<Buffer>, Error> {
        let buffer = self.buffer(what, size_of_val(values) as u64)?;
        self.upload_to(&buffer, values)?;
        Ok(buffer)
    }

    /// Copies values to a buffer that is long enough, after everything queued so far.
    ///
    /// # Errors
    /// `Backend`: a lost device.
    pub(crate) fn upload_to<T: NoUninit>(&self, buffer: &Buffer, values: &[T]) -> Result<(), Error> {
        // Queued launches that use the buffer come first.
        self.flush()?;
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.count(|counters| {
            counters.uploads += 1;
            counters.uploaded_bytes += bytes.len() as u64;
            counters.synchronisations += 1;
        });
        // SAFETY: the buffer is long enough.
        unsafe { self.device.upload(buffer.address(), bytes) }
    }

    /// Copies the first `n` values of device memory to the host, after everything queued so far.
    ///
    /// # Errors
    /// `Backend`: a lost device, or an error of a launch.
    pub(crate) fn download<T: NoUninit + AnyBitPattern>(&self, from: DevicePtr, n: usize) -> Result<Vec<T>, Error> {
        self.flush()?;
        let mut values = vec![T::zeroed(); n];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        self.count(|counters| {
            counters.downloads += 1;
            counters.downloaded_bytes += bytes.len() as u64;
            counters.synchronisations += 1;
        });
        // SAFETY: callers pass buffers and their lengths.
        unsafe { self.device.download(from, bytes) }?;
        Ok(values)
    }

    /// Copies one value of device memory to the host.
    ///
    /// # Errors
    /// As for [`Executor::download`].
    pub(crate) fn download_one<T: NoUninit + AnyBitPattern>(&self, from: DevicePtr) -> Result<T, Error> {
        Ok(self.download(from, 1)?[0])
    }

    /// Makes later work wait for the copy of a buffer that a kernel is about to write.
    ///
    /// # Errors
    /// `Backend`: a lost device.
    pub(crate) fn await_copy_of(&self, buffer: &Buffer) -> Result<(), Error> {
        self.pool.borrow_mut().await_copy(&*self.device, buffer)
    }

    /// Begins an asynchronous copy of buffers to the host; `None` if the host has too little
    /// memory. The pool does not reuse a buffer before its copy is done.
    ///
    /// # Errors
    /// `Backend`: a lost device.
    pub(crate) fn copy_to_host_async(&self, pieces: &[(&Rc<Buffer>, usize)]) -> Result<Option<AsyncCopy>, Error> {
        self.flush()?;
        let places: Vec<(DevicePtr, usize)> = pieces.iter().map(|(buffer, bytes)| (buffer.address(), *bytes)).collect();
        // SAFETY: callers pass buffers and their lengths. Kernels write to buffers that the pool
        // allocated for their results, and the pool makes the stream wait for the copy first;
        // memory is freed after a wait.
        let Some(begun) = (unsafe { self.device.copy_to_host_async(&places) })? else { return Ok(None) };
        for (buffer, bytes) in pieces {
            self.pool.borrow_mut().is_copied(buffer, begun.0);
            self.count(|counters| {
                counters.downloads += 1;
                counters.downloaded_bytes += *bytes as u64;
            });
        }
        Ok(Some(begun))
    }

    /// A buffer for `n` numbers of collections.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn reals(&self, what: &str, n: usize) -> Result<Rc<Buffer>, Error> {
        self.buffer(what, self.precision().bytes() * n as u64)
    }

    /// Copies numbers of collections to the device, rounded if necessary.
    ///
    /// # Errors
    /// As for [`Executor::upload`].
    pub(crate) fn upload_reals(&self, what: &str, values: &[f64]) -> Result<Rc<Buffer>, Error> {
        match self.precision() {
            Precision::Double => self.upload(what, values),
            Precision::Single => self.upload(what, &values.iter().map(|&value| f32::from_f64(value)).collect::<Vec<_>>()),
        }
    }

    /// Copies the first `n` numbers of a collection to the host.
    ///
    /// # Errors
    /// As for [`Executor::download`].
    pub(crate) fn download_reals(&self, from: DevicePtr, n: usize) -> Result<Vec<f64>, Error> {
        match self.precision() {
            Precision::Double => self.download(from, n),
            Precision::Single => Ok(self.download::<f32>(from, n)?.into_iter().map(f64::from).collect()),
        }
    }

    /// `n` numbers of a collection in double precision on the device: the same buffer if they are.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn doubles_of(&self, reals: &Rc<Buffer>, n: usize) -> Result<Rc<Buffer>, Error> {
        if self.precision() == Precision::Double {
            return Ok(Rc::clone(reals));
        }
        let wide = self.buffer("numbers in double precision", 8 * n as u64)?;
        self.write_doubles(reals.address(), n, wide.address())?;
        Ok(wide)
    }

    /// Writes `n` numbers of a collection in double precision.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn write_doubles(&self, reals: DevicePtr, n: usize, to: DevicePtr) -> Result<(), Error> {
        let call = self.collection_call("equelle_doubles")?.arg(n as u32).arg(reals).arg(to);
        self.launch_over(call, n)
    }
}
