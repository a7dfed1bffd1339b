//! The grammar of `docs/language/grammar.md` against the parser: they accept the same texts.
//!
//! The page's grammar is read as it stands, and texts are recognised by Earley's algorithm (1970,
//! doi:10.1145/362007.362035), which knows nothing of the parser.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use equelle_front::diagnostic::Code;
use equelle_front::ops::CONSTANTS;
use equelle_front::syntax::{TokenKind, lex, parse};

/// The page with the grammar, in blocks of `ebnf`.
const PAGE: &str = "docs/language/grammar.md";

/// Errors of the parser that the page states in prose: sizes, ranges and escapes.
const NOT_OF_THE_GRAMMAR: [Code; 6] =
    [Code::NumberOutOfRange, Code::UnknownEscape, Code::InvalidArrayType, Code::NestingTooDeep, Code::TextTooLong, Code::UnitRange];

#[derive(Clone, Debug, PartialEq)]
enum Symbol {
    Rule(usize),
    Terminal(String),
}

/// Productions without repetitions and options: those have names of their own.
#[derive(Debug, Default)]
struct Grammar {
    names: BTreeMap<String, usize>,
    /// By name, its alternatives.
    alternatives: Vec<Vec<Vec<Symbol>>>,
    can_be_empty: Vec<bool>,
}

impl Grammar {
    /// Reads blocks such as `name = "word" { other | [ TOKEN ] } ;`.
    fn read(page: &str) -> Result<Grammar, String> {
        let blocks = page.split("```ebnf\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
        let text: Vec<&str> = blocks.collect();
        let text = text.join("\n");
        let mut words = text.split_whitespace();
        let mut grammar = Grammar::default();
        let mut defined = HashSet::new();
        while let Some(name) = words.next() {
            if words.next() != Some("=") {
                return Err(format!("no `=` after {name}"));
            }
            if !defined.insert(name.to_owned()) {
                return Err(format!("{name} is defined twice"));
            }
            let rule = grammar.rule(name);
            let alternatives = grammar.alternatives_of(&mut words, ";")?;
            grammar.alternatives[rule] = alternatives;
        }
        let missing: Vec<&String> = grammar.names.keys().filter(|name| !name.contains(' ') && !defined.contains(*name)).collect();
        if !missing.is_empty() {
            return Err(format!("not defined: {missing:?}"));
        }
        grammar.find_empty();
        Ok(grammar)
    }

    fn rule(&mut self, name: &str) -> usize {
        let next = self.alternatives.len();
        let rule = *self.names.entry(name.to_owned()).or_insert(next);
        if rule == next {
            self.alternatives.push(Vec::new());
        }
        rule
    }

    fn group(&mut self, alternatives: impl FnOnce(usize) -> Vec<Vec<Symbol>>) -> Symbol {
        let rule = self.rule(&format!("group {}", self.alternatives.len()));
        self.alternatives[rule] = alternatives(rule);
        Symbol::Rule(rule)
    }

    fn alternatives_of<'t>(&mut self, words: &mut impl Iterator<Item = &'t str>, end: &str) -> Result<Vec<Vec<Symbol>>, String> {
        let (mut alternatives, mut now) = (Vec::new(), Vec::new());
        loop {
            let word = words.next().ok_or_else(|| format!("no `{end}`"))?;
            match word {
                _ if word == end => {
                    alternatives.push(now);
                    return Ok(alternatives);
                }
                "|" => alternatives.push(std::mem::take(&mut now)),
                "{" => {
                    let inner = self.alternatives_of(words, "}")?;
                    let repeated = |own| {
                        let more = inner.into_iter().map(|inner| [vec![Symbol::Rule(own)], inner].concat());
                        std::iter::once(Vec::new()).chain(more).collect()
                    };
                    now.push(self.group(repeated));
                }
                "[" => {
                    let inner = self.alternatives_of(words, "]")?;
                    now.push(self.group(|_| std::iter::once(Vec::new()).chain(inner).collect()));
                }
                "(" => {
                    let inner = self.alternatives_of(words, ")")?;
                    now.push(self.group(|_| inner));
                }
                _ if word.starts_with('"') || word.starts_with(char::is_uppercase) => now.push(Symbol::Terminal(word.to_owned())),
                _ => now.push(Symbol::Rule(self.rule(word))),
            }
        }
    }

