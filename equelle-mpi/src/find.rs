//! Libraries and launchers of MPI on this machine.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::launcher::Family;

/// Names of libraries, the most recent interface first.
fn names(family: Family) -> &'static [&'static str] {
    match family {
        Family::OpenMpi => &["libmpi.so.40", "libmpi.so"],
        Family::Mpich => &["libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so", "libmpi.so.12", "libmpich.so.12", "libmpi.so"],
    }
}

/// Libraries that may be those of a family, the best first: in these folders, then wherever the
/// loader finds them. Each has to be loaded to know what it is.
pub fn libraries(family: Family, folders: &[PathBuf]) -> Vec<PathBuf> {
    let beside = folders.iter().flat_map(|folder| names(family).iter().map(|name| folder.join(name))).filter(|path| path.is_file());
    beside.chain(names(family).iter().map(PathBuf::from)).collect()
}

/// A launcher, such as `/usr/bin/mpiexec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Its MPI.
    pub family: Family,
    /// Its version as it tells it, such as `5.0.2`; may be empty.
    pub version: String,
}

/// The launcher that a shell would start as `mpiexec`, if it is of an MPI that is known.
pub fn launcher() -> Option<Launcher> {
    programs("mpiexec").find_map(|program| launcher_at(&program))
}

/// The launcher that belongs to a library, in `bin` beside its folder.
pub fn launcher_of(library: &Path) -> Option<Launcher> {
    let library = library.canonicalize().ok()?;
    let prefixes = library.ancestors().skip(2).take(2);
    prefixes.map(|prefix| prefix.join("bin/mpiexec")).filter(|program| program.is_file()).find_map(|program| launcher_at(&program))
}

/// The launcher that a program is. It is asked, since two MPIs in one environment overwrite each
/// other's programs.
pub fn launcher_at(program: &Path) -> Option<Launcher> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let family = family_of(&text)?;
    let program = match family {
        // Programs that it starts lie beside it, which it does not find through a link.
        Family::Mpich => program.canonicalize().ok()?,
        // The name tells wrappers what they are.
        Family::OpenMpi => program.to_owned(),
    };
    Some(Launcher { program, family, version: version_of(&text) })
}

/// The MPI that a launcher says it is of.
fn family_of(text: &str) -> Option<Family> {
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["Open MPI", "OpenRTE", "OpenPMIx", "PRRTE"]) {
        Some(Family::OpenMpi)
    } else {
        says(&["HYDRA", "MPICH", "Intel(R) MPI", "MVAPICH"]).then_some(Family::Mpich)
    }
}

/// The first word of numbers and dots.
fn version_of(text: &str) -> String {
    let is_version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(is_version).unwrap_or_default().to_owned()
}

/// Programs of this name on the PATH.
fn programs(name: &str) -> impl Iterator<Item = PathBuf> {
    let folders: Vec<PathBuf> = env::var_os("PATH").as_deref().map(env::split_paths).into_iter().flatten().collect();
    let name = name.to_owned();
    folders.into_iter().filter(|folder| folder != OsStr::new("")).map(move |folder| folder.join(&name)).filter(|path| path.is_file())
}

/// Folders of the libraries that belong to launchers on the PATH.
pub fn library_folders() -> Vec<PathBuf> {
    programs("mpiexec").flat_map(|program| folders_of(&program)).collect()
}

/// Folders of the libraries that belong to a launcher: beside its folder, with links resolved or
/// not.
pub fn folders_of(program: &Path) -> Vec<PathBuf> {
    let resolved = program.canonicalize().ok();
    let programs = [Some(program), resolved.as_deref()];
    let prefixes = programs.into_iter().flatten().filter_map(|program| program.parent()?.parent());
    let triplet = format!("lib/{}-linux-gnu", env::consts::ARCH);
    let mut folders = Vec::new();
    for folder in prefixes.flat_map(|prefix| ["lib", "lib64", &*triplet].map(|lib| prefix.join(lib))) {
        if folder.is_dir() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_say_what_they_are() {
        let open = "mpiexec (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/community/help/\n";
        assert_eq!((family_of(open), &*version_of(open)), (Some(Family::OpenMpi), "5.0.11"));
        let old = "mpiexec.openmpi (OpenRTE) 4.1.4\n";
        assert_eq!((family_of(old), &*version_of(old)), (Some(Family::OpenMpi), "4.1.4"));
        let hydra = "HYDRA build details:\n    Version:                                 4.0.2\n";
        assert_eq!((family_of(hydra), &*version_of(hydra)), (Some(Family::Mpich), "4.0.2"));
        assert_eq!(family_of("mpiexec: unknown option\n"), None);
    }

    /// Libraries of another MPI in the same folder are not taken.
    #[test]
    fn libraries_lie_beside_the_launcher_and_have_the_names_of_their_family() {
        let prefix = tempfile::tempdir().unwrap();
        let at = |name: &str| prefix.path().join(name);
        for folder in ["bin", "lib"] {
            std::fs::create_dir(at(folder)).unwrap();
        }
        for file in ["bin/mpiexec", "lib/libmpi.so.40", "lib/libmpi.so.12"] {
            std::fs::write(at(file), "").unwrap();
        }
        let folders = folders_of(&at("bin/mpiexec"));
        assert_eq!(folders, [at("lib")]);
        assert_eq!(libraries(Family::OpenMpi, &folders)[..2], [at("lib/libmpi.so.40"), "libmpi.so.40".into()]);
        assert_eq!(libraries(Family::Mpich, &folders)[..2], [at("lib/libmpi.so.12"), "libmpi_abi.so.1".into()]);
    }
}
