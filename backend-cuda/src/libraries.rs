//! Search paths for the libraries of CUDA. The runtime loads libraries from them; `equellec doctor`
//! only reports what it finds.

use std::env;
use std::path::PathBuf;

/// A file in the folders in which CUDA toolkits usually are: they are often installed without
/// being on the loader's path.
pub fn in_toolkits(file: &str) -> impl Iterator<Item = PathBuf> {
    let set = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
    let roots = set.chain(["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from));
    let folders = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];
    let paths = roots.flat_map(move |root| folders.map(|folder| root.join(folder)));
    let file = file.to_owned();
    paths.map(move |folder| folder.join(&file)).filter(|path| path.is_file())
}

/// The first of these files that the system's loader would find, or that is in a toolkit.
#[cfg(feature = "codegen")]
pub fn find(files: &[&str]) -> Option<PathBuf> {
    let variable = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };
    let mut folders: Vec<PathBuf> = env::var_os(variable).map(|value| env::split_paths(&value).collect()).unwrap_or_default();
    let of_the_system = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/lib/wsl/lib",
        "/usr/local/nvidia/lib64",
    ];
    folders.extend(of_the_system.map(PathBuf::from));
    let loaded = folders.iter().flat_map(|folder| files.iter().map(move |file| folder.join(file))).find(|path| path.exists());
    loaded.or_else(|| files.iter().find_map(|file| in_toolkits(file).next()))
}
