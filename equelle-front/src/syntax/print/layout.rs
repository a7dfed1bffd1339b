//! Statements over lines: indentation, blank lines, comments.

use super::line::Line;
use super::{INDENT, WIDTH};
use crate::syntax::ast::{Block, Comment, Program, Stmt, StmtKind};

/// The program as text in the standard layout. Parentheses stand exactly where the tree has them,
/// so that reading the text back gives the same tree; the text of a printed and re-read program is
/// the same again. Numbers are written in their shortest form.
pub fn print(program: &Program) -> String {
    print_from(program, "")
}

/// As [`print()`] for a program that was read from `source`, with number literals as they stand
/// there: `3.45e6` stays `3.45e6`.
pub fn format(program: &Program, source: &str) -> String {
    print_from(program, source)
}

fn print_from(program: &Program, source: &str) -> String {
    let mut printer = Printer { program, source, out: String::new(), comments: &program.comments, last_line: None };
    printer.statements(&program.statements, 0);
    printer.comments_before(u32::MAX, u32::MAX, 0);
    printer.out
}

struct Printer<'p> {
    program: &'p Program,
    /// Text that the tree was read from; empty if numbers are to be written anew.
    source: &'p str,
    out: String,
    /// Comments not yet printed.
    comments: &'p [Comment],
    /// Line in the old text where the last thing printed ended; `None` at the beginning of the text
    /// or of a block, where no blank line is wanted.
    last_line: Option<u32>,
}

impl Printer<'_> {
    /// Line of a byte of the old text, from 1; 0 if there was none.
    fn line_of(&self, offset: u32) -> u32 {
        self.program.line_starts.partition_point(|&s| s <= offset) as u32
    }

    /// Line of the last byte before `end`.
    fn end_line(&self, end: u32) -> u32 {
        self.line_of(end.saturating_sub(1))
    }

    fn statements(&mut self, statements: &[Stmt], level: usize) {
        for stmt in statements {
            self.statement(stmt, level);
        }
    }

    fn statement(&mut self, stmt: &Stmt, level: usize) {
        let body = body_of(stmt);
        let head_end = body.map_or(stmt.span.end, |b| b.span.start + 1);
        let line = self.line_of(stmt.span.start);
        // Comments on the continued lines of the statement move before it.
        self.comments_before(head_end, line, level);
        self.separate(line);
        let start = self.out.len();
        Line::of(stmt, self.source).write(&mut self.out, INDENT * level);
        if let Some(body) = body {
            if let Some(line) = self.on_one_line(&self.out[start..], body) {
                self.out.truncate(start);
                self.out.push_str(&line);
                self.end_line_at(stmt.span.end);
                return;
            }
            self.out.push_str(" {");
            self.end_line_at(head_end);
            self.last_line = None;
            self.statements(&body.statements, level + 1);
            self.comments_before(body.span.end, u32::MAX, level + 1);
            self.out.extend(std::iter::repeat_n(' ', INDENT * level));
            self.out.push('}');
        }
        self.end_line_at(stmt.span.end);
    }

    /// A statement with its body of one statement on one line, if it was written so and fits.
    fn on_one_line(&self, head: &str, body: &Block) -> Option<String> {
        let [inner] = &body.statements[..] else { return None };
        let line = self.line_of(body.span.start);
        let has_comment = self.comments.first().is_some_and(|comment| comment.span.start < body.span.end);
        if line == 0 || line != self.end_line(body.span.end) || body_of(inner).is_some() || has_comment {
            return None;
        }
        let mut text = format!("{head} {{ ");
        Line::of(inner, self.source).write(&mut text, 0);
        text.push_str(" }");
        (!text.contains('\n') && text.chars().count() <= WIDTH).then_some(text)
    }

    /// Ends a printed line, with the comment that shared its old line.
    fn end_line_at(&mut self, end: u32) {
        let line = self.end_line(end);
        if let Some((comment, rest)) = self.comments.split_first()
            && comment.span.start >= end
            && self.line_of(comment.span.start) == line
        {
            self.out.push_str("  ");
            self.out.push_str(&comment.text);
            self.comments = rest;
        }
        self.out.push('\n');
        self.last_line = Some(line);
    }

    /// Prints the comments that begin before a place, on lines of their own. `line` is that of the
    /// statement they precede.
    fn comments_before(&mut self, place: u32, line: u32, level: usize) {
        while let Some((comment, rest)) = self.comments.split_first()
            && comment.span.start < place
        {
            let own = self.line_of(comment.span.start);
            self.separate(own.min(line));
            self.out.extend(std::iter::repeat_n(' ', INDENT * level));
            self.out.push_str(&comment.text);
            self.out.push('\n');
            self.last_line = Some(own);
            self.comments = rest;
        }
    }

    /// A blank line if there was one (or more) between the last thing printed and this line of the
    /// old text.
    fn separate(&mut self, line: u32) {
        if self.last_line.is_some_and(|last| line > last + 1) {
            self.out.push('\n');
        }
    }
}

fn body_of(stmt: &Stmt) -> Option<&Block> {
    match &stmt.kind {
        StmtKind::FunctionDefinition { body, .. } | StmtKind::For { body, .. } | StmtKind::Conditional { body, .. } => Some(body),
        StmtKind::Declaration { .. }
        | StmtKind::FunctionDeclaration { .. }
        | StmtKind::Assignment { .. }
        | StmtKind::StencilAssignment { .. }
        | StmtKind::Call(_)
        | StmtKind::Import { .. }
        | StmtKind::Return(_) => None,
    }
}
