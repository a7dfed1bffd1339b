//! `cargo xtask circles`: modules that import each other, and types that are too large.
//!
//! A node is a file. An edge leads from a file to the file that defines what it imports, by `use`
//! or by a path in its code, through however many re-exports. So none of these is an edge:
//! `mod child;`, `pub use child::Name` of a module below (unless the file uses the name itself),
//! and `use` of a module whose items it does not name. What stands behind `#[cfg(test)]` and in
//! `quote!` is left out, and methods are not followed: a call names no module. So what would be a
//! circle can hide in the methods of one type, and types have limits of their own (`sizes`).

mod components;
mod imports;
mod modules;
mod sizes;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;

use crate::tools::{Failure, root};
use modules::Crate;

/// Maximum number of modules that import each other, in general.
const PAIR: usize = 2;

/// Folders with another limit: one where no circle is allowed. A circle obeys the strictest limit
/// of its files.
const LIMITS: [(&str, usize); 2] = [("backend-cuda/src", 1), ("backend-serial/src", 1)];

/// Number of circles of two modules in the workspace, which can only shrink.
const PAIRS: usize = 28;

/// Files that import each other, sorted, and the imports among them.
struct Circle {
    files: Vec<String>,
    imports: Vec<String>,
}

impl Circle {
    /// True if it has more files than the limits of their folders allow.
    fn is_too_large(&self, limits: &[(&str, usize)]) -> bool {
        let limit = |file: &String| limits.iter().find(|(folder, _)| is_below(file, folder)).map_or(PAIR, |(_, limit)| *limit);
        self.files.iter().map(limit).min().is_some_and(|limit| self.files.len() > limit)
    }
}

/// Prints all circles and types that are too large, or those with a file in `folder`, then with the
/// imports that make the circles. Fails if a circle or a type is too large, or if a number that can
/// only shrink is not that of today.
pub(crate) fn run(folder: Option<&str>) -> Result<(), Failure> {
    let is_asked = |file: &str| folder.is_none_or(|folder| is_below(file, folder));
    let crates = crates_of_workspace()?;
    let (mut refused, mut pairs) = (0, 0);
    for circle in crates.iter().flat_map(circles_of).filter(|circle| circle.files.iter().any(|file| is_asked(file))) {
        let too_large = circle.is_too_large(&LIMITS);
        refused += usize::from(too_large);
        pairs += usize::from(circle.files.len() == PAIR);
        println!("{} modules import each other{}:", circle.files.len(), if too_large { ", which is too many" } else { "" });
        let lines = if folder.is_some() { &circle.imports } else { &circle.files };
        lines.iter().for_each(|line| println!("    {line}"));
    }
    let mut complaints = sizes::complaints(crates.iter().flat_map(Crate::sizes), &sizes::EXCEPTIONS);
    complaints.retain(|complaint| is_asked(complaint.file));
    if folder.is_none() {
        complaints.extend(sizes::changed(pairs, PAIRS));
    }
    complaints.iter().for_each(|complaint| println!("{}", complaint.text));
    refused += complaints.len();
    if refused == 0 {
        Ok(())
    } else {
        Err(format!(
            "{refused} circles of modules or types are too large, or numbers have changed; `cargo xtask circles FOLDER` shows imports"
        ))
    }
}

/// True if a file stands in a folder, both as paths from the root of the workspace.
fn is_below(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// All libraries and programs of the workspace, by package.
fn crates_of_workspace() -> Result<Vec<Crate>, Failure> {
    let listed = fs::read_dir(root()).map_err(|error| format!("cannot list the workspace: {error}"))?;
    let mut packages = vec![String::new()];
    packages.extend(listed.flatten().map(|entry| format!("{}/", entry.file_name().to_string_lossy())));
    packages.retain(|package| root().join(package).join("Cargo.toml").is_file());
    packages.sort();
    let read = |file: &str| fs::read_to_string(root().join(file)).ok();
    let starts = packages.iter().flat_map(|package| ["lib", "main"].map(|name| format!("{package}src/{name}.rs")));
    starts.filter(|start| root().join(start).is_file()).map(|start| Crate::read(&start, &read)).collect()
}

/// The circles of a crate.
fn circles_of(library: &Crate) -> Vec<Circle> {
    let imports = library.imports();
    let circles = components::strongly_connected(library.files.len(), &imports.keys().copied().collect::<Vec<_>>());
    let mut circles: Vec<Circle> = circles
        .into_iter()
        .map(|circle| {
            let inside = imports.iter().filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
            let line = |((from, to), names): (&(usize, usize), &BTreeSet<&str>)| {
                let names: Vec<&str> = names.iter().copied().collect();
                format!("{} -> {}: {}", library.files[*from], library.files[*to], names.join(", "))
            };
            let mut files: Vec<String> = circle.iter().map(|file| library.files[*file].clone()).collect();
            files.sort();
            let mut imports: Vec<String> = inside.map(line).collect();
            imports.sort();
            Circle { files, imports }
        })
        .collect();
    circles.sort_by(|a, b| a.files.cmp(&b.files));
    circles
}
