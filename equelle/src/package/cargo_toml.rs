//! `Cargo.toml` of the generated package.

use std::path::Path;

use super::PackageOptions;

/// Crates of matrix kernels that faer depends on, for complex and single numbers alone.
const UNUSED_KERNELS: [&str; 6] = ["gemm-c32", "gemm-c64", "gemm-f32", "nano-gemm-c32", "nano-gemm-c64", "nano-gemm-f32"];

/// The file. Only programs that solve equations get Newton's method and the linear solvers,
/// which take most of the time of a first build.
pub(super) fn text(name: &str, library: &str, newton: bool, options: &PackageOptions) -> String {
    let mut text = format!(
        "[package]\nname = {}\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n[lib]\nname = {}\n\n[dependencies]\n",
        quoted(name),
        quoted(library)
    );
    let runtime = dependency(options.runtime_crates, "equelle-runtime");
    let features = if newton { ", features = [\"lu\"]" } else { "" };
    text += &format!("equelle-runtime = {{ path = {runtime}, default-features = false{features} }}\n");
    let features = if newton { "\"runtime\", \"solvers\"" } else { "\"runtime\"" };
    for backend in options.backends {
        let krate = backend.runtime_crate();
        let path = dependency(options.runtime_crates, &krate);
        text += &format!("{krate} = {{ path = {path}, default-features = false, features = [{features}] }}\n");
    }
    text += "\n# For the processor of this machine: RUSTFLAGS=\"-C target-cpu=native\" cargo build --release. It changes speed alone, not results.\n";
    text += "[profile.release]\ncodegen-units = 1\npanic = \"abort\"\n";
    text += "\n# The runtime is as fast in pieces, which are compiled on all cores.\n[profile.release.package.\"*\"]\ncodegen-units = 16\n";
    if newton {
        text += "\n# Kernels of the direct solver for numbers that no program has.\n";
        for krate in UNUSED_KERNELS {
            text += &format!("[profile.release.package.{krate}]\nopt-level = 0\n");
        }
    }
    // Not a member of a workspace that happens to be in a folder above.
    text += "\n[workspace]\n";
    text
}

fn dependency(crates: &Path, name: &str) -> String {
    quoted(&crates.join(name).to_string_lossy())
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            c if c.is_control() => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn strings_are_quoted() {
        assert_eq!(super::quoted("C:\\a \"b\"\n"), "\"C:\\\\a \\\"b\\\"\\u000a\"");
    }
}
