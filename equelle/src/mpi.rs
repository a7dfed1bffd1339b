//! The MPI of this machine: a launcher and the library that belongs to it.

use std::path::{Path, PathBuf};
use std::process::Command;

use equelle_mpi::find::{self, Launcher};
use equelle_mpi::{Family, Library};
use equelle_runtime::{Error, ErrorKind};

use crate::failure::Failure;

/// A launcher with its library.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The launcher.
    pub launcher: Launcher,
    /// The library that its processes load.
    pub library: PathBuf,
    /// Name and version of the library, such as `Open MPI 4.1.4`.
    pub name: String,
}

impl Installation {
    /// The one that a shell would start as `mpiexec`, or that of a library which the user names.
    ///
    /// # Errors
    /// `Backend` if there is none, with commands that install one.
    pub fn find(given: Option<&Path>) -> Result<Installation, Failure> {
        match given {
            Some(library) => Installation::find_by_library(library),
            None => {
                let launcher = find::launcher().ok_or_else(missing)?;
                let candidates = find::libraries(launcher.family, &find::folders_of(&launcher.program));
                let library = Library::first(&candidates, Some(launcher.family)).ok_or_else(|| without_library(&launcher))?;
                Ok(Installation { library: library.path().to_owned(), name: library.name(), launcher })
            }
        }
    }

    fn find_by_library(path: &Path) -> Result<Installation, Failure> {
        let library = Library::load(path).map_err(|error| Error::new(ErrorKind::Backend, error.message))?;
        let name = library.name();
        let launcher = find::launcher_of(path).or_else(find::launcher).filter(|launcher| launcher.family == library.family());
        let launcher = launcher.ok_or_else(|| {
            let error = Error::new(
                ErrorKind::Backend,
                format!("no launcher `mpiexec` of {name} was found beside `{}`, or on the PATH", path.display()),
            );
            Failure::from(error.hint("start the built program by the launcher of that MPI"))
        })?;
        Ok(Installation { launcher, library: path.to_owned(), name })
    }

    /// The command that starts a program so often. Ranks share cores where there are more of them;
    /// jobs of a scheduler have as many as it allows.
    pub fn command(&self, n_ranks: u32, program: &Path) -> Command {
        let mut command = Command::new(&self.launcher.program);
        command.arg("-n").arg(n_ranks.to_string()).arg(program);
        if self.launcher.family == Family::OpenMpi && !is_in_job() && shared_cores(n_ranks).is_some() {
            // Open MPI 4 and 5 refuse that by default; MPICH does not.
            let not_given = SHARED_CORES.iter().filter(|(name, _)| std::env::var_os(name).is_none());
            command.envs(not_given.copied());
        }
        command
    }

    /// The command that starts a simulator so often; words of its command line may follow.
    pub fn simulator(&self, n_ranks: u32, program: &Path) -> Command {
        let mut command = self.command(n_ranks, program);
        command.arg("--mpi-library").arg(self.library_path());
        command
    }

    /// The library as an absolute path, if it is a file that is named by its path.
    pub fn library_path(&self) -> PathBuf {
        self.library.canonicalize().unwrap_or_else(|_| self.library.clone())
    }
}

/// Variables by which Open MPI starts more ranks than there are cores: of 4, and of 5.
const SHARED_CORES: [(&str, &str); 2] =
    [("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")];

/// The cores of this machine, if it has fewer than ranks.
pub fn shared_cores(n_ranks: u32) -> Option<usize> {
    std::thread::available_parallelism().ok().map(usize::from).filter(|cores| *cores < n_ranks as usize)
}

/// True if a scheduler of a cluster has started this program: Slurm, PBS, LSF or Grid Engine.
pub fn is_in_job() -> bool {
    ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE"].iter().any(|name| std::env::var_os(name).is_some())
}

/// Commands that install an MPI.
pub const REMEDIES: &str = "`apt install openmpi-bin` installs one, or, without being root, `pip install mpich`";

fn missing() -> Failure {
    Error::new(ErrorKind::Backend, "no MPI was found: `mpiexec` is not on the PATH").hint(REMEDIES).into()
}

fn without_library(launcher: &Launcher) -> Failure {
    let family: Family = launcher.family;
    let message = format!("`{}` is of {}, and its library was not found", launcher.program.display(), family.name());
    Error::new(ErrorKind::Backend, message).hint(format!("mpi_library=FILE names it; {REMEDIES}")).into()
}
