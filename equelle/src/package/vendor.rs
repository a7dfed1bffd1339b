//! A package that stands alone: the runtime crates and all that they need are in it.

use std::fs;
use std::path::Path;

use toml_edit::{DocumentMut, Item, value};

use super::Package;
use crate::cargo;
use crate::failure::Failure;
use crate::files;

/// The folder of the runtime crates in a package.
const RUNTIME: &str = "runtime";

/// Dependencies of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// The runtime crates in the cache of `equellec`.
    InCache,
    /// The runtime crates and all that they need are copied into the package.
    Vendored,
}

/// The package as it is written to a folder of the user's: with a page that says what it depends
/// on, and with the runtime crates if it is to have them. `crates` is the folder of the cache.
///
/// # Errors
/// `Internal` if the generated manifest cannot be read.
pub fn for_user(package: &Package, dependencies: Dependencies, crates: &Path, embedded: &[(&str, &str)]) -> Result<Package, Failure> {
    let mut package = package.clone();
    if dependencies == Dependencies::Vendored {
        let mut names = with_own_crates(&mut package)?;
        names.extend(own_dependencies(&names, embedded));
        let of_package = |path: &str| path.split('/').next().is_some_and(|name| names.iter().any(|own| own == name));
        let files = embedded.iter().filter(|(path, _)| of_package(path));
        package.files.extend(files.map(|(path, text)| (format!("{RUNTIME}/{path}"), (*text).to_owned())));
    }
    package.files.push(("README.md".to_owned(), page(&package, dependencies, crates)));
    package.files.sort();
    Ok(package)
}

/// Crates of the embedded workspace that these depend on.
fn own_dependencies(names: &[String], embedded: &[(&str, &str)]) -> Vec<String> {
    let manifest = |name: &String| embedded.iter().find(|(path, _)| *path == format!("{name}/Cargo.toml")).map(|(_, text)| text.parse());
    let manifests = names.iter().filter_map(manifest).filter_map(Result::<DocumentMut, _>::ok);
    let is_own = |item: &Item| item.as_table_like().is_some_and(|entry| entry.contains_key("path"));
    let mut found = Vec::new();
    for manifest in manifests {
        let dependencies = manifest.get("dependencies").and_then(Item::as_table_like);
        let own = dependencies.into_iter().flat_map(|table| table.iter()).filter(|(_, item)| is_own(item));
        found.extend(own.map(|(name, _)| name.to_owned()).filter(|name| !names.contains(name)));
    }
    found
}

/// Makes the manifest name crates in the package; returns their names.
fn with_own_crates(package: &mut Package) -> Result<Vec<String>, Failure> {
    let unreadable = || Failure::Internal("the generated Cargo.toml cannot be read".into());
    let manifest = package.files.iter_mut().find(|(name, _)| name == "Cargo.toml").ok_or_else(unreadable)?;
    let mut document: DocumentMut = manifest.1.parse().map_err(|_| unreadable())?;
    let dependencies = document.get_mut("dependencies").and_then(Item::as_table_like_mut).ok_or_else(unreadable)?;
    let mut names = Vec::new();
    for (name, dependency) in dependencies.iter_mut() {
        if let Some(dependency) = dependency.as_table_like_mut() {
            dependency.insert("path", value(format!("{RUNTIME}/{}", name.get())));
            names.push(name.get().to_owned());
        }
    }
    manifest.1 = document.to_string();
    Ok(names)
}

/// `README.md` of a package.
fn page(package: &Package, dependencies: Dependencies, crates: &Path) -> String {
    let source = package.files.iter().find(|(name, _)| name.ends_with(".equelle")).map_or("an Equelle program", |(name, _)| name.as_str());
    let needs = match dependencies {
        Dependencies::InCache => format!(
            "It depends on the runtime crates in\n\n    {}\n\nthe cache of equellec {}. If cargo cannot read a `Cargo.toml` there, the cache was moved or\n\
             deleted: `equellec doctor` makes it again, and `equellec {source} -o .` writes a package for the\ncache that is in use. With `--vendor` \
             the package holds all that it needs.\n",
            crates.display(),
            env!("CARGO_PKG_VERSION")
        ),
        Dependencies::Vendored => format!(
            "It holds all that it needs: the runtime crates in `{RUNTIME}`, what those depend on in `vendor`, to\nwhich `.cargo/config.toml` \
             points. It builds without a network, on any machine with Rust.\n"
        ),
    };
    format!(
        "# {}\n\nWritten by equellec {} from `{source}`. `cargo run --release -- --help` builds it and lists its\nparameters; `src/lib.rs` is the \
         program, to read, embed or change.\n\n{needs}",
        package.name,
        env!("CARGO_PKG_VERSION")
    )
}

/// Copies the crates of registries that a written package needs into it.
///
/// # Errors
/// Cargo is missing or fails; a file that cannot be written.
pub fn fetch(folder: &Path) -> Result<(), Failure> {
    let configuration = cargo::vendor(folder)?;
    let path = folder.join(".cargo").join("config.toml");
    let write = || fs::create_dir_all(folder.join(".cargo")).and_then(|()| files::write(&path, configuration));
    write().map_err(|error| Failure::io("write", &path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package() -> Package {
        let manifest =
            "[package]\nname = \"heat\"\n\n[dependencies]\nequelle-runtime = { path = \"/cache/equelle-runtime\", features = [\"lu\"] }\n";
        let files = vec![("Cargo.toml".to_owned(), manifest.to_owned()), ("heat.equelle".to_owned(), String::new())];
        Package { name: "heat".to_owned(), files, implicit: true }
    }

    #[test]
    fn vendored_packages_name_their_own_crates() {
        let embedded = [
            ("Cargo.toml", "workspace"),
            ("backend-cuda/Cargo.toml", "not needed"),
            ("equelle-core/src/lib.rs", "text"),
            ("equelle-runtime/Cargo.toml", "[dependencies]\nequelle-core = { path = \"../equelle-core\" }\n"),
            ("equelle-runtime/src/lib.rs", "text"),
        ];
        let written = for_user(&package(), Dependencies::Vendored, Path::new("/cache"), &embedded).expect("a package");
        let names: Vec<&str> = written.files.iter().map(|(name, _)| name.as_str()).collect();
        let runtime = ["runtime/equelle-core/src/lib.rs", "runtime/equelle-runtime/Cargo.toml", "runtime/equelle-runtime/src/lib.rs"];
        assert_eq!(names, [["Cargo.toml", "README.md", "heat.equelle"], runtime].concat());
        assert!(written.files[0].1.contains("path = \"runtime/equelle-runtime\", features = [\"lu\"]"), "{}", written.files[0].1);
        assert!(written.files.iter().all(|(_, text)| !text.contains("/cache")));
    }

    #[test]
    fn the_page_says_what_the_package_needs() {
        let written = for_user(&package(), Dependencies::InCache, Path::new("/cache"), &[]).expect("a package");
        let page = &written.files.iter().find(|(name, _)| name == "README.md").expect("a page").1;
        for part in ["    /cache\n", "moved or\ndeleted", "equellec doctor", "equellec heat.equelle -o .", "--vendor"] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
