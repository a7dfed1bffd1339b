//! Formats of grid files, told apart by their first bytes; decks also by the ending of the name.

use std::path::Path;

use super::grdecl::is_deck_keyword;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// OPM's text format: numbers alone. Whatever is not recognised is taken for it, so that its
    /// reader says what is wrong.
    Opm,
    /// Gmsh's MSH.
    Gmsh,
    /// A deck in Eclipse's text format.
    Grdecl,
    /// VTK's XML format.
    Vtk,
    /// VTK's legacy format.
    VtkLegacy,
    /// A script of Gmsh, from which it makes a mesh.
    GmshScript,
    /// A known format without a reader, as messages name it.
    Unsupported(&'static str),
}

/// Endings of names of decks; of these no other format has one.
const DECK_ENDINGS: [&str; 5] = ["grdecl", "data", "inc", "prop", "ecl"];

impl Format {
    pub(super) fn of(bytes: &[u8], path: &Path) -> Format {
        let start = &bytes[..bytes.len().min(4096)];
        let text = start.trim_ascii_start();
        let holds = |what: &[u8]| start.windows(what.len()).any(|window| window == what);
        let has_ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .is_some_and(|ending| DECK_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)));
        let is_keyword = |word: &[u8]| std::str::from_utf8(word).is_ok_and(|word| is_deck_keyword(&word.to_ascii_uppercase()));
        let is_eclipse = || has_ending || first_word(start).is_some_and(is_keyword);
        match text {
            _ if text.starts_with(b"$MeshFormat") || text.starts_with(b"$Comments") => Format::Gmsh,
            _ if text.starts_with(b"$NOD") => Format::Unsupported("a Gmsh mesh of version 1"),
            _ if is_gmsh_script(text) => Format::GmshScript,
            _ if text.starts_with(b"# vtk DataFile") => Format::VtkLegacy,
            _ if text.starts_with(b"<") && holds(b"<VTKFile") => Format::Vtk,
            _ if start.starts_with(b"\x89HDF\r\n\x1a\n") => Format::Unsupported("an HDF5 file"),
            // A record of 16 bytes, big endian, with the name of a keyword.
            _ if start.starts_with(b"\0\0\0\x10FILEHEAD") => Format::Unsupported("an Eclipse EGRID file"),
            _ if is_eclipse() => Format::Grdecl,
            _ => Format::Opm,
        }
    }
}

/// Commands of which a script of Gmsh has one at least.
const GMSH_COMMANDS: [&[u8]; 9] = [b"SetFactory", b"Point", b"Line", b"Rectangle", b"Box", b"Sphere", b"Cylinder", b"Merge", b"Physical"];

/// A script begins with a comment or a name, and somewhere a line begins with a command.
fn is_gmsh_script(text: &[u8]) -> bool {
    let begins = text.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/');
    let is_command = |line: &[u8]| {
        let word = line.iter().position(|byte| !byte.is_ascii_alphabetic()).map(|end| &line[..end]);
        let rest = word.map(|word| line[word.len()..].trim_ascii_start());
        word.is_some_and(|word| GMSH_COMMANDS.contains(&word)) && rest.is_some_and(|rest| rest.contains(&b'(') || rest.starts_with(b"\""))
    };
    begins && text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).any(is_command)
}

/// The first word of a text whose comments begin with `--`.
fn first_word(text: &[u8]) -> Option<&[u8]> {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with(b"--"))?;
    line.split(u8::is_ascii_whitespace).next()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Format;

    fn of(bytes: &[u8]) -> Format {
        Format::of(bytes, Path::new("grid"))
    }

    #[test]
    fn formats_by_their_first_bytes() {
        for (bytes, expected) in [
            (&b"$NOD\n4\n"[..], "a Gmsh mesh of version 1"),
            (b"\x89HDF\r\n\x1a\n\0\0", "an HDF5 file"),
            (b"\0\0\0\x10FILEHEAD\0\0\0\x64INTE", "an Eclipse EGRID file"),
        ] {
            assert_eq!(of(bytes), Format::Unsupported(expected));
        }
        assert_eq!(of(b"-- a comment\n\n  SPECGRID\n 10 10 3 1 F /\n"), Format::Grdecl);
        assert_eq!(of(b"<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\">\n"), Format::Vtk);
        assert_eq!(of(b"# vtk DataFile Version 3.0\ngrid\nASCII\n"), Format::VtkLegacy);
        assert_eq!(of(b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"), Format::Gmsh);
        for script in ["// a plate\nPoint(1) = {0, 0, 0};\n", "SetFactory(\"OpenCASCADE\");\n", "lc = 0.1;\n  Box(1) = {0,0,0, 1,1,1};\n"] {
            assert_eq!(of(script.as_bytes()), Format::GmshScript, "{script}");
        }
        for bytes in [&b""[..], b"Points 1 2\n", b"2 30 47 42 94 92\n0 0\n", b"COORDINATES 1 2", b"<html>", b"\xff\0"] {
            assert_eq!(of(bytes), Format::Opm);
        }
    }
}
