//! Libraries of MPI that are loaded.

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::MpiError;
use crate::connection::Connection;
use crate::functions::{Constants, Functions, text};
use crate::launcher::Family;

/// Set once MPI is initialised: a process can do so once, whatever the library.
static IS_CONNECTED: AtomicBool = AtomicBool::new(false);

/// A library of MPI that is loaded, and not yet initialised.
pub struct Library {
    path: PathBuf,
    version: String,
    functions: Functions,
    constants: Constants,
    /// Last, so that functions are gone before it is closed.
    library: libloading::Library,
}

impl Library {
    /// Loads the library of a path or name.
    ///
    /// # Errors
    /// If it cannot be loaded, or is no MPI that is known.
    pub fn load(path: &Path) -> Result<Library, MpiError> {
        let failed = |why: &dyn std::fmt::Display| MpiError::new(format!("cannot load `{}`: {why}", path.display()));
        let library = open(path).map_err(|error| failed(&error))?;
        // SAFETY: what has all functions of an MPI is one; `library` is kept beside them.
        let functions = unsafe { Functions::of(&library) }.map_err(|error| failed(&error))?;
        let version = text(|bytes, len| {
            // SAFETY: the buffer has room for the longest version; callable before initialisation.
            unsafe { (functions.library_version)(bytes, len) }
        });
        // SAFETY: as above.
        let constants = unsafe { Constants::of(&library, &version) }.map_err(|error| failed(&error))?;
        Ok(Library { path: path.to_owned(), version, functions, constants, library })
    }

    /// The first of these libraries that is of a family; without one, of any.
    pub fn first(candidates: &[PathBuf], family: Option<Family>) -> Option<Library> {
        let loaded = candidates.iter().filter_map(|path| Library::load(path).ok());
        loaded.into_iter().find(|library| family.is_none_or(|family| family == library.family()))
    }

    /// Its path or name, as it was loaded.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its family.
    pub fn family(&self) -> Family {
        self.constants.family
    }

    /// Its name and version, such as `Open MPI 4.1.4`.
    pub fn name(&self) -> String {
        let is_version =
            |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'r' | 'c' | 'a' | 'b'));
        let word = self.version.split([' ', ',', '\t', '\n', 'v']).find(is_version).unwrap_or_default();
        let family = ["Intel(R) MPI", "MVAPICH", "CRAY MPICH"].into_iter().find(|name| self.version.contains(name));
        format!("{} {word}", family.unwrap_or(self.family().name())).trim_end().to_owned()
    }

    /// Connects this process with the others that its launcher started. Only the thread that calls
    /// it may use the connection.
    ///
    /// # Errors
    /// If the process is connected already, or MPI does not come up.
    pub fn connect(self) -> Result<Connection, MpiError> {
        if IS_CONNECTED.swap(true, Ordering::SeqCst) {
            return Err(MpiError::new("this process is connected to an MPI already"));
        }
        let name = self.name();
        let Library { functions, constants, library, .. } = self;
        // Once initialised it is never closed: MPI has threads and handlers of its own.
        std::mem::forget(library);
        let mut provided: c_int = 0;
        // SAFETY: null instead of the arguments of `main` is allowed since MPI 2; MPI is not
        // initialised twice, which `IS_CONNECTED` shows.
        let code = unsafe { (functions.init_thread)(std::ptr::null_mut(), std::ptr::null_mut(), constants.funneled, &mut provided) };
        if code != 0 {
            return Err(MpiError::new(format!("{name} does not come up: code {code} of MPI_Init_thread")));
        }
        Connection::new(functions, constants, name)
    }
}

/// Opens a library. Its symbols are global, since plug-ins of Open MPI refer to them.
#[cfg(all(unix, target_pointer_width = "64"))]
fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::unix::{self, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: the initialisers of a library run: of one that users name, or that has the name of an
    // MPI.
    unsafe { unix::Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map(libloading::Library::from)
}

/// Handles of MPIs on other systems are not known.
#[cfg(not(all(unix, target_pointer_width = "64")))]
fn open(_: &Path) -> Result<libloading::Library, MpiError> {
    Err(MpiError::new("MPI is used on Unix systems of 64 bits alone"))
}
