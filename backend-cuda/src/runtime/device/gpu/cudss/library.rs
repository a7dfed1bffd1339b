//! cuDSS, loaded at run time: its functions, and the few types and constants that we use,
//! transcribed from the documentation of version 1 (<https://docs.nvidia.com/cuda/cudss/>). Other
//! major versions have other signatures.

use std::error::Error;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys::CUstream;
use libloading::Library;

use super::super::probe;
use crate::libraries::in_toolkits;

/// The major version of the transcribed interface.
const MAJOR: c_int = 1;
/// File names of the library.
const NAMES: [&str; 2] = ["libcudss.so.1", "libcudss.so"];
/// Dependencies of the library; toolkits are often outside the loader's path.
const NEEDED: [&str; 3] = ["libcublasLt.so.13", "libcublas.so.13", "libnvrtc.so.13"];

/// An opaque object of the library.
pub(super) type Object = *mut c_void;
/// A status of the library; 0 is success.
pub(super) type Status = c_int;

pub(super) mod status {
    //! Statuses with special handling.
    pub const SUCCESS: super::Status = 0;
    pub const ALLOC_FAILED: super::Status = 2;
}

pub(super) mod config {
    //! Settings.
    pub const SOLVE_MODE: i32 = 4;
    pub const IR_N_STEPS: i32 = 5;
    pub const DETERMINISTIC_MODE: i32 = 24;
}

pub(super) mod data {
    //! Queries.
    pub const INFO: i32 = 0;
}

pub(super) mod phase {
    //! Phases of a solve.
    pub const ANALYSIS: i32 = 3;
    pub const FACTORIZATION: i32 = 4;
    pub const REFACTORIZATION: i32 = 8;
    pub const SOLVE: i32 = 0x3f0;
}

pub(super) mod matrix {
    //! Properties of matrices.
    pub const GENERAL: i32 = 0;
    pub const POSITIVE_DEFINITE: i32 = 3;
    pub const FULL: i32 = 0;
    pub const FROM_ZERO: i32 = 0;
    pub const BY_COLUMNS: i32 = 0;
    /// Types of the CUDA toolkit: 64-bit floating point, and 32-bit integers.
    pub const DOUBLES: i32 = 1;
    pub const INTEGERS: i32 = 10;
}

type Create = unsafe extern "C" fn(*mut Object) -> Status;
type Destroy = unsafe extern "C" fn(Object) -> Status;
type CreateIn = unsafe extern "C" fn(Object, *mut Object) -> Status;
type DestroyIn = unsafe extern "C" fn(Object, Object) -> Status;
type SetStream = unsafe extern "C" fn(Object, CUstream) -> Status;
type ConfigSet = unsafe extern "C" fn(Object, c_int, *const c_void, usize) -> Status;
type DataGet = unsafe extern "C" fn(Object, Object, c_int, *mut c_void, usize, *mut usize) -> Status;
/// Handle, phase, settings, data, matrix, solution, right-hand side.
type Execute = unsafe extern "C" fn(Object, c_int, Object, Object, Object, Object, Object) -> Status;
/// The matrix; rows, columns, entries; begin and end of rows, columns, values; types of offsets,
/// columns, values; kind, triangles, index base.
#[rustfmt::skip]
type CreateCsr = unsafe extern "C" fn(
    *mut Object, i64, i64, i64, *const c_void, *const c_void, *const c_void, *const c_void, c_int, c_int, c_int, c_int, c_int, c_int,
) -> Status;
/// The matrix; rows, columns, leading dimension; values; their type, order.
type CreateDense = unsafe extern "C" fn(*mut Object, i64, i64, i64, *const c_void, c_int, c_int) -> Status;
type GetProperty = unsafe extern "C" fn(c_int, *mut c_int) -> Status;

/// The functions of the library that we use. It is never unloaded.
#[derive(Debug)]
pub(super) struct Api {
    pub version: [c_int; 3],
    pub create: Create,
    pub destroy: Destroy,
    pub set_stream: SetStream,
    pub config_create: Create,
    pub config_destroy: Destroy,
    pub config_set: ConfigSet,
    pub data_create: CreateIn,
    pub data_destroy: DestroyIn,
    pub data_get: DataGet,
    pub execute: Execute,
    pub create_csr: CreateCsr,
    pub create_dense: CreateDense,
    pub matrix_destroy: Destroy,
}

/// Looks up a function of a library.
///
/// # Safety
/// The function has the type `F`, a function pointer.
unsafe fn symbol<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    // SAFETY: the caller's promise.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|_| format!("the library that was found as cuDSS has no `{name}`"))
}

