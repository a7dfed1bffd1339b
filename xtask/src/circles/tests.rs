use std::collections::BTreeMap;

use super::modules::{Crate, Size};
use super::sizes::{Exception, changed, complaints};
use super::{Circle, circles_of};

/// The circles of a crate of these files, the first of which is the root.
fn circles(files: &[(&str, &str)]) -> Vec<Circle> {
    let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
    let read = |file: &str| texts.get(file).map(|text| (*text).to_owned());
    circles_of(&Crate::read(files[0].0, &read).expect("a crate that can be read"))
}

/// The imports in the only circle.
fn imports_of_circle(files: &[(&str, &str)]) -> Vec<String> {
    let found = circles(files);
    assert_eq!(found.len(), 1, "circles");
    found.into_iter().flat_map(|circle| circle.imports).collect()
}

/// Two modules `a` and `b` below a root.
fn circles_of_two(a: &str, b: &str) -> usize {
    circles(&[("src/lib.rs", "mod a; mod b;"), ("src/a.rs", a), ("src/b.rs", b)]).len()
}

#[test]
fn modules_that_use_each_other_are_a_circle() {
    let a = "use crate::b::{self, Second as Other}; pub struct First(Other);";
    let b = "use super::a::First; pub struct Second(First);";
    let found = imports_of_circle(&[("src/lib.rs", "mod a; mod b;"), ("src/a.rs", a), ("src/b.rs", b)]);
    assert_eq!(found, ["src/a.rs -> src/b.rs: Second", "src/b.rs -> src/a.rs: First"]);
}

#[test]
fn one_direction_is_no_circle() {
    assert_eq!(circles_of_two("use crate::b::g; pub fn f() { g() }", "pub fn g() {}"), 0);
}

#[test]
fn paths_in_code_and_in_macros_are_imports() {
    let b = "pub fn g() { crate::a::f() }";
    assert_eq!(circles_of_two("pub fn f() { super::b::g() }", b), 1);
    assert_eq!(circles_of_two("pub fn f() { println!(\"{}\", crate::b::g()) }", b), 1);
    assert_eq!(circles_of_two("pub fn f() { use crate::b; b::g() }", b), 1);
    assert_eq!(circles_of_two("use crate::b; pub fn f() { b::g() }", b), 1);
}

#[test]
fn neither_tests_nor_generated_code_nor_a_module_of_which_nothing_is_named_are_imports() {
    let b = "pub fn g() { crate::a::f() }";
    assert_eq!(circles_of_two("pub fn f() {} #[cfg(test)] mod tests { use crate::b::g; }", b), 0);
    assert_eq!(circles_of_two("pub fn f() {} #[cfg(test)] use crate::b::g;", b), 0);
    assert_eq!(circles_of_two("pub struct S; impl S { #[cfg(test)] fn h() { crate::b::g() } } pub fn f() {}", b), 0);
    assert_eq!(circles_of_two("pub fn f() { quote!(use crate::b::g; crate::b::g()); }", b), 0);
    assert_eq!(circles_of_two("use crate::b; pub fn f(b: usize) { b.g() }", b), 0);
}

#[test]
fn a_table_of_contents_is_in_no_circle() {
    let root = "mod a; mod b; pub use a::First; pub use b::Second;";
    assert_eq!(
        circles(&[("src/lib.rs", root), ("src/a.rs", "pub struct First;"), ("src/b.rs", "use crate::First; pub struct Second(First);")])
            .len(),
        0
    );
}

#[test]
fn an_import_leads_to_the_definition_through_all_reexports() {
    let files = [
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "use super::b::Deep; pub struct First(Deep);"),
        ("src/b/mod.rs", "mod c; pub use c::*;"),
        ("src/b/c/mod.rs", "mod d; pub(crate) use self::d::Deepest as Deep;"),
        ("src/b/c/d.rs", "pub struct Deepest(crate::a::First);"),
    ];
    assert_eq!(imports_of_circle(&files), ["src/a.rs -> src/b/c/d.rs: Deepest", "src/b/c/d.rs -> src/a.rs: First"]);
}

