//! Products of sparse matrices by cuSPARSE (SpGEMM), through cudarc's module `cusparse`.

use std::cell::OnceCell;
use std::ffi::{CStr, c_void};
use std::ptr::{from_ref, null_mut};

use cudarc::cusparse::result::CusparseError;
use cudarc::cusparse::sys as sparse;
use cudarc::driver::sys as driver;
use equelle_runtime::{Error, ErrorKind};

use super::{GpuDevice, probe};
use crate::runtime::device::DevicePtr;
use crate::runtime::device::sparse::{Allocate, SparseMatrix, SparseProducts};
use crate::runtime::precision::Precision;

/// An open library.
#[derive(Debug)]
pub(super) struct Library(sparse::cusparseHandle_t);

/// Opened at first use: programs without sparse products do not need it.
pub(super) type LazyLibrary = OnceCell<Library>;

/// A step of a product; the last two arguments are the size of its memory and the memory.
type Step = unsafe fn(
    sparse::cusparseHandle_t,
    sparse::cusparseOperation_t,
    sparse::cusparseOperation_t,
    *const c_void,
    sparse::cusparseConstSpMatDescr_t,
    sparse::cusparseConstSpMatDescr_t,
    *const c_void,
    sparse::cusparseSpMatDescr_t,
    sparse::cudaDataType,
    sparse::cusparseSpGEMMAlg_t,
    sparse::cusparseSpGEMMDescr_t,
    *mut usize,
    *mut c_void,
) -> sparse::cusparseStatus_t;

impl Library {
    fn open(stream: driver::CUstream) -> Result<Library, Error> {
        probe::cusparse()?;
        let mut handle = null_mut();
        // SAFETY: the handle outlives the call; the library and its symbols have been looked up. The context of the device is current in this thread.
        told("opening cuSPARSE", unsafe { sparse::cusparseCreate(&raw mut handle) })?;
        let library = Library(handle);
        // SAFETY: handle and stream exist; the two types name the same thing.
        told("opening cuSPARSE", unsafe { sparse::cusparseSetStream(library.0, stream.cast()) })?;
        Ok(library)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: created in `open`, destroyed once.
        let _ = unsafe { sparse::cusparseDestroy(self.0) };
    }
}

/// A matrix as the library describes it.
struct Descriptor(sparse::cusparseSpMatDescr_t);

fn pointer(at: DevicePtr) -> *mut c_void {
    at.0 as *mut c_void
}

impl Descriptor {
    fn of(matrix: &SparseMatrix) -> Result<Descriptor, Error> {
        let mut descriptor = null_mut();
        let integers = sparse::cusparseIndexType_t::CUSPARSE_INDEX_32I;
        // SAFETY: the descriptor outlives the call, which reads no device memory.
        let status = unsafe {
            sparse::cusparseCreateCsr(
                &raw mut descriptor,
                matrix.rows as i64,
                matrix.columns as i64,
                matrix.entries as i64,
                pointer(matrix.row_ptr),
                pointer(matrix.col_idx),
                pointer(matrix.values),
                integers,
                integers,
                sparse::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO,
                type_of(matrix.precision),
            )
        };
        told("describing a sparse matrix", status)?;
        Ok(Descriptor(descriptor))
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: created in `of`, destroyed once.
        let _ = unsafe { sparse::cusparseDestroySpMat(self.0) };
    }
}

/// A product in progress.
struct Product(sparse::cusparseSpGEMMDescr_t);

impl Drop for Product {
    fn drop(&mut self) {
        // SAFETY: created in `product`, destroyed once.
        let _ = unsafe { sparse::cusparseSpGEMM_destroyDescr(self.0) };
    }
}

/// How the library calls numbers.
fn type_of(precision: Precision) -> sparse::cudaDataType_t {
    match precision {
        Precision::Double => sparse::cudaDataType_t::CUDA_R_64F,
        Precision::Single => sparse::cudaDataType_t::CUDA_R_32F,
    }
}

const AS_IT_IS: sparse::cusparseOperation_t = sparse::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE;
/// Documented to give the same bits at every run.
const ALGORITHM: sparse::cusparseSpGEMMAlg_t = sparse::cusparseSpGEMMAlg_t::CUSPARSE_SPGEMM_ALG1;

/// An answer of the library as a result of ours.
fn told(what: &str, status: sparse::cusparseStatus_t) -> Result<(), Error> {
    let Err(CusparseError(status)) = status.result() else { return Ok(()) };
    // SAFETY: the library answers with a text of its own that stays, for every number.
    let text = unsafe { CStr::from_ptr(sparse::cusparseGetErrorString(status)) }.to_string_lossy().into_owned();
    let error = Error::new(ErrorKind::Backend, format!("{what} failed on the GPU: cuSPARSE says: {text}"));
    Err(match status {
        sparse::cusparseStatus_t::CUSPARSE_STATUS_ALLOC_FAILED | sparse::cusparseStatus_t::CUSPARSE_STATUS_INSUFFICIENT_RESOURCES => {
            error.hint("use a smaller grid, or -O2 without --ad=spgemm")
        }
        _ => error,
    })
}

