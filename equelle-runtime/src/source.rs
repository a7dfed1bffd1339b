//! The Equelle source of a generated program, for messages.

/// Name and text of the program.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// File name as given to the compiler (no directory).
    pub file: &'static str,
    /// Whole text.
    pub text: &'static str,
}

impl Source {
    /// Text of a line, from 1, without blanks at its ends; empty if there is no such line.
    pub fn line(&self, line: u32) -> &'static str {
        self.text.lines().nth((line as usize).wrapping_sub(1)).unwrap_or("").trim()
    }
}
