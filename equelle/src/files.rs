//! Files that commands write.

use std::fs::{self, File};
use std::io::{BufWriter, Result, Write};
use std::path::Path;

use equelle_runtime::io::Sink;

/// Writes a file that appears whole or not at all, in the place of a symbolic link, too. A pipe or
/// a device is written as it is.
///
/// # Errors
/// Those of the system and of `write`; a file of that name is unchanged then.
pub fn write_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let mut file = BufWriter::new(File::options().write(true).open(path)?);
        write(&mut file)?;
        return file.flush();
    }
    Sink::Files.write(path, write)
}

/// As [`write_with`], with these bytes.
///
/// # Errors
/// As [`write_with`].
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    write_with(path, |file| file.write_all(bytes.as_ref()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn files_behind_links_stay_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mine, link) = (folder.path().join("mine"), folder.path().join("map.png"));
        fs::write(&mine, "thesis").expect("a file");
        std::os::unix::fs::symlink(&mine, &link).expect("a link");
        write(&link, "picture").expect("the folder can be written");
        let read = |path: &Path| fs::read_to_string(path).expect("a file");
        assert_eq!((read(&mine).as_str(), read(&link).as_str()), ("thesis", "picture"));
        assert!(write_with(&link, |_| Err(std::io::Error::other("the disk is full"))).is_err());
        assert_eq!((read(&link).as_str(), fs::read_dir(folder.path()).expect("a folder").count()), ("picture", 2));
        write(Path::new("/dev/null"), "nothing").expect("a device");
        assert!(!fs::metadata("/dev/null").expect("a device").is_file());
    }
}