#[test]
fn a_parent_that_works_with_its_child_is_in_a_circle_with_it() {
    let child = "use super::helper; pub fn work() { helper() }";
    let with = |root: &str| circles(&[("src/lib.rs", root), ("src/child.rs", child)]).len();
    assert_eq!(with("mod child; pub use child::work; pub fn helper() {}"), 0);
    assert_eq!(with("mod child; pub use child::work; pub fn helper() {} pub fn all() { work() }"), 1);
    assert_eq!(with("mod child; pub fn helper() {} pub fn all() { child::work() }"), 1);
}

#[test]
fn a_module_in_a_file_belongs_to_the_file() {
    let a = "pub mod inner { use super::super::b::g; pub fn f() { g() } }";
    assert_eq!(circles_of_two(a, "pub fn g() { crate::a::inner::f() }"), 1);
    assert_eq!(circles_of_two("mod inner { use super::f; } pub fn f() { inner::g() }", ""), 0);
}

#[test]
fn the_strictest_limit_of_the_files_decides() {
    let circle = |files: &[&str]| Circle { files: files.iter().map(|file| (*file).to_owned()).collect(), imports: Vec::new() };
    let limits = [("strict/src", 1), ("free/src", 9)];
    assert!(circle(&["strict/src/a.rs", "strict/src/b.rs"]).is_too_large(&limits));
    assert!(circle(&["free/src/a.rs", "strict/src/b.rs"]).is_too_large(&limits));
    assert!(!circle(&["free/src/a.rs", "free/src/b.rs", "free/src/c.rs"]).is_too_large(&limits));
    assert!(!circle(&["other/src/a.rs", "strict/srcs.rs"]).is_too_large(&limits));
    assert!(circle(&["other/src/a.rs", "other/src/b.rs", "other/src/c.rs"]).is_too_large(&limits));
}

#[test]
fn methods_and_fields_of_a_type_are_counted_wherever_they_stand() {
    let files = [
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "pub struct Wide<T>(T, T); impl<T> Wide<T> { fn one() {} const NONE: u32 = 0; #[cfg(test)] fn for_tests() {} }"),
        (
            "src/b.rs",
            "use crate::a::Wide; struct Own { x: f64 } impl Wide<u32> { fn two() {} fn three() {} }
            impl Clone for Own { fn clone(&self) {} } trait Speaks { const N: u32; fn say(&self); fn shout(&self) {} }",
        ),
    ];
    let texts = BTreeMap::from(files);
    let library =
        Crate::read("src/lib.rs", &|file: &str| texts.get(file).map(|text| (*text).to_owned())).expect("a crate that can be read");
    let size = |methods, fields| Size { methods, fields };
    let expected = [(("src/a.rs", "Wide"), size(3, 2)), (("src/b.rs", "Own"), size(0, 1)), (("src/b.rs", "Speaks"), size(2, 0))];
    assert_eq!(library.sizes(), BTreeMap::from(expected));
}

#[test]
fn a_type_is_too_large_with_one_method_or_field_more_than_allowed() {
    let refused = |methods, fields, exceptions: &[Exception]| {
        !complaints([(("a.rs", "A"), Size { methods, fields })].into_iter(), exceptions).is_empty()
    };
    assert_eq!([refused(60, 15, &[]), refused(61, 15, &[]), refused(60, 16, &[])], [false, true, true]);
    let exception = [("a.rs", "A", Size { methods: 70, fields: 20 })];
    assert_eq!([refused(70, 20, &exception), refused(71, 20, &exception), refused(70, 21, &exception)], [false, true, true]);
    // Numbers can only shrink: smaller ones are written down, and exceptions without a need go.
    assert_eq!([refused(69, 20, &exception), refused(70, 19, &exception), refused(60, 15, &exception)], [true, true, true]);
    assert_eq!(complaints(std::iter::empty(), &exception).len(), 1);
    assert_eq!([changed(3, 3).is_some(), changed(2, 3).is_some(), changed(4, 3).is_some()], [false, true, true]);
}
