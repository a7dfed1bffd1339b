//! 10^5 random texts and 10^5 mutated programs through the front-end: no panic, ever. The same targets run without end under
//! `fuzz/`; this test is their short, deterministic form.

use std::sync::atomic::{AtomicU64, Ordering};

use equelle_front::check::{CheckOptions, check};
use equelle_front::diagnostic::render::{Format, render};
use equelle_front::ir::{self, Module};
use equelle_front::lower::lower;
use equelle_front::passes::{OptLevel, optimise_with};
use equelle_front::source::SourceFile;
use equelle_front::syntax::{parse, print, same_modulo_spans};
use equelle_front::typed::TypedProgram;
use equelle_front::verify::verify;

const PROGRAMS: [&str; 5] = [
    include_str!("programs/heat_explicit_declared.equelle"),
    include_str!("programs/heat_explicit_template.equelle"),
    include_str!("programs/heat_implicit.equelle"),
    include_str!("programs/twophase_upwind.equelle"),
    include_str!("programs/shallow_water.equelle"),
];

const TEXTS: u64 = 100_000;

/// A small generator of pseudo-random numbers (xorshift64*), so that a failure repeats.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }

    fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }
}

/// Words of the language, and what stands between them.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "Collection", "Stencil", "Sequence", "Array", "Of", "On", "Extend", "Subset", "Scalar", "Vector", "Bool", "Cell", "Face", "Edge",
    "Vertex", "String", "Function", "And", "Or", "Not", "Xor", "True", "False", "For", "In", "Mutable", "AllCells()", "InteriorFaces()",
    "FirstCell", "Gradient", "Divergence", "Output", "NewtonSolve", "InputScalarWithDefault", "[Meter]", "[Kilo*Meter^-2]", "x", "u0",
    "f", "f(x)", "f(x) =", "x =", "x :", "->", "{", "}", "{\n", "\n}\n", "(", ")", "[", "]", "|", ",", "?", ":", "=", "==", "!=", "<", "<=",
    ">", ">=", "+", "-", "*", "/", "^", "0", "1", "2.5", "1e3", ".5", "3x", "1e999", "\"tag\"", "\"", "\\", "#", "# note\n", "...", "...\n", "\n",
    "\n", "\n", "\r\n", " ", "\t", "$", "_", "\u{e9}", "\u{feff}", "\0", "99999999999",
];

/// Reads, and when there are no syntax errors formats, re-reads and checks. `full` also renders what was found.
fn feed(text: &str, full: bool) {
    let parsed = parse(text);
    let mut diagnostics = parsed.diagnostics;
    if diagnostics.is_empty() {
        let printed = print(&parsed.program);
        let again = parse(&printed);
        assert!(again.diagnostics.is_empty() && same_modulo_spans(&parsed.program, &again.program), "the formatter changes {text:?}");
        let checked = check(&parsed.program, &CheckOptions { nondimensional: text.len().is_multiple_of(2) });
        if let Some(program) = &checked.program {
            compile(program, text);
        }
        diagnostics = checked.diagnostics;
    }
    assert!(diagnostics.is_sorted_by_key(|d| d.primary.span), "diagnostics are not in order for {text:?}");
    if full {
        let source = SourceFile::new("fuzz.equelle", text);
        for format in [Format::Human { color: true }, Format::Short, Format::Json] {
            assert_eq!(render(&diagnostics, &source, format).is_empty(), diagnostics.is_empty());
        }
    }
}

/// Programs that were compiled.
static COMPILED: AtomicU64 = AtomicU64::new(0);

/// Whatever the checker accepts goes through lowering and every pass, and is a valid module after each.
fn compile(program: &TypedProgram, text: &str) {
    COMPILED.fetch_add(1, Ordering::Relaxed);
    let module = lower(program, &SourceFile::new("fuzz.equelle", text), "fuzz");
    valid(&module, "lowering", text);
    let _ = optimise_with(module, OptLevel::O2, &mut |pass, module| valid(module, pass, text));
}

fn valid(module: &Module, stage: &str, text: &str) {
    let errors = verify(module.clone()).err();
    assert!(errors.is_none(), "after {stage}: {errors:?}\n{}\n{text}", ir::text::print(module));
}

/// Runs `feed` over texts, in as many threads as there are cores; names the text that panics.
fn feed_all(make: impl Fn(&mut Random) -> String + Sync) {
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().min(8)) as u64;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let make = &make;
            scope.spawn(move || {
                for i in (thread..TEXTS).step_by(threads as usize) {
                    // Seeded by its number alone, so that the texts do not depend on the number of threads.
                    let text = make(&mut Random::new(i + 1));
                    let outcome = std::panic::catch_unwind(|| feed(&text, i % 64 == 0));
                    assert!(outcome.is_ok(), "panic on text {i}:\n{text}\n{text:?}");
                }
            });
        }
    });
}

#[test]
fn random_texts() {
    feed_all(|random| {
        let n = random.below(60);
        match random.below(3) {
            // Any bytes.
            0 => String::from_utf8_lossy(&(0..n).map(|_| random.next() as u8).collect::<Vec<u8>>()).into_owned(),
            // Printable ASCII and line ends.
            1 => (0..n).map(|_| if random.below(12) == 0 { '\n' } else { (32 + random.below(95)) as u8 as char }).collect(),
            // Words of the language in any order.
            _ => (0..n).map(|_| format!("{}{}", random.pick(WORDS), random.pick(&["", " "]))).collect(),
        }
    });
}

#[test]
fn mutated_programs() {
    feed_all(|random| {
        let program = random.pick(&PROGRAMS);
        let mut lines: Vec<&str> = program.lines().collect();
        // Mostly a window of the program, so that texts stay short; sometimes the whole.
        if random.below(8) != 0 {
            let first = random.below(lines.len());
            let count = 1 + random.below(12);
            lines = lines[first..(first + count).min(lines.len())].to_vec();
        }
        for _ in 0..random.below(3) {
            let (i, j) = (random.below(lines.len()), random.below(lines.len()));
            match random.below(3) {
                0 => lines.swap(i, j),
                1 => lines.insert(i, lines[j]),
                _ => {
                    lines.remove(i);
                    lines.push("");
                }
            }
        }
        let mut text = lines.join("\n");
        for _ in 0..1 + random.below(4) {
            mutate(&mut text, random);
        }
        text
    });
    // Most mutants are wrong programs; those that are right must be enough to mean something.
    let compiled = COMPILED.load(Ordering::Relaxed);
    assert!(compiled > 1_000, "only {compiled} programs were compiled");
}

/// Removes, inserts, repeats or replaces a piece.
fn mutate(text: &mut String, random: &mut Random) {
    let boundary = |text: &str, mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(text, random.below(text.len() + 1));
    let end = boundary(text, (start + random.below(12)).min(text.len())).max(start);
    match random.below(5) {
        0 => text.replace_range(start..end, ""),
        1 => text.insert_str(start, random.pick(WORDS)),
        2 => {
            let piece = text[start..end].to_owned();
            text.insert_str(end, &piece);
        }
        3 => text.replace_range(start..end, random.pick(WORDS)),
        _ => text.insert_str(start, &format!(" {} ", random.pick(WORDS))),
    }
}

#[test]
fn the_unchanged_programs_have_no_errors() {
    for text in PROGRAMS {
        let parsed = parse(text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    }
}
