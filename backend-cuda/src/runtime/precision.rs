//! The precision of a program: what collections and derivatives hold. Scalars, single Vectors, sequences, what reductions accumulate and linear systems are doubles in either case.

use std::rc::Rc;

use equelle_runtime::{Error, Real};

use crate::runtime::args::Call;
use crate::runtime::device::DevicePtr;
use crate::runtime::grid::bytes_of;
use crate::runtime::kernels::COLLECTIONS_MODULE;
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;

/// A type of numbers in device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// IEEE double.
    #[default]
    Double,
    /// IEEE single.
    Single,
}

impl Precision {
    /// That of the numbers of a runtime in the precision `R`.
    pub fn of<R: Real>() -> Self {
        if R::NAME == f32::NAME { Precision::Single } else { Precision::Double }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> u64 {
        match self {
            Precision::Double => 8,
            Precision::Single => 4,
        }
    }

    /// Numbers as they lie in memory, rounded if need be.
    pub(super) fn bytes_of(self, values: &[f64]) -> Vec<u8> {
        match self {
            Precision::Double => bytes_of(values, f64::to_le_bytes),
            Precision::Single => bytes_of(values, |value| f32::from_f64(value).to_le_bytes()),
        }
    }

    /// Numbers that lie in memory.
    pub(super) fn numbers(self, bytes: &[u8]) -> Vec<f64> {
        match self {
            Precision::Double => doubles(bytes),
            Precision::Single => singles(bytes).into_iter().map(f64::from).collect(),
        }
    }
}

/// Doubles that lie in memory.
pub(super) fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|&c| f64::from_le_bytes(c)).collect()
}

/// Singles that lie in memory.
pub(super) fn singles(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&c| f32::from_le_bytes(c)).collect()
}

impl CudaRuntime {
    /// Memory for `n` numbers of collections.
    pub(super) fn reals(&mut self, what: &str, n: usize) -> Result<Rc<Buffer>, Error> {
        self.buffer(what, self.precision.bytes() * n as u64)
    }

    /// Numbers of collections, on the device, rounded if need be.
    pub(super) fn upload_reals(&mut self, what: &str, values: &[f64]) -> Result<Rc<Buffer>, Error> {
        self.upload(what, &self.precision.bytes_of(values))
    }

    /// The first `n` numbers of a collection.
    pub(super) fn download_reals(&mut self, from: DevicePtr, n: usize) -> Result<Vec<f64>, Error> {
        let bytes = self.download(from, self.precision.bytes() as usize * n)?;
        Ok(self.precision.numbers(&bytes))
    }

    /// `n` numbers of a collection as doubles on the device: the same memory where they are.
    pub(super) fn doubles_of(&mut self, reals: &Rc<Buffer>, n: usize) -> Result<Rc<Buffer>, Error> {
        if self.precision == Precision::Double {
            return Ok(Rc::clone(reals));
        }
        let wide = self.buffer("numbers in double precision", 8 * n as u64)?;
        self.write_doubles(reals.address(), n, wide.address())?;
        Ok(wide)
    }

    /// Writes `n` numbers of a collection as doubles.
    pub(super) fn write_doubles(&mut self, reals: DevicePtr, n: usize, to: DevicePtr) -> Result<(), Error> {
        let call = self.collection_call("equelle_doubles")?.arg(n as u32).arg(reals).arg(to);
        self.launch_over(call, n)
    }

    /// A call of a kernel that works on collections of the program.
    pub(super) fn collection_call(&mut self, name: &'static str) -> Result<Call, Error> {
        self.call(&COLLECTIONS_MODULE, name)
    }
}