    fn find_empty(&mut self) {
        self.can_be_empty = vec![false; self.alternatives.len()];
        loop {
            let is_empty = |symbol: &Symbol| matches!(symbol, Symbol::Rule(rule) if self.can_be_empty[*rule]);
            let found: Vec<bool> = self.alternatives.iter().map(|all| all.iter().any(|one| one.iter().all(is_empty))).collect();
            if found == self.can_be_empty {
                return;
            }
            self.can_be_empty = found;
        }
    }

    /// True if the grammar derives a text from `program`.
    fn accepts(&self, text: &str) -> bool {
        let lexed = lex(text);
        if lexed.diagnostics.iter().any(|found| !NOT_OF_THE_GRAMMAR.contains(&found.code)) {
            return false;
        }
        let mut tokens: Vec<(TokenKind, &str)> = lexed.tokens.iter().map(|token| (token.kind, &text[token.span.range()])).collect();
        // The line end of the last line may be missing.
        tokens.pop();
        if tokens.last().is_none_or(|(kind, _)| *kind != TokenKind::Newline) {
            tokens.push((TokenKind::Newline, ""));
        }
        self.derives(&tokens)
    }

    fn derives(&self, tokens: &[(TokenKind, &str)]) -> bool {
        let start = self.names["program"];
        let mut sets = vec![Items::default(); tokens.len() + 1];
        self.predict(start, 0, &mut sets);
        for at in 0..=tokens.len() {
            let mut next = 0;
            while let Some(&item) = sets[at].all.get(next) {
                next += 1;
                match self.symbol_after(item) {
                    None => {
                        let waiting = sets[item.begin].waiting.get(&item.rule).cloned().unwrap_or_default();
                        waiting.into_iter().for_each(|before| self.add(before.advanced(), at, &mut sets));
                    }
                    Some(&Symbol::Rule(inner)) => {
                        self.predict(inner, at, &mut sets);
                        if self.can_be_empty[inner] {
                            self.add(item.advanced(), at, &mut sets);
                        }
                    }
                    Some(Symbol::Terminal(terminal)) => {
                        if tokens.get(at).is_some_and(|&token| matches(terminal, token)) {
                            self.add(item.advanced(), at + 1, &mut sets);
                        }
                    }
                }
            }
        }
        let is_whole = |item: &Item| item.rule == start && item.begin == 0 && self.symbol_after(*item).is_none();
        sets.last().is_some_and(|items| items.all.iter().any(is_whole))
    }

    fn symbol_after(&self, item: Item) -> Option<&Symbol> {
        self.alternatives[item.rule][item.alternative].get(item.dot)
    }

    fn predict(&self, rule: usize, at: usize, sets: &mut [Items]) {
        for alternative in 0..self.alternatives[rule].len() {
            self.add(Item { rule, alternative, dot: 0, begin: at }, at, sets);
        }
    }

    fn add(&self, item: Item, at: usize, sets: &mut [Items]) {
        let items = &mut sets[at];
        if items.known.insert(item) {
            items.all.push(item);
            if let Some(&Symbol::Rule(inner)) = self.symbol_after(item) {
                items.waiting.entry(inner).or_default().push(item);
            }
        }
    }
}

/// An alternative of a rule, of which the symbols before the dot stand for the tokens from `begin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Item {
    rule: usize,
    alternative: usize,
    dot: usize,
    begin: usize,
}

impl Item {
    fn advanced(self) -> Item {
        Item { dot: self.dot + 1, ..self }
    }
}

