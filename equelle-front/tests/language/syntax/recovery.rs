//! One diagnostic per mistake, in order, and reading goes on.

use super::errors;

#[test]
fn three_errors_in_three_lines_are_three() {
    assert_eq!(errors("a = 3 +\nb = (2\nc = 4 4\n"), ["E0005@1", "E0005@2", "E0005@3"]);
    assert_eq!(errors("a = )\nb = a < b < c\nFor x in y {\n}\n"), ["E0005@1", "E0009@2", "E0005@3"]);
    assert_eq!(errors("a = 1 $\nb = 2\nX = 3\nc = 3[0]\n"), ["E0001@1", "E0019@3", "E0013@4"]);
}

#[test]
fn the_block_of_a_wrong_head_is_read() {
    assert_eq!(errors("f(x y) = {\n  a = 3 3\n  -> a\n}\nb = 2\n"), ["E0005@1", "E0005@2"]);
    assert_eq!(errors("for x In y\n{\n  a = 3\n}\nb = 2\n"), ["E0005@1"]);
    assert_eq!(errors("f(x : Scalar) = {\n  -> x\n}\n"), ["E0021@1"]);
    assert_eq!(errors("f(x, 2, a + b) = {\n  -> x\n}\n"), ["E0021@1"]);
    assert_eq!(errors("f(x) {\n  -> x\n}\ny = 3 3\n"), ["E0005@1", "E0005@4"]);
    assert_eq!(errors("F(x) = {\n  -> x\n}\n"), ["E0019@1"]);
    assert_eq!(errors("f : Function(x : Scalar) -> Scalar = {\n  -> x x\n}\n"), ["E0023@1", "E0005@2"]);
    assert_eq!(errors("f(x) = 3 + {\n  -> x\n}\n"), ["E0005@1"]);
}

#[test]
fn statements_split_without_dots() {
    assert_eq!(errors("a = b\n  + c\n  * d\ne = 1\n"), ["E0008@2"]);
    assert_eq!(errors("a = b\n  - c\ne = 1\n"), ["E0008@2"]);
    assert_eq!(errors("a = b +\n  c\ne = 1 1\n"), ["E0008@1", "E0005@3"]);
    assert_eq!(errors("a = b +\n  c +\n  d\ne = 1\n"), ["E0008@1"]);
    assert_eq!(errors("Output(\"a\",\n  a)\ne = 1\n"), ["E0008@1"]);
    assert_eq!(errors("a = f(b,\n   g(c),\n   d)\ne = 1\n"), ["E0008@1"]);
    assert_eq!(errors("a =\n  b\ne = 1\n"), ["E0008@1"]);
    assert_eq!(errors("a = c ?\n  d : e\n"), ["E0008@1"]);
    // Lines that follow are statements of their own, so the line is just unfinished.
    assert_eq!(errors("a = b +\nOutput(\"a\", a)\nc = 1\n"), ["E0005@1"]);
    assert_eq!(errors("a = b +\n\nc = 1\n"), ["E0005@1"]);
    assert_eq!(errors("+ b\n"), ["E0005@1"]);
}

#[test]
fn braces() {
    assert_eq!(errors("f(x) = { -> x }\na = 1\n"), [""; 0]);
    assert_eq!(errors("f(x) = { y = x\n  -> y\n}\na = 1\n"), ["E0015@1"]);
    assert_eq!(errors("f(x) = {\n  -> x }\na = 1\n"), ["E0015@2"]);
    assert_eq!(errors("f(x) = {\n  -> x\n} a = 1\nb = 2\n"), ["E0015@3"]);
    assert_eq!(errors("For a In b { For c In d { e = 1 } }\n"), [""; 0]);
    assert_eq!(errors("{\n  a = 3\n}\n"), ["E0015@1"]);
    assert_eq!(errors("a = 1\n}\nb = 2 2\n"), ["E0017@2", "E0005@3"]);
    assert_eq!(errors("a = 1 }\nb = 2\n"), ["E0017@1"]);
    assert_eq!(errors("For a In b {\n  For c In d {\n  e = 1\n}\n"), ["E0016@1"]);
    assert_eq!(errors("f(x) = {"), ["E0016@1"]);
    assert_eq!(errors("f(x) = {\n  -> x x }\na = 1\n"), ["E0005@2"]);
}

#[test]
fn statements_that_are_none() {
    assert_eq!(errors("a\n3 + 4\na == 3\na + f(x)\nf(x) + 1\n(a)\n"), ["E0018@1", "E0018@2", "E0018@3", "E0018@4", "E0018@5", "E0018@6"]);
    assert_eq!(errors("a[0] = 3\nf(x)[0] = 1\n"), ["E0018@1", "E0018@2"]);
    assert_eq!(errors("if x {\n  a = 1\n}\n"), ["E0005@1"]);
    assert_eq!(errors("Cell = 3\nFunction f\nOn = 4\n"), ["E0005@1", "E0005@2", "E0005@3"]);
    assert_eq!(errors("x = Meter\ny = Foo + 1\nBar : Scalar\nFor I In s {\n}\n"), ["E0019@1", "E0019@2", "E0019@3", "E0019@4"]);
}

#[test]
fn lists() {
    assert_eq!(errors("f(, a)\nf(a,, b)\nf(a,)\nx = [a, ]\nx = [,]\n"), ["E0020@1", "E0020@2", "E0020@3", "E0020@4", "E0020@5"]);
    assert_eq!(errors("f : Function(,) -> Scalar\nf : Function(a : Scalar,) -> Scalar\n"), ["E0020@1", "E0020@2"]);
    assert_eq!(errors("f(a b)\nf(a\nf(a]\n"), ["E0005@1", "E0005@2", "E0005@3"]);
}

#[test]
fn types() {
    assert_eq!(
        errors("a : Array Of 0 Scalar\na : Array Of 2 Array Of 3 Scalar\na : Array Of 2 Mutable Array Of 2 Scalar\n"),
        ["E0022@1", "E0022@2", "E0022@3"]
    );
    assert_eq!(errors("a : Array Of n Scalar\na : Array Of 99999999999 Scalar\n"), ["E0005@1", "E0003@2"]);
    assert_eq!(
        errors("a : scalar\na : Float\na : Collection of Scalar\na : Sequence Scalar\n"),
        ["E0005@1", "E0005@2", "E0005@3", "E0005@4"]
    );
    assert_eq!(errors("a : Collection Of Cell On b Subset Of c\na : Collection Of Collection Of Cell\n"), ["E0005@1", "E0005@2"]);
    assert_eq!(errors("a : Stencil Scalar\na :\na : Scalar Scalar\n"), ["E0005@1", "E0005@2", "E0005@3"]);
}
