//! Embeds the sources of the runtime crates, so that an installed compiler can build simulators
//! on its own.
//!
//! The embedded sources are a workspace of their own: the runtime halves of the runtime crates,
//! manifests in which everything inherited is spelled out and the code generation half is gone, and
//! the part of `Cargo.lock` that this workspace needs.
//!
//! `embedded/` holds links to these sources: a package of `equelle` has them too, where it is
//! built without the rest of the repository.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[allow(dead_code)]
#[path = "embedded/equelle-runtime/src/hash.rs"]
mod hash;

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

/// Features that are left out, with their dependencies: the other half of a back-end crate, and
/// loops for any processor, since programs are compiled for one.
const LEFT_OUT: [&str; 2] = ["codegen", "dispatch"];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let embedded = root.join("embedded");
    let workspace = read_toml(&embedded.join("workspace.toml"));

    let crates = runtime_crates(&read_toml(&root.join("Cargo.toml")));
    let mut texts: Vec<(String, String)> = vec![("Cargo.toml".into(), workspace_manifest(&workspace, &crates))];
    let mut sources: Vec<(String, PathBuf)> = Vec::new();
    let mut dependencies = BTreeSet::new();
    for name in &crates {
        let folder = embedded.join(name);
        println!("cargo:rerun-if-changed={}", folder.join("src").display());
        let manifest = crate_manifest(&folder.join("manifest.toml"), &workspace);
        dependencies.extend(dependency_names(&manifest));
        texts.push((format!("{name}/Cargo.toml"), manifest.to_string()));
        let mut files = Vec::new();
        collect(&folder.join("src"), &mut files).unwrap_or_else(|e| panic!("cannot list the sources of {name}: {e}"));
        for file in files {
            let inside = file.strip_prefix(&embedded).expect("a file of an embedded crate");
            let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
            sources.push((parts.join("/"), file));
        }
    }
    texts.push(("Cargo.lock".into(), pruned_lock(&embedded.join("workspace.lock"), &dependencies, &crates)));

    let mut hash = hash::StableHash::default();
    let mut code = String::from("/// Path and text of every embedded file.\npub const FILES: &[(&str, &str)] = &[\n");
    for (name, text) in &texts {
        hash = hash.text(name).text(text);
        let _ = writeln!(code, "    ({name:?}, {text:?}),");
    }
    for (name, path) in &sources {
        println!("cargo:rerun-if-changed={}", path.display());
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()));
        hash = hash.text(name).text(&text);
        let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    code.push_str("];\n");
    let _ = writeln!(code, "/// Hash of all of them.\npub const HASH: &str = \"{}\";", hash.digits());
    fs::write(out.join("embedded.rs"), code).expect("OUT_DIR can be written");
}

/// The crates that simulators depend on: operators, MPI, the runtime, and the back-ends of the
/// compiler.
fn runtime_crates(compiler: &DocumentMut) -> Vec<String> {
    let backends = dependency_names(compiler).into_iter().filter(|name| name.starts_with("backend-"));
    ["equelle-core", "equelle-mpi", "equelle-runtime"].map(str::to_owned).into_iter().chain(backends).collect()
}

/// Files under a folder in the order of their names, without code generation and test modules.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if matches!(&*name, "codegen" | "codegen.rs" | "tests" | "tests.rs") || name.ends_with("_tests.rs") || name.starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn read_toml(path: &Path) -> DocumentMut {
    println!("cargo:rerun-if-changed={}", path.display());
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()));
    text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The embedded workspace: its members, and the profile of this one.
fn workspace_manifest(workspace: &DocumentMut, crates: &[String]) -> String {
    let mut document = DocumentMut::new();
    let mut table = Table::new();
    table.insert("resolver", workspace["workspace"]["resolver"].clone());
    table.insert("members", value(crates.iter().map(String::as_str).collect::<Array>()));
    document.insert("workspace", Item::Table(table));
    if let Some(release) = workspace.get("profile").and_then(|profile| profile.get("release")) {
        let mut profile = Table::new();
        profile.set_implicit(true);
        let mut release = release.clone();
        // Crates of the driver alone.
        if let Some(release) = release.as_table_like_mut() {
            release.remove("package");
        }
        profile.insert("release", release);
        document.insert("profile", Item::Table(profile));
    }
    document.to_string()
}