/// Items at a place between two tokens.
#[derive(Clone, Debug, Default)]
struct Items {
    all: Vec<Item>,
    known: HashSet<Item>,
    /// By rule, those that go on when it is complete.
    waiting: BTreeMap<usize, Vec<Item>>,
}

/// True if a terminal of the page stands for a token.
fn matches(terminal: &str, (kind, text): (TokenKind, &str)) -> bool {
    match terminal {
        "NAME" => kind == TokenKind::Name,
        "BUILTIN" => kind == TokenKind::Builtin,
        "CONSTANT" => kind == TokenKind::Builtin && CONSTANTS.iter().any(|(name, _)| *name == text),
        "NUMBER" => matches!(kind, TokenKind::Number { .. }),
        "INTEGER" => matches!(kind, TokenKind::Number { integer: true, .. }),
        "STRING" => kind == TokenKind::Text,
        "EOL" => kind == TokenKind::Newline,
        quoted => kind.symbol().is_some_and(|symbol| quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) == Some(symbol)),
    }
}

/// True if the parser has nothing against a text but what is no matter of the grammar.
fn parser_accepts(text: &str) -> bool {
    parse(text).diagnostics.iter().all(|found| NOT_OF_THE_GRAMMAR.contains(&found.code))
}

/// The text without each token whose number is `first` modulo `step`, one at a time.
fn shortened(text: &str, first: usize, step: usize) -> Vec<String> {
    let tokens = lex(text).tokens;
    let without = |range: std::ops::Range<usize>| format!("{} {}", &text[..range.start], &text[range.end..]);
    tokens.iter().skip(first).step_by(step).map(|token| without(token.span.range())).collect()
}

/// Programs of the repository in a folder and below.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "equelle") {
            found.push(path);
        }
    }
}

fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The grammar of the page.
fn grammar() -> Grammar {
    let page = std::fs::read_to_string(repository(PAGE)).expect("the page with the grammar");
    Grammar::read(&page).unwrap_or_else(|error| panic!("{PAGE}: {error}"))
}

/// The programs of the suite, whole and with a token left out, and all other programs. What both
/// accept and what both refuse is seen to occur.
#[test]
fn the_grammar_and_the_parser_accept_the_same_texts() {
    let grammar = grammar();
    let mut files = Vec::new();
    ["examples", "equelle-front/src/library"].iter().for_each(|folder| programs(&repository(folder), &mut files));
    let files = files.iter().map(|path| std::fs::read_to_string(path).expect("a program"));
    let mut texts: Vec<String> = files.collect();
    for (number, case) in super::cases().iter().enumerate() {
        texts.push(case.program.clone());
        texts.extend(shortened(&case.program, number % STEP, STEP));
    }
    let (mut accepted, mut refused) = (0, 0);
    for text in &texts {
        let expected = parser_accepts(text);
        assert_eq!(grammar.accepts(text), expected, "the parser says {expected} of\n{text}\n{:#?}", parse(text).diagnostics);
        *(if expected { &mut accepted } else { &mut refused }) += 1;
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

/// One of so many tokens is left out.
const STEP: usize = 13;

#[test]
fn a_grammar_is_read_as_it_is_written() {
    let read = |rules: &str| Grammar::read(&format!("# Page\n\n```ebnf\n{rules}\n```\n"));
    let sums = read("program = sum EOL ;\nsum = [ \"-\" ] NUMBER { ( \"+\" | \"*\" ) NUMBER } ;").expect("a grammar");
    for (text, is_sum) in [("1", true), ("-1 + 2 * 3", true), ("", false), ("1 +", false), ("1 - 2", false), ("- -1", false), ("x", false)]
    {
        assert_eq!(sums.accepts(text), is_sum, "{text}");
    }
    assert!(read("program = a ;").is_err(), "`a` is not defined");
    assert!(read("program = EOL ;\nprogram = EOL ;").is_err(), "twice");
    assert!(read("program = { EOL ;").is_err(), "no end");
}
