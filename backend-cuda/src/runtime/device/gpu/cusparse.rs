//! Products of sparse matrices by cuSPARSE (SpGEMM), through cudarc's module `cusparse`.

use std::ffi::{CStr, c_void};
use std::ptr::{from_ref, null_mut};
use std::sync::Arc;

use cudarc::cusparse::result::CusparseError;
use cudarc::cusparse::sys as sparse;
use cudarc::driver::CudaStream;
use equelle_runtime::Error;

use super::error::GpuError;
use super::probe;
use crate::runtime::device::DevicePtr;
use crate::runtime::device::sparse::{Allocate, SparseMatrix};
use crate::runtime::executor::precision::Precision;

/// An open library.
#[derive(Debug)]
pub(super) struct Library {
    handle: sparse::cusparseHandle_t,
    /// The stream of its work.
    _stream: Arc<CudaStream>,
}

/// A step of a product; the last two arguments are the size and the address of its memory.
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

/// A matrix descriptor of the library.
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
        check("describing a sparse matrix", status)?;
        Ok(Descriptor(descriptor))
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: created in `of`, destroyed once.
        let _ = unsafe { sparse::cusparseDestroySpMat(self.0) };
    }
}

/// A descriptor of a product.
struct Product(sparse::cusparseSpGEMMDescr_t);

impl Drop for Product {
    fn drop(&mut self) {
        // SAFETY: created in `product`, destroyed once.
        let _ = unsafe { sparse::cusparseSpGEMM_destroyDescr(self.0) };
    }
}

/// The library's number of a type.
fn type_of(precision: Precision) -> sparse::cudaDataType_t {
    match precision {
        Precision::Double => sparse::cudaDataType_t::CUDA_R_64F,
        Precision::Single => sparse::cudaDataType_t::CUDA_R_32F,
    }
}

const NOT_TRANSPOSED: sparse::cusparseOperation_t = sparse::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE;
/// Documented to give the same bits in every run.
const ALGORITHM: sparse::cusparseSpGEMMAlg_t = sparse::cusparseSpGEMMAlg_t::CUSPARSE_SPGEMM_ALG1;

/// Converts a status of the library.
fn check(task: &'static str, status: sparse::cusparseStatus_t) -> Result<(), Error> {
    use sparse::cusparseStatus_t::{CUSPARSE_STATUS_ALLOC_FAILED, CUSPARSE_STATUS_INSUFFICIENT_RESOURCES};
    let Err(CusparseError(status)) = status.result() else { return Ok(()) };
    // SAFETY: the library returns a static text for every status.
    let text = unsafe { CStr::from_ptr(sparse::cusparseGetErrorString(status)) }.to_string_lossy().into_owned();
    let out_of_memory = matches!(status, CUSPARSE_STATUS_ALLOC_FAILED | CUSPARSE_STATUS_INSUFFICIENT_RESOURCES);
    Err(GpuError::Cusparse { task, text, out_of_memory }.into())
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
        check("asking for the version of cuSPARSE", status).map(|()| value)
    };
    use sparse::libraryPropertyType_t as P;
    Ok(format!("{}.{}.{}", part(P::MAJOR_VERSION)?, part(P::MINOR_VERSION)?, part(P::PATCH_LEVEL)?))
}

impl Library {
    /// Opens the library for work in a stream.
    pub(super) fn open(stream: &Arc<CudaStream>) -> Result<Library, Error> {
        probe::cusparse()?;
        let mut handle = null_mut();
        // SAFETY: the handle outlives the call; the library and its symbols have been looked up.
        // The context of the device is current in this thread.
        check("opening cuSPARSE", unsafe { sparse::cusparseCreate(&raw mut handle) })?;
        let library = Library { handle, _stream: Arc::clone(stream) };
        // SAFETY: handle and stream exist; the two types are the same type of C.
        check("opening cuSPARSE", unsafe { sparse::cusparseSetStream(handle, stream.cu_stream().cast()) })?;
        Ok(library)
    }

    /// `a b`.
    ///
    /// # Errors
    /// # Safety
    /// Those of
    /// [`SparseProducts::product`](crate::runtime::device::sparse::SparseProducts::product).
    pub(super) unsafe fn product(&self, a: &SparseMatrix, b: &SparseMatrix, allocate: &mut Allocate<'_>) -> Result<SparseMatrix, Error> {
        let what = "a product of sparse matrices";
        let (left, right) = (Descriptor::of(a)?, Descriptor::of(b)?);
        let row_ptr = allocate(4 * (a.rows + 1) as u64)?;
        let precision = a.precision;
        let empty =
            SparseMatrix { rows: a.rows, columns: b.columns, entries: 0, row_ptr, col_idx: DevicePtr(0), values: DevicePtr(0), precision };
        let result = Descriptor::of(&empty)?;
        let mut progress = null_mut();
        // SAFETY: the descriptor outlives the call.
        check(what, unsafe { sparse::cusparseSpGEMM_createDescr(&raw mut progress) })?;
        let progress = Product(progress);
        let (doubles, singles) = ([1.0f64, 0.0], [1.0f32, 0.0]);
        // One and zero, in the type of the entries.
        let (alpha, beta) = match precision {
            Precision::Double => (from_ref(&doubles[0]).cast::<c_void>(), from_ref(&doubles[1]).cast::<c_void>()),
            Precision::Single => (from_ref(&singles[0]).cast::<c_void>(), from_ref(&singles[1]).cast::<c_void>()),
        };
        let numbers = type_of(precision);

        // A step of the product, called first for the size of its memory, which the caller owns
        // until the product is copied.
        let mut step = |step: Step| -> Result<(), Error> {
            let run = |bytes: &mut usize, memory: *mut c_void| {
                let (left, right) = (left.0.cast_const(), right.0.cast_const());
                // SAFETY: handle, descriptors and numbers are alive; matrices are valid as the
                // caller promises; `memory` has the size that the library requested, or is null to
                // query it.
                check(what, unsafe {
                    step(
                        self.handle,
                        NOT_TRANSPOSED,
                        NOT_TRANSPOSED,
                        alpha,
                        left,
                        right,
                        beta,
                        result.0,
                        numbers,
                        ALGORITHM,
                        progress.0,
                        bytes,
                        memory,
                    )
                })
            };
            let mut bytes = 0;
            run(&mut bytes, null_mut())?;
            let memory = allocate(bytes as u64)?;
            run(&mut bytes, pointer(memory))
        };
        step(sparse::cusparseSpGEMM_workEstimation)?;
        step(sparse::cusparseSpGEMM_compute)?;

        let (mut rows, mut columns, mut entries) = (0i64, 0i64, 0i64);
        // SAFETY: the numbers outlive the call.
        check(what, unsafe { sparse::cusparseSpMatGetSize(result.0.cast_const(), &raw mut rows, &raw mut columns, &raw mut entries) })?;
        let entries = usize::try_from(entries).unwrap_or(0);
        let (col_idx, values) = (allocate(4 * entries as u64)?, allocate(precision.bytes() * entries as u64)?);
        // SAFETY: the memory has the size that the library requested.
        check(what, unsafe { sparse::cusparseCsrSetPointers(result.0, pointer(row_ptr), pointer(col_idx), pointer(values)) })?;
        // SAFETY: as for the steps before, whose work memory the caller still owns.
        check(what, unsafe {
            sparse::cusparseSpGEMM_copy(
                self.handle,
                NOT_TRANSPOSED,
                NOT_TRANSPOSED,
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

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: created in `open`, destroyed once.
        let _ = unsafe { sparse::cusparseDestroy(self.handle) };
    }
}
