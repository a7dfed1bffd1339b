//! Blocks of code of a page. `cargo xtask pictures` follows pages by them, and so does
//! `tests/driver/book.rs`, which takes this file.

/// A block of code: the words behind the back-quotes, and the text.
#[derive(Debug)]
pub struct Block {
    /// The word behind the back-quotes, such as `console` or `equelle`.
    pub kind: String,
    /// The word after it: the file that holds the text, or `fails` for commands that do.
    pub word: Option<String>,
    pub text: String,
}

impl Block {
    /// The file that the text is for.
    pub fn file(&self) -> Option<&str> {
        if self.kind == "text" || self.kind == "equelle" { self.word.as_deref() } else { None }
    }

    /// Commands and what they print; none but in blocks of a console.
    pub fn commands(&self) -> Vec<(Vec<String>, String)> {
        if self.kind != "console" {
            return Vec::new();
        }
        let joined = self.text.replace("\\\n", " ");
        let mut commands: Vec<(Vec<String>, String)> = Vec::new();
        for line in joined.lines() {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((words(command), String::new())),
                (None, Some((_, printed))) => printed.extend([line, "\n"]),
                (None, None) => panic!("a block of a console begins with `$ `, not with `{line}`"),
            }
        }
        commands
    }
}

/// All blocks of a page.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let text = lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
            let (kind, word) = info.split_once(' ').map_or((info, None), |(kind, word)| (kind, Some(word.to_owned())));
            blocks.push(Block { kind: kind.to_owned(), word, text });
        }
    }
    blocks
}

/// Words of a command; quotes keep blanks.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (at, part) in command.split('"').enumerate() {
        let mut pieces = if at % 2 == 1 { vec![part] } else { part.split(' ').collect() }.into_iter();
        words.last_mut().expect("a word").push_str(pieces.next().unwrap_or_default());
        words.extend(pieces.map(str::to_owned));
    }
    words.retain(|word| !word.is_empty());
    words
}
