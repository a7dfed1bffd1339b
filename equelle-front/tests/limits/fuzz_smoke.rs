//! 10^5 random texts and 10^5 mutated programs through the front-end: no panic, no text that takes
//! long, no memory to speak of. The same targets run without end under `fuzz/`; this test is their
//! short, deterministic form.
//! `EQUELLE_FUZZ_TEXTS=5000000 cargo test --release -p equelle-front --test limits -- --ignored`
//! makes it as long as one likes, with other texts after the first 10^5.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use equelle_front::check::{CheckOptions, check};
use equelle_front::diagnostic::render::{Format, render};
use equelle_front::ir::{self, Module};
use equelle_front::lower::lower;
use equelle_front::passes::{OptLevel, optimise_with};
use equelle_front::source::SourceMap;
use equelle_front::syntax::{parse, print, same_modulo_spans};
use equelle_front::typed::TypedProgram;
use equelle_front::verify::verify;

/// Every program of the repository: examples, tests of this crate and of the workspace.
static PROGRAMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut programs = Vec::new();
    for folder in [root.join("tests/programs"), root.join("../examples"), root.join("../tests")] {
        collect(&folder, &mut programs);
    }
    programs.sort();
    assert!(programs.len() >= 5, "the programs of this crate's tests at least");
    programs.into_iter().map(|path| std::fs::read_to_string(path).unwrap_or_default()).filter(|text| text.len() < 20_000).collect()
});

/// Equelle programs in a folder and the folders in it. Programs that are wrong on purpose are as
/// good a seed as others.
fn collect(folder: &Path, programs: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, programs);
        } else if path.extension().is_some_and(|e| e == "equelle") {
            programs.push(path);
        }
    }
}

/// Number of texts that each test makes.
fn texts() -> u64 {
    std::env::var("EQUELLE_FUZZ_TEXTS").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000)
}

/// No text of a few hundred lines may take longer, in a debug build on a busy machine; they take
/// milliseconds.
const MAX_DURATION: Duration = Duration::from_secs(20);

/// Peak memory of the test, all threads together.
const MAX_MEMORY: u64 = 1 << 30;

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
    "Exp(", "ATan2(x, 2)", "Floor(", "Round(", "Pi", "Pow(x, 2)", "Min(", "AnyReduce(", "Vector(", "x ^ 2", "AllEdges()", "InteriorVertices()", "NewtonSolveSystem([f], [x])", "[x, y][0]",
    "i = StencilI()\n", "StencilJ()", "Halo(u0, ", "Periodic(i)", "Value(Low(i), ", "High(i)", "Slope(i, 1)", "Polynomial(i, 2)", "u0(i+1, j-2)",
    "u0(i, j) =", "x(1+i)", "Width(i)", "Even(i, j)", "IndexOf(i)", "Stencil Collection Of Scalar On AllCells()",
    "f", "f(x)", "f(x) =", "x =", "x :", "->", "{", "}", "{\n", "\n}\n", "(", ")", "[", "]", "|", ",", "?", ":", "=", "==", "!=", "<", "<=",
    ">", ">=", "+", "-", "*", "/", "^", "0", "1", "2.5", "1e3", ".5", "3x", "1e999", "\"tag\"", "\"", "\\", "#", "# note\n", "...", "...\n", "\n",
    "\n", "\n", "\r\n", " ", "\t", "$", "_", "\u{e9}", "\u{feff}", "\0", "99999999999",
];

/// Reads, and when there are no syntax errors formats, re-reads and checks. `full` also renders
/// what was found.
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
        let source = SourceMap::new("fuzz.equelle", text);
        for format in [Format::Human { color: true }, Format::Short, Format::Json] {
            assert_eq!(render(&diagnostics, &source, format).is_empty(), diagnostics.is_empty());
        }
    }
}

/// Programs that were compiled.
static COMPILED: AtomicU64 = AtomicU64::new(0);

/// Whatever the checker accepts goes through lowering and every pass, and is a valid module after
/// each.
fn compile(program: &TypedProgram, text: &str) {
    COMPILED.fetch_add(1, Ordering::Relaxed);
    let module = lower(program, &SourceMap::new("fuzz.equelle", text), "fuzz");
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
                for i in (thread..texts()).step_by(threads as usize) {
                    // Seeded by its number alone, so that the texts do not depend on the number of
                    // threads.
                    let text = make(&mut Random::new(i + 1));
                    let start = Instant::now();
                    let outcome = std::panic::catch_unwind(|| feed(&text, i % 64 == 0));
                    assert!(outcome.is_ok(), "panic on text {i}:\n{text}\n{text:?}");
                    assert!(start.elapsed() < MAX_DURATION, "text {i} took {:?}:\n{text}", start.elapsed());
                }
            });
        }
    });
    if let Some(peak) = peak_memory() {
        assert!(peak < MAX_MEMORY, "the front-end took {} MiB", peak >> 20);
    }
}

/// Peak resident memory of this process in bytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[test]
#[ignore = "takes long: .ci/run asks for it"]
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
#[ignore = "takes long: .ci/run asks for it"]
fn mutated_programs() {
    feed_all(|random| {
        let program = &PROGRAMS[random.below(PROGRAMS.len())];
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

/// Whole programs in which one or two words stand where other words stood: mostly wrong in one
/// place, sometimes right.
#[test]
#[ignore = "takes long: .ci/run asks for it"]
fn programs_with_words_exchanged() {
    feed_all(|random| {
        let program = &PROGRAMS[random.below(PROGRAMS.len())];
        let mut words = words(program);
        for _ in 0..1 + random.below(2) {
            let (i, j) = (random.below(words.len()), random.below(words.len()));
            if !words[i].trim().is_empty() {
                words[i] = words[j];
            }
        }
        // The longest programs only now and then.
        let text: String = words.concat();
        if text.len() > 3_000 && random.below(8) != 0 { String::new() } else { text }
    });
}

/// Cuts a text into words, numbers, blanks and single other characters.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| {
        if c.is_alphanumeric() || c == '_' || c == '.' {
            0
        } else if c == ' ' {
            1
        } else {
            2
        }
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (i, c) in text.char_indices() {
        if i > start && (last != Some(class(c)) || class(c) == 2) {
            words.push(&text[start..i]);
            start = i;
        }
        last = Some(class(c));
    }
    words.push(&text[start..]);
    words
}