impl Api {
    /// Opens the library in a file, given by path or by a name for the loader.
    pub(super) fn open(file: &str) -> Result<Api, String> {
        // SAFETY: loading the vendor's library runs its initialisation, as intended. Any other file
        // of that name was installed by the user.
        let library = unsafe { Library::new(file) }.map_err(reason_of)?;
        // SAFETY: the type is that of the function in every version of the library.
        let property = unsafe { symbol::<GetProperty>(&library, "cudssGetProperty") }?;
        let mut version = [0; 3];
        for (part, value) in (0..).zip(&mut version) {
            // SAFETY: the number outlives the call.
            if unsafe { property(part, value) } != status::SUCCESS {
                return Err("cuDSS does not tell its version".to_owned());
            }
        }
        let [major, minor, patch] = version;
        if major != MAJOR {
            return Err(format!("cuDSS {major}.{minor}.{patch} was found, and version {MAJOR} is needed"));
        }
        // SAFETY: the types are those of the functions in this major version, as documented.
        let api = unsafe {
            Api {
                version,
                create: symbol(&library, "cudssCreate")?,
                destroy: symbol(&library, "cudssDestroy")?,
                set_stream: symbol(&library, "cudssSetStream")?,
                config_create: symbol(&library, "cudssConfigCreate")?,
                config_destroy: symbol(&library, "cudssConfigDestroy")?,
                config_set: symbol(&library, "cudssConfigSet")?,
                data_create: symbol(&library, "cudssDataCreate")?,
                data_destroy: symbol(&library, "cudssDataDestroy")?,
                data_get: symbol(&library, "cudssDataGet")?,
                execute: symbol(&library, "cudssExecute")?,
                create_csr: symbol(&library, "cudssMatrixCreateCsr")?,
                create_dense: symbol(&library, "cudssMatrixCreateDn")?,
                matrix_destroy: symbol(&library, "cudssMatrixDestroy")?,
            }
        };
        // Its functions are called until the end of the program.
        std::mem::forget(library);
        Ok(api)
    }
}

/// The loader's message.
fn reason_of(error: libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The library under one of these names, or the reason why there is none: the error of the first
/// existing file, or nothing if none exists.
fn first_of(names: &[&str]) -> Result<Api, Option<String>> {
    let mut reason = None;
    for name in names {
        match Api::open(name) {
            Ok(api) => return Ok(api),
            // The loader names the missing file, which may be a dependency of the library.
            Err(error) if error.starts_with(&format!("{name}: cannot open shared object file")) => {}
            Err(error) => reason = reason.or(Some(error)),
        }
    }
    Err(reason)
}

/// The reason why there is no library, as text for users.
fn explain(reason: Option<String>) -> String {
    reason.map_or_else(|| format!("cuDSS was not found (library `{}`)", NAMES[0]), |reason| format!("cuDSS cannot be used: {reason}"))
}

/// The library of this machine, loaded once.
pub(super) fn library() -> Result<&'static Api, String> {
    static LIBRARY: OnceLock<Result<Api, String>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| {
        first_of(&NAMES).or_else(|reason| {
            if reason.is_none() && NAMES.iter().all(|name| in_toolkits(name).next().is_none()) {
                return Err(explain(None));
            }
            NEEDED.into_iter().chain(NAMES).for_each(probe::load_from_toolkits);
            first_of(&NAMES).map_err(|later| explain(reason.or(later)))
        })
    });
    found.as_ref().map_err(String::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The library of this machine, if any, has all functions that we use, and a known version.
    #[test]
    fn the_library_of_this_machine() {
        match library() {
            Ok(api) => assert_eq!(api.version[0], MAJOR),
            Err(reason) => assert!(reason.starts_with("cuDSS "), "{reason}"),
        }
        assert_eq!(library().err(), library().err());
    }

    /// Other files are refused with a reason: a missing file, a file that is no library, and a
    /// library without the functions.
    #[test]
    fn what_is_not_the_library_is_refused() {
        let none = "libcudss.so.none";
        assert_eq!(first_of(&[none]).unwrap_err(), None);
        assert_eq!(explain(None), "cuDSS was not found (library `libcudss.so.1`)");

        let folder = tempfile::tempdir().expect("a folder that can be written");
        let text = folder.path().join("no-library.so");
        std::fs::write(&text, "no machine code").expect("a file that can be written");
        let error = explain(first_of(&[none, text.to_str().expect("a path of letters")]).unwrap_err());
        assert!(error.starts_with("cuDSS cannot be used: ") && error.contains("no-library"), "{error}");

        if cfg!(target_os = "linux") {
            let error = first_of(&["libm.so.6"]).unwrap_err();
            assert_eq!(error.as_deref(), Some("the library that was found as cuDSS has no `cudssGetProperty`"));
        }
    }
}