/// Version of the library, such as `12.6.3`.
///
/// # Errors
/// `Backend`: it is missing.
pub fn version() -> Result<String, Error> {
    probe::cusparse()?;
    let part = |which| {
        let mut value = 0;
        // SAFETY: the number outlives the call.
        let status = unsafe { sparse::cusparseGetProperty(which, &raw mut value) };
        told("asking for the version of cuSPARSE", status).map(|()| value)
    };
    use sparse::libraryPropertyType_t as P;
    Ok(format!("{}.{}.{}", part(P::MAJOR_VERSION)?, part(P::MINOR_VERSION)?, part(P::PATCH_LEVEL)?))
}

impl SparseProducts for GpuDevice {
    unsafe fn product(&self, a: &SparseMatrix, b: &SparseMatrix, room: &mut Allocate<'_>) -> Result<SparseMatrix, Error> {
        let what = "a product of sparse matrices";
        let library = match self.sparse.get() {
            Some(library) => library,
            None => {
                let opened = Library::open(self.stream)?;
                self.sparse.get_or_init(|| opened)
            }
        };
        let (left, right) = (Descriptor::of(a)?, Descriptor::of(b)?);
        let row_ptr = room(4 * (a.rows + 1) as u64)?;
        let precision = a.precision;
        let empty =
            SparseMatrix { rows: a.rows, columns: b.columns, entries: 0, row_ptr, col_idx: DevicePtr(0), values: DevicePtr(0), precision };
        let result = Descriptor::of(&empty)?;
        let mut progress = null_mut();
        // SAFETY: the descriptor outlives the call.
        told(what, unsafe { sparse::cusparseSpGEMM_createDescr(&raw mut progress) })?;
        let progress = Product(progress);
        let (doubles, singles) = ([1.0f64, 0.0], [1.0f32, 0.0]);
        // One and zero, in the type of the entries.
        let (alpha, beta) = match precision {
            Precision::Double => (from_ref(&doubles[0]).cast::<c_void>(), from_ref(&doubles[1]).cast::<c_void>()),
            Precision::Single => (from_ref(&singles[0]).cast::<c_void>(), from_ref(&singles[1]).cast::<c_void>()),
        };
        let numbers = type_of(precision);

        // A step of the product, first asked for the memory that it wants, which the caller holds until the product is copied.
        let mut step = |step: Step| -> Result<(), Error> {
            let run = |bytes: &mut usize, memory: *mut c_void| {
                let (left, right) = (left.0.cast_const(), right.0.cast_const());
                // SAFETY: handle, descriptors and numbers live; matrices are where the caller promises; `memory` has the size that the library asked for, or is null to ask.
                told(what, unsafe {
                    step(library.0, AS_IT_IS, AS_IT_IS, alpha, left, right, beta, result.0, numbers, ALGORITHM, progress.0, bytes, memory)
                })
            };
            let mut bytes = 0;
            run(&mut bytes, null_mut())?;
            let memory = room(bytes as u64)?;
            run(&mut bytes, pointer(memory))
        };
        step(sparse::cusparseSpGEMM_workEstimation)?;
        step(sparse::cusparseSpGEMM_compute)?;

        let (mut rows, mut columns, mut entries) = (0i64, 0i64, 0i64);
        // SAFETY: the numbers outlive the call.
        told(what, unsafe { sparse::cusparseSpMatGetSize(result.0.cast_const(), &raw mut rows, &raw mut columns, &raw mut entries) })?;
        let entries = usize::try_from(entries).unwrap_or(0);
        let (col_idx, values) = (room(4 * entries as u64)?, room(precision.bytes() * entries as u64)?);
        // SAFETY: the memory has room for as many rows and entries as the library told.
        told(what, unsafe { sparse::cusparseCsrSetPointers(result.0, pointer(row_ptr), pointer(col_idx), pointer(values)) })?;
        // SAFETY: as for the steps before, whose work memory the caller still holds.
        told(what, unsafe {
            sparse::cusparseSpGEMM_copy(
                library.0,
                AS_IT_IS,
                AS_IT_IS,
                alpha,
                left.0.cast_const(),
                right.0.cast_const(),
                beta,
                result.0,
                numbers,
                ALGORITHM,
                progress.0,
            )
        })?;
        Ok(SparseMatrix { rows: a.rows, columns: b.columns, entries, row_ptr, col_idx, values, precision })
    }
}
