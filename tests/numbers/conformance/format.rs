//! Reading case files.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A program and what it must give.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// Unique; says the rule.
    pub name: String,
    /// Name of the file it is in.
    pub file: String,
    /// Line of its heading.
    pub line: usize,
    /// Ids of the rows of `rows.txt` that it is about.
    pub covers: Vec<String>,
    /// Parameters, as words of a command line.
    pub parameters: Vec<String>,
    /// Data files: the name of the input, and the text.
    pub inputs: Vec<(String, String)>,
    pub nondimensional: bool,
    /// max|a - b| / max|b| allowed for each output; 0 means equal bits.
    pub tolerance: f64,
    /// Reason why the case cannot hold yet.
    pub pending: Option<String>,
    pub program: String,
    /// In the order of the source.
    pub diagnostics: Vec<ExpectedDiagnostic>,
    /// In the order in which they are put out.
    pub outputs: Vec<Output>,
    /// How the run fails, if it must.
    pub failure: Option<ExpectedFailure>,
}

impl Case {
    /// True if it shows that something is rejected.
    pub fn is_negative(&self) -> bool {
        self.failure.is_some() || self.diagnostics.iter().any(|d| d.code.starts_with('E'))
    }
}

/// A diagnostic at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedDiagnostic {
    pub code: String,
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// Characters marked, if that is checked.
    pub width: Option<usize>,
    /// Part of the message, or several in order with ` .. ` between them.
    pub message: String,
    /// Part of the hint, if that is checked.
    pub hint: Option<String>,
    /// Other places that must be labelled: line, column, part of the text.
    pub also: Vec<(u32, u32, String)>,
    /// The calls that led there, innermost first, if they are checked.
    pub via: Vec<(u32, u32, String)>,
}

/// One `Output`.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    pub tag: String,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Scalar(f64),
    Bool(bool),
    Text(String),
    Vector(Vec<f64>),
    Vectors(Vec<Vec<f64>>),
    /// Truth values are 1 and 0, entities their indices, -1 for Empty.
    Collection(Vec<f64>),
}

/// An error while the program runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedFailure {
    /// Variant of `ErrorKind`.
    pub kind: String,
    /// Line of the program, 0 for none.
    pub line: u32,
    /// Part of the message.
    pub message: String,
    /// Part of the hint, if that is checked.
    pub hint: Option<String>,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[f64]| values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(" ");
        match self {
            Value::Scalar(value) => write!(f, "{value:?}"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Vector(components) => write!(f, "({})", list(components)),
            Value::Vectors(values) => {
                let values: Vec<String> = values.iter().map(|components| format!("({})", list(components))).collect();
                write!(f, "[{}]", values.join(" "))
            }
            Value::Collection(values) => write!(f, "[{}]", list(values)),
        }
    }
}

/// The folder with the cases.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// All case files, sorted.
pub fn case_files() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("the folder of the cases can be read");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "case"));
    files.sort();
    files
}

/// The cases of a file.
pub fn read(path: &Path) -> Result<Vec<Case>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    parse(&file, &text)
}

/// The cases in a text.
pub fn parse(file: &str, text: &str) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    let mut current: Option<Builder> = None;
    for (index, line) in text.lines().enumerate() {
        let place = |error: String| format!("{file}:{}: {error}", index + 1);
        if let Some(name) = line.strip_prefix("=== ") {
            cases.extend(current.take().map(Builder::finish).transpose()?);
            current = Some(Builder::new(file, index + 1, name.trim()));
        } else if let Some(builder) = &mut current {
            builder.line(line).map_err(place)?;
        } else if !line.is_empty() && !line.starts_with('#') {
            return Err(place("text before the first case".into()));
        }
    }
    cases.extend(current.map(Builder::finish).transpose()?);
    Ok(cases)
}

#[derive(PartialEq)]
enum Part {
    Head,
    Program,
    Expected,
}

struct Builder {
    case: Case,
    part: Part,
    /// The program was given in one line of the head.
    written: bool,
    program: Vec<String>,
    grid: bool,
}

