//! The functions of an MPI, and its constants: three binary interfaces, of the MPI 5 standard, of
//! MPICH, and of Open MPI.

use std::ffi::{c_char, c_int, c_void};

use libloading::Library;

use crate::MpiError;
use crate::launcher::Family;

/// A handle of MPI: an address, or a number of 32 bits. On machines of 64 bits both are passed in
/// one register, whose upper half is not read where the handle is a number.
pub(crate) type Handle = usize;

/// Room for a request of any MPI.
pub(crate) type Request = u64;

/// Room for a status of any MPI: the largest has 40 bytes.
#[repr(C, align(16))]
pub(crate) struct Status([u8; 256]);

impl Status {
    pub(crate) fn empty() -> Status {
        Status([0; 256])
    }
}

/// Bytes for any text of MPI: the longest is that of its version.
const MAX_TEXT: usize = 8192;

/// Declares functions with the type that each has in all MPIs.
macro_rules! functions {
    ($($name:ident: $symbol:literal ($($argument:ty),*);)*) => {
        /// Functions of a library, which stays loaded as long as they exist.
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            /// # Safety
            /// The library is an MPI, and outlives the result.
            pub(crate) unsafe fn of(library: &Library) -> Result<Functions, MpiError> {
                Ok(Functions {
                    $($name: {
                        // SAFETY: the standard fixes the function's type up to that of handles,
                        // which `Handle` stands for.
                        let found = unsafe { library.get::<unsafe extern "C" fn($($argument),*) -> c_int>($symbol) };
                        *found.map_err(|_| MpiError::new(concat!("it has no function ", $symbol)))?
                    },)*
                })
            }
        }
    };
}

functions! {
    init_thread: "MPI_Init_thread" (*mut c_int, *mut c_void, c_int, *mut c_int);
    finalize: "MPI_Finalize" ();
    abort: "MPI_Abort" (Handle, c_int);
    comm_rank: "MPI_Comm_rank" (Handle, *mut c_int);
    comm_size: "MPI_Comm_size" (Handle, *mut c_int);
    set_errhandler: "MPI_Comm_set_errhandler" (Handle, Handle);
    library_version: "MPI_Get_library_version" (*mut c_char, *mut c_int);
    processor_name: "MPI_Get_processor_name" (*mut c_char, *mut c_int);
    error_string: "MPI_Error_string" (c_int, *mut c_char, *mut c_int);
    isend: "MPI_Isend" (*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Request);
    test: "MPI_Test" (*mut Request, *mut c_int, *mut Status);
    iprobe: "MPI_Iprobe" (c_int, c_int, Handle, *mut c_int, *mut Status);
    get_count: "MPI_Get_count" (*const Status, Handle, *mut c_int);
    recv: "MPI_Recv" (*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Status);
}

/// Constants of a binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Constants {
    pub(crate) family: Family,
    /// `MPI_COMM_WORLD`.
    pub(crate) world: Handle,
    /// `MPI_BYTE`.
    pub(crate) byte: Handle,
    /// `MPI_ERRORS_RETURN`.
    pub(crate) errors_return: Handle,
    /// `MPI_ANY_SOURCE`.
    pub(crate) any_source: c_int,
    /// `MPI_THREAD_FUNNELED`.
    pub(crate) funneled: c_int,
}

/// Those of the MPI 5 standard (section 20.3).
const STANDARD: Constants =
    Constants { family: Family::Mpich, world: 0x101, byte: 0x247, errors_return: 0x143, any_source: -1, funneled: 1024 };

/// Those of MPICH and of what has its interface.
const MPICH: Constants =
    Constants { family: Family::Mpich, world: 0x4400_0000, byte: 0x4c00_010d, errors_return: 0x5400_0001, any_source: -2, funneled: 1 };

impl Constants {
    /// The interface of a library, by what it says of itself.
    ///
    /// # Errors
    /// If it has none that is known.
    ///
    /// # Safety
    /// The library is an MPI, and outlives the result.
    pub(crate) unsafe fn of(library: &Library, version: &str) -> Result<Constants, MpiError> {
        // SAFETY: the address of a variable, which is not read.
        let variable = |name: &str| unsafe { library.get::<*const c_void>(name) }.ok().map(|symbol| *symbol as Handle);
        let handles = variable("ompi_mpi_comm_world").zip(variable("ompi_mpi_byte")).zip(variable("ompi_mpi_errors_return"));
        // SAFETY: the function's type is that of the standard.
        if unsafe { is_standard(library) } {
            // Both MPICH and later versions of Open MPI have the standard's interface.
            let family = if version.contains("Open MPI") { Family::OpenMpi } else { Family::Mpich };
            return Ok(Constants { family, ..STANDARD });
        }
        if let Some(((world, byte), errors_return)) = handles {
            return Ok(Constants { family: Family::OpenMpi, world, byte, errors_return, any_source: -1, funneled: 1 });
        }
        let is_like_mpich = ["MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"].iter().any(|name| version.contains(name));
        is_like_mpich.then_some(MPICH).ok_or_else(|| MpiError::new(format!("it is an MPI that is not known: {version}")))
    }
}

/// True if a library has the binary interface of the standard. MPICH's library with its own
/// interface has the function too, and answers -1.
///
/// # Safety
/// The library is an MPI.
unsafe fn is_standard(library: &Library) -> bool {
    type AbiVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    // SAFETY: the function's type is that of the MPI 5 standard.
    let Ok(version) = (unsafe { library.get::<AbiVersion>("MPI_Abi_get_version") }) else { return false };
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: both places are valid, and the function may be called before MPI is initialised.
    let code = unsafe { version(&mut major, &mut minor) };
    code == 0 && major >= 1
}

/// The text that a function of MPI writes with its length; empty if it fails.
pub(crate) fn text(write: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> String {
    let mut bytes = vec![0_u8; MAX_TEXT];
    let mut len: c_int = 0;
    let code = write(bytes.as_mut_ptr().cast(), &mut len);
    let len = if code == 0 { usize::try_from(len).unwrap_or(0) } else { 0 };
    let text = String::from_utf8_lossy(bytes.get(..len).unwrap_or_default()).into_owned();
    text.trim_end_matches('\0').to_owned()
}
