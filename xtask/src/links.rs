//! Links between pages, their images and the headings that they name exist.
//!
//! Pages of the book link to nothing beside it, because its site has nothing else, and are in its
//! table of contents.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::tools::{Failure, read, root, tracked_files};

/// Folder of the book's pages.
const BOOK: &str = "docs/book/src/";
/// Its table of contents.
const SUMMARY: &str = "docs/book/src/SUMMARY.md";

/// The faults of all pages; those of diagnostics are shown in terminals and have no links.
pub(crate) fn all() -> Result<Vec<String>, Failure> {
    let files = tracked_files(&["md"])?;
    let mut texts = BTreeMap::new();
    for file in files.into_iter().filter(|file| !file.contains("/diagnostic/pages/")) {
        texts.insert(file.clone(), read(&root().join(&file))?);
    }
    Ok(faults(&texts, |path| root().join(path).exists()))
}

/// The faults of pages, given by path, where `exists` knows files and folders.
fn faults(texts: &BTreeMap<String, String>, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    let in_contents: Vec<String> = match texts.get(SUMMARY) {
        Some(text) => links(text).into_iter().map(|(_, target)| format!("{BOOK}{target}")).collect(),
        None => Vec::new(),
    };
    for (page, text) in texts {
        if page.starts_with(BOOK) && page != SUMMARY && !in_contents.contains(page) {
            faults.push(format!("{page}: not in the table of contents, {SUMMARY}"));
        }
        for (line, target) in links(text) {
            if let Some(fault) = fault(page, &target, texts, &exists) {
                faults.push(format!("{page}:{line}: {fault}"));
            }
        }
    }
    faults
}

/// Fault of a link from a page.
fn fault(page: &str, target: &str, texts: &BTreeMap<String, String>, exists: &impl Fn(&str) -> bool) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = target.split_once('#').map_or((target, None), |(path, heading)| (path, Some(heading)));
    let path = if path.is_empty() { page.to_owned() } else { resolved(page, path) };
    if !exists(&path) {
        return Some(format!("a link to {target}, which is not there"));
    }
    if page.starts_with(BOOK) && !path.starts_with(BOOK) {
        return Some(format!("a link to {target}, which the site of the book does not have"));
    }
    let is_missing = |heading: &str| texts.get(&path).is_some_and(|text| !headings(text).iter().any(|other| other == heading));
    heading.filter(|heading| is_missing(heading)).map(|heading| format!("a link to {target}, where no heading is #{heading}"))
}

/// Path from the root of the repository.
fn resolved(page: &str, path: &str) -> String {
    let mut found = PathBuf::new();
    for part in Path::new(page).parent().unwrap_or(Path::new("")).join(path).components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            Component::CurDir => {}
            _ => found.push(part),
        }
    }
    found.to_string_lossy().replace('\\', "/")
}

/// Lines of a page outside of blocks of code, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((number, line))
    })
}

/// Targets of the links and images of a page, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        // Text between back-ticks is no link.
        let shown: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        let targets = shown.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let images = shown.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let targets = targets.map(|target| target.split(" \"").next().unwrap_or(target)).chain(images);
        found.extend(targets.filter(|target| !target.is_empty()).map(|target| (number, target.to_owned())));
    }
    found
}

/// Names of the headings of a page, as GitHub and mdBook make them.
fn headings(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let Some(title) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')) else { continue };
        let title = title.trim().to_lowercase();
        let is_kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        let name: String = title.chars().filter(is_kept).map(|c| if c == ' ' { '-' } else { c }).collect();
        let again = found.iter().filter(|other| **other == name).count();
        found.push(if again == 0 { name } else { format!("{name}-{again}") });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_are_found() {
        let page = "# A title, `twice`\n[one](b.md) and [two](c.md#here)\n![three](images/p.png)\n`[four](no.md)`\n\
                    ```\n[five](no.md)\n```\n[six](#a-title-twice) [seven](#nowhere) [eight](https://example.org/no.md)\n\
                    [nine](../../../README.md) [ten](../../../no.md)\n";
        let other = "## Here\n## There\n";
        let contents = "* [a](a.md)\n* [c](c.md)\n";
        let texts = [("docs/book/src/a.md", page), ("docs/book/src/c.md", other), (SUMMARY, contents), ("docs/book/src/d.md", "d")];
        let texts: BTreeMap<String, String> = texts.into_iter().map(|(file, text)| (file.to_owned(), text.to_owned())).collect();
        let exists = |path: &str| texts.contains_key(path) || path == "README.md";
        let expected = [
            "docs/book/src/a.md:2: a link to b.md, which is not there",
            "docs/book/src/a.md:3: a link to images/p.png, which is not there",
            "docs/book/src/a.md:8: a link to #nowhere, where no heading is #nowhere",
            "docs/book/src/a.md:9: a link to ../../../README.md, which the site of the book does not have",
            "docs/book/src/a.md:9: a link to ../../../no.md, which is not there",
            "docs/book/src/d.md: not in the table of contents, docs/book/src/SUMMARY.md",
        ];
        assert_eq!(faults(&texts, exists), expected);
    }

    #[test]
    fn headings_have_the_names_of_sites() {
        assert_eq!(
            headings("# Steps that fail\n## `a_b`: one/two\n### Steps that fail\n#no\n```\n# code\n```\n"),
            ["steps-that-fail", "a_b-onetwo", "steps-that-fail-1"]
        );
    }
}