impl Builder {
    fn new(file: &str, line: usize, name: &str) -> Self {
        let case = Case { name: name.into(), file: file.into(), line, ..Case::default() };
        Builder { case, part: Part::Head, written: false, program: Vec::new(), grid: false }
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        match self.part {
            Part::Head if line.is_empty() => self.part = Part::Program,
            Part::Head if line.starts_with('#') => {}
            Part::Head => {
                let (key, value) = line.split_once(": ").ok_or("expected `key: value`, or an empty line before the program")?;
                self.head(key, value.trim())?;
            }
            Part::Program if line == "---" => self.part = Part::Expected,
            Part::Program if line.trim_start().starts_with('^') => self.marked(line)?,
            Part::Program => self.program.push(line.to_owned()),
            Part::Expected => self.expected(line)?,
        }
        Ok(())
    }

    fn head(&mut self, key: &str, value: &str) -> Result<(), String> {
        let case = &mut self.case;
        match key {
            "covers" => case.covers.extend(value.split_whitespace().map(str::to_owned)),
            "grid" => {
                case.parameters.extend(grid(value)?);
                self.grid = true;
            }
            "parameter" => {
                let (name, value) = value.split_once(" = ").ok_or("expected `name = value`")?;
                case.parameters.push(format!("{name}={value}"));
            }
            "input" => {
                let (name, values) = value.split_once(" =").ok_or("expected `name = values`")?;
                case.inputs.push((name.to_owned(), values.trim().replace(' ', "\n") + "\n"));
            }
            "nondimensional" if value == "yes" => case.nondimensional = true,
            "tolerance" => {
                let (number, reason) = value.split_once(' ').ok_or("a tolerance needs its reason")?;
                case.tolerance = number.parse().map_err(|_| "expected a number")?;
                if reason.len() < 10 {
                    return Err("a tolerance needs its reason".into());
                }
            }
            "pending" => case.pending = Some(value.to_owned()),
            "text" => {
                case.program = unescape(value)?;
                self.written = true;
            }
            _ => return Err(format!("unknown key `{key}`")),
        }
        Ok(())
    }

    /// `   ^^^ E0204 message => hint`, below the line of the program that it is about.
    fn marked(&mut self, line: &str) -> Result<(), String> {
        let column = line.chars().take_while(|&c| c == ' ').count();
        let rest = line.trim_start();
        let marks = rest.chars().take_while(|&c| c == '^').count();
        let rest = &rest[marks..];
        // `^~` marks where it begins only.
        let (width, rest) = rest.strip_prefix('~').map_or((Some(marks), rest), |rest| (None, rest));
        let diagnostic = diagnostic(rest, self.program.len() as u32, column as u32 + 1, width)?;
        self.case.diagnostics.push(diagnostic);
        Ok(())
    }