/// A crate's manifest with everything inherited spelled out, its runtime half only.
fn crate_manifest(path: &Path, workspace: &DocumentMut) -> DocumentMut {
    let mut manifest = read_toml(path);
    if let Some(package) = manifest["package"].as_table_mut() {
        let inherited: Vec<String> = package.iter().filter(|(_, item)| inherits(item)).map(|(key, _)| key.to_owned()).collect();
        for key in inherited {
            package.insert(&key, workspace["workspace"]["package"][&key].clone());
        }
        package.insert("publish", value(false));
    }
    // Tests, examples and benchmarks stay behind, and what is said of them with them.
    for section in ["dev-dependencies", "lints", "bench", "example", "test"] {
        manifest.remove(section);
    }

    // All other features, and the dependencies that they switch on.
    let mut wanted = BTreeSet::new();
    if let Some(features) = manifest.get_mut("features").and_then(Item::as_table_mut) {
        for left_out in LEFT_OUT {
            features.remove(left_out);
        }
        for (_, feature) in features.iter_mut() {
            if let Some(enables) = feature.as_array_mut() {
                enables.retain(|name| !name.as_str().is_some_and(|name| LEFT_OUT.contains(&name)));
            }
        }
        let enabled = features.iter().filter_map(|(_, feature)| feature.as_array()).flatten().filter_map(Value::as_str);
        wanted.extend(enabled.filter_map(|feature| feature.strip_prefix("dep:")).map(str::to_owned));
    }
    if let Some(dependencies) = manifest.get_mut("dependencies").and_then(Item::as_table_mut) {
        let names: Vec<String> = dependencies.iter().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            let optional = dependencies[&name].get("optional").and_then(Item::as_bool) == Some(true);
            if optional && !wanted.contains(&name) {
                dependencies.remove(&name);
            } else if inherits(&dependencies[&name]) {
                let spelled = spelled_out(&name, &dependencies[&name], &workspace["workspace"]["dependencies"][&name]);
                dependencies.insert(&name, spelled);
            }
        }
    }
    // `cfg(feature = "codegen")` and the like stay in the sources.
    let mut check = InlineTable::new();
    check.insert("level", "warn".into());
    check.insert(
        "check-cfg",
        Value::Array([format!("cfg(feature, values({}))", LEFT_OUT.map(|name| format!("\"{name}\"")).join(", "))].into_iter().collect()),
    );
    let mut rust = Table::new();
    rust.insert("unexpected_cfgs", value(check));
    let mut lints = Table::new();
    lints.set_implicit(true);
    lints.insert("rust", Item::Table(rust));
    manifest.insert("lints", Item::Table(lints));
    manifest
}

/// True if an item is `{ workspace = true, ... }`.
fn inherits(item: &Item) -> bool {
    item.get("workspace").and_then(Item::as_bool) == Some(true)
}

/// An inherited dependency, with what the crate adds to the workspace's entry.
fn spelled_out(name: &str, here: &Item, there: &Item) -> Item {
    let mut entry = InlineTable::new();
    match there.as_str() {
        Some(version) => drop(entry.insert("version", version.into())),
        None => {
            for (key, item) in there.as_table_like().into_iter().flat_map(|table| table.iter()) {
                entry.insert(key, item.as_value().cloned().unwrap_or_else(|| panic!("unexpected entry for {name} in the workspace")));
            }
        }
    }
    if entry.contains_key("path") {
        entry.insert("path", format!("../{name}").into());
    }
    if here.get("optional").and_then(Item::as_bool) == Some(true) {
        entry.insert("optional", true.into());
    }
    if let Some(more) = here.get("features").and_then(Item::as_array) {
        let mut all = entry.get("features").and_then(Value::as_array).cloned().unwrap_or_default();
        more.iter().for_each(|feature| all.push(feature.clone()));
        entry.insert("features", Value::Array(all));
    }
    value(entry)
}

fn dependency_names(manifest: &DocumentMut) -> Vec<String> {
    let table = manifest.get("dependencies").and_then(Item::as_table_like);
    table.into_iter().flat_map(|table| table.iter()).map(|(name, _)| name.to_owned()).collect()
}

/// The lock file's entries for the external dependencies of the embedded crates, direct and
/// indirect. Entries of the crates themselves are left out: cargo adds what is missing without
/// changing a version.
fn pruned_lock(path: &Path, direct: &BTreeSet<String>, crates: &[String]) -> String {
    let lock = read_toml(path);
    let packages: Vec<&Table> = lock["package"].as_array_of_tables().into_iter().flatten().collect();
    let name_of = |package: &Table| package["name"].as_str().unwrap_or_default().to_owned();
    let mut queue: Vec<String> = direct.iter().filter(|name| !crates.contains(name)).cloned().collect();
    let mut reached = BTreeSet::new();
    while let Some(name) = queue.pop() {
        if !reached.insert(name.clone()) {
            continue;
        }
        for package in packages.iter().filter(|package| name_of(package) == name) {
            let needs = package.get("dependencies").and_then(Item::as_array).into_iter().flatten().filter_map(Value::as_str);
            queue.extend(needs.filter_map(|need| need.split(' ').next()).map(str::to_owned));
        }
    }
    let mut pruned = DocumentMut::new();
    pruned.insert("version", lock["version"].clone());
    let kept: ArrayOfTables = packages.into_iter().filter(|package| reached.contains(&name_of(package))).cloned().collect();
    pruned.insert("package", Item::ArrayOfTables(kept));
    pruned.to_string()
}
