//! Temporary names of files, under which they are written before they get their own.

use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// Beginning of temporary names that belong to nobody in particular.
pub(crate) const PREFIX: &str = ".equelle-";

/// End of temporary names in folders of results.
const SUFFIX: &str = ".part";

/// Random characters between prefix and suffix.
const RANDOM: usize = 8;

/// Builder of temporary files with the usual permissions, which they keep when renamed.
pub fn builder<'a>() -> Builder<'a, 'a> {
    #[allow(unused_mut)]
    let mut builder = Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// Creates a file in a folder of results. It is removed if it is dropped before it is renamed.
pub(crate) fn create(dir: &Path, prefix: &str) -> std::io::Result<NamedTempFile> {
    builder().prefix(prefix).suffix(SUFFIX).rand_bytes(RANDOM).tempfile_in(dir)
}

/// Beginning of the temporary names of a program's files.
pub(crate) fn prefix_of_run(program: &str) -> String {
    format!(".{program}.run-")
}

/// Removes files of killed runs of a program. The caller holds the program's lock.
pub(crate) fn remove_left(dir: &Path, program: &str) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name();
        if name.to_str().is_some_and(|name| is_temporary(name, program)) {
            // Another process may have removed it.
            let _ = std::fs::remove_file(dir.join(name));
        }
    }
    Ok(())
}

fn is_temporary(name: &str, program: &str) -> bool {
    let random = name.strip_prefix(&prefix_of_run(program)).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|text| text.len() == RANDOM && text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_ours() {
        assert!(is_temporary(".heat.run-a1B2c3D4.part", "heat"));
        for other in [
            ".heat.run-.part",
            ".heat.run-a1B2c3D.part",
            ".heat.run-a1B2c3-4.part",
            ".heat2.run-a1B2c3D4.part",
            "heat.run-a1B2c3D4.part",
            ".heat.run.lock",
        ] {
            assert!(!is_temporary(other, "heat"), "{other}");
        }
    }

    #[test]
    fn files_of_killed_runs_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        // The state after a killed run.
        for program in ["heat", "flow"] {
            let _ = create(dir, &prefix_of_run(program)).unwrap().keep().unwrap();
        }
        let names = || std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        assert_eq!(names().len(), 2);
        remove_left(dir, "heat").unwrap();
        let left = names();
        assert!(left.len() == 1 && is_temporary(left[0].to_str().unwrap(), "flow"), "{left:?}");
    }
}