    fn expected(&mut self, line: &str) -> Result<(), String> {
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let case = &mut self.case;
        if let Some(rest) = line.strip_prefix("fails ") {
            let (kind, rest) = rest.split_once(' ').ok_or("expected a kind")?;
            let (line, message) = rest.split_once(' ').ok_or("expected a line and a message")?;
            let line = line.parse().map_err(|_| "expected a line number")?;
            let (message, hint) = message.split_once(" => ").map_or((message, None), |(message, hint)| (message, Some(hint.to_owned())));
            case.failure = Some(ExpectedFailure { kind: kind.into(), line, message: message.into(), hint });
        } else if let Some(rest) = line.strip_prefix("at ") {
            let (place, rest) = rest.split_once(' ').ok_or("expected `at line:column CODE message`")?;
            let (line, column) = position(place)?;
            case.diagnostics.push(diagnostic(rest, line, column, None)?);
        } else if let Some((word @ ("also" | "via"), rest)) = line.split_once(' ') {
            let (place, text) = rest.split_once(' ').unwrap_or((rest, ""));
            let (line, column) = position(place)?;
            let last = case.diagnostics.last_mut().ok_or("another place follows a diagnostic")?;
            let places = if word == "also" { &mut last.also } else { &mut last.via };
            places.push((line, column, text.to_owned()));
        } else {
            let (tag, value) = line.split_once(" = ").ok_or("expected `tag = value`")?;
            case.outputs.push(Output { tag: tag.to_owned(), value: parse_value(value.trim())? });
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Case, String> {
        let place = format!("{}:{}", self.case.file, self.case.line);
        if !self.grid {
            self.case.parameters.extend(grid("3x3")?);
        }
        if !self.written {
            while self.program.last().is_some_and(String::is_empty) {
                self.program.pop();
            }
            self.case.program = self.program.join("\n") + "\n";
        } else if !self.program.is_empty() {
            return Err(format!("{place}: the case has two programs"));
        }
        let case = self.case;
        if case.covers.is_empty() {
            return Err(format!("{place}: the case covers nothing"));
        }
        if case.diagnostics.is_empty() && case.outputs.is_empty() && case.failure.is_none() {
            return Err(format!("{place}: the case expects nothing"));
        }
        Ok(case)
    }
}

fn position(text: &str) -> Result<(u32, u32), String> {
    let parse = |text: &str| text.parse().map_err(|_| format!("expected line:column, not `{text}`"));
    let (line, column) = text.split_once(':').ok_or("expected line:column")?;
    Ok((parse(line)?, parse(column)?))
}

fn diagnostic(text: &str, line: u32, column: u32, width: Option<usize>) -> Result<ExpectedDiagnostic, String> {
    let text = text.trim();
    let (code, rest) = text.split_once(' ').ok_or("a diagnostic needs a code and a part of its message")?;
    let (message, hint) = match rest.split_once(" => ") {
        Some((message, hint)) => (message, Some(hint.to_owned())),
        None => (rest, None),
    };
    let known = code.len() == 5 && code.starts_with(['E', 'W']) && code[1..].chars().all(|c| c.is_ascii_digit());
    if !known {
        return Err(format!("`{code}` is not a code"));
    }
    Ok(ExpectedDiagnostic {
        code: code.to_owned(),
        line,
        column,
        width,
        message: message.to_owned(),
        hint,
        also: Vec::new(),
        via: Vec::new(),
    })
}

/// `4`, `4x3`, `4x3x2`, and with the sizes of the cells, `4x3 of 0.5x0.25`.
fn grid(text: &str) -> Result<Vec<String>, String> {
    let (counts, sizes) = text.split_once(" of ").map_or((text, None), |(counts, sizes)| (counts, Some(sizes)));
    let counts: Vec<&str> = counts.split('x').collect();
    let sizes: Vec<&str> = sizes.map_or_else(|| vec!["1"; counts.len()], |sizes| sizes.split('x').collect());
    if counts.len() > 3 || sizes.len() != counts.len() {
        return Err(format!("`{text}` is not a grid"));
    }
    let mut words = vec![format!("grid_dim={}", counts.len())];
    for ((axis, count), size) in ["x", "y", "z"].iter().zip(&counts).zip(&sizes) {
        words.push(format!("n{axis}={count}"));
        words.push(format!("d{axis}={size}"));
    }
    Ok(words)
}

fn parse_value(text: &str) -> Result<Value, String> {
    let between = |open: char, close: char| text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
    if let Some(inner) = between('"', '"') {
        return Ok(Value::Text(unescape(inner)?));
    }
    if let Some(inner) = between('(', ')') {
        return Ok(Value::Vector(numbers(inner)?));
    }
    if let Some(inner) = between('[', ']') {
        let Some(vectors) = inner.trim().strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) else {
            return Ok(Value::Collection(numbers(inner)?));
        };
        return Ok(Value::Vectors(vectors.split(") (").map(numbers).collect::<Result<_, _>>()?));
    }
    match text {
        "true" => Ok(Value::Bool(true)),
        "false" => Ok(Value::Bool(false)),
        _ => Ok(Value::Scalar(number(text)?)),
    }
}

/// Numbers between blanks; `3*1.5` is three times 1.5.
fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let mut values = Vec::new();
    for word in text.split_whitespace() {
        let (count, value) = word.split_once('*').unwrap_or(("1", word));
        let count: usize = count.parse().map_err(|_| format!("`{word}`: expected a count before `*`"))?;
        values.extend(std::iter::repeat_n(number(value)?, count));
    }
    Ok(values)
}

/// A number, or a quotient of two: `1/3`.
fn number(text: &str) -> Result<f64, String> {
    let parse = |text: &str| text.parse::<f64>().map_err(|_| format!("`{text}` is not a number"));
    match text.split_once('/') {
        Some((over, under)) => Ok(parse(over)? / parse(under)?),
        None => parse(text),
    }
}

fn unescape(text: &str) -> Result<String, String> {
    let mut result = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        result.push(match (letter, if letter == '\\' { letters.next() } else { None }) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('r')) => '\r',
            ('\\', Some('t')) => '\t',
            ('\\', Some('\\')) => '\\',
            ('\\', other) => return Err(format!("unknown escape `\\{}`", other.map(String::from).unwrap_or_default())),
            (letter, _) => letter,
        });
    }
    Ok(result)
}
