//! The page of the book on clusters, followed word by word. A stand-in for SLURM starts its
//! scripts: `sbatch` reads their `#SBATCH` lines, and `srun` is the launcher of the MPI that is
//! here.

#[allow(dead_code)]
#[path = "../../../xtask/src/blocks.rs"]
mod blocks;

use std::fs;
use std::path::Path;
use std::process::Command;

use blocks::blocks;

use super::support::{Mpi, first, outputs, run};
use crate::support::{repository, scratch};

const SBATCH: &str = "#!/bin/bash\n\
    script=${@: -1}\n\
    export STAND_IN_NTASKS=$(sed -n 's/^#SBATCH --ntasks=//p' \"$script\")\n\
    exec bash \"$script\"\n";

/// A cluster has a core for each task; here they share them.
const SRUN: &str = "#!/bin/bash\nexport OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe\n\
    exec mpiexec -n \"$STAND_IN_NTASKS\" \"$@\"\n";

/// Writes a program of a shell.
fn write_script(path: &Path, text: &str) {
    fs::write(path, text).expect("a script");
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
}

/// Runs a line of the page in its folder.
fn shell(mpi: &Mpi, folder: &Path, line: &str) -> String {
    let mut command = Command::new("sh");
    mpi.prepare(&mut command).args(["-c", line]).current_dir(folder).env("EQUELLE_CACHE_DIR", cache());
    let tools = folder.join("tools").display().to_string();
    let path =
        command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value).map(|value| value.to_string_lossy().into_owned());
    command.env("PATH", format!("{tools}:{}", path.unwrap_or_default()));
    let ended = run(&mut command);
    assert_eq!(ended.code, Some(0), "{line}: {}{}", ended.stdout, ended.stderr);
    ended.stdout + &ended.stderr
}

/// The build cache of all tests.
fn cache() -> std::path::PathBuf {
    std::env::var_os("EQUELLE_CACHE_DIR").map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("equelle-cache"), Into::into)
}

#[test]
fn the_page_on_clusters() {
    let Some(mpi) = first() else { return };
    let folder = scratch("mpi_book");
    let tools = folder.join("tools");
    fs::create_dir(&tools).expect("a folder");
    #[cfg(unix)]
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_equellec"), tools.join("equellec")).expect("a link");
    write_script(&tools.join("sbatch"), SBATCH);
    write_script(&tools.join("srun"), SRUN);
    let page = fs::read_to_string(repository("docs/book/src/cluster.md")).expect("the page");
    let mut said = String::new();
    let mut n_commands = 0;
    for block in blocks(&page) {
        match (block.kind.as_str(), &block.word) {
            ("equelle" | "text" | "sh", Some(file)) => fs::write(folder.join(file), &block.text).expect("a file"),
            ("sh", None) => {
                for line in block.text.lines() {
                    said += &shell(&mpi, &folder, line);
                    n_commands += 1;
                }
            }
            _ => {}
        }
    }
    assert_eq!(n_commands, 9);
    assert_eq!(said.matches("2 ranks (").count(), 1, "{said}");
    assert_eq!(said.matches("4 ranks (").count(), 1, "{said}");
    assert!(said.contains("32000 cells a rank (at most +0.0 %), halo 5.0 %, at most 1 neighbours"), "{said}");
    assert!(said.contains("exchanges 1.0 a step, at most 13 kB a rank"), "{said}");
    assert_eq!(outputs(&folder.join("laptop")), outputs(&folder.join("ranks")));
    assert!(outputs(&folder.join("cluster")).len() > 2);
    // The second script goes on from a checkpoint; here there is one after the last round.
    shell(&mpi, &folder, "STAND_IN_NTASKS=4 srun heat-sim/heat case.param nx=80 output_dir=cluster checkpoint_every=60");
    let before = outputs(&folder.join("cluster"));
    said = shell(&mpi, &folder, "sbatch --wait again.sh");
    assert_eq!(said.matches("3 ranks (").count(), 1, "{said}");
    let of_run = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
        files.iter().filter(|(name, _)| name.ends_with(".output")).map(|(name, bytes)| (name.clone(), bytes.clone())).collect::<Vec<_>>()
    };
    assert_eq!(of_run(&outputs(&folder.join("cluster"))), of_run(&before));
}
