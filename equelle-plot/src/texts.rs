//! The texts of a program in the record of its run.

use serde_json::Value;

use crate::svg::escaped;

/// The text of a program, then those that it imports. Lines count on from text to text.
#[derive(Clone, Debug, Default)]
pub struct Texts(Vec<Text>);

#[derive(Clone, Debug)]
struct Text {
    file: String,
    first_line: u64,
    text: String,
}

impl Texts {
    /// Those of a record; none of one that lacks them.
    pub fn of(record: &Value) -> Texts {
        let text = |value: &Value| {
            let [file, text] = ["file", "text"].map(|key| value[key].as_str().map(str::to_owned));
            Some(Text { file: file?, first_line: value["first_line"].as_u64()?, text: text? })
        };
        Texts(record["texts"].as_array().into_iter().flatten().filter_map(text).collect())
    }

    /// A line as `heat.equelle, line 12`, and its text.
    pub fn line(&self, line: u64) -> Option<(String, &str)> {
        let text = self.0.iter().rev().find(|text| text.first_line <= line)?;
        let own = line - text.first_line;
        let found = text.text.lines().nth(usize::try_from(own).ok()?)?;
        Some((format!("{}, line {}", text.file, own + 1), found.trim()))
    }

    /// Elements of HTML that open, one for each text, with the numbers of lines.
    pub fn html(&self) -> String {
        let text = |text: &Text| {
            let lines: Vec<&str> = text.text.lines().collect();
            let width = lines.len().to_string().len();
            let line = |(index, line): (usize, &&str)| format!("<i>{:>width$}</i>  {}\n", index + 1, escaped(line));
            let lines: String = lines.iter().enumerate().map(line).collect();
            format!("<details class=\"text\"><summary>{}</summary><pre>{lines}</pre></details>\n", escaped(&text.file))
        };
        self.0.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lines and the end of a third, then the import, whose lines count on from 4.
    #[test]
    fn lines_are_found_in_their_texts() {
        let texts = Texts::of(&serde_json::json!({"texts": [
            {"file": "p.equelle", "first_line": 1, "text": "a = 1\n  b = a < 2\n"},
            {"file": "q.equelle", "first_line": 4, "text": "c = 3"},
        ]}));
        let found = |line: u64| texts.line(line).map(|(place, text)| format!("{place}: {text}"));
        assert_eq!(found(2).as_deref(), Some("p.equelle, line 2: b = a < 2"));
        assert_eq!(found(4).as_deref(), Some("q.equelle, line 1: c = 3"));
        assert_eq!([found(0), found(3), found(9)], [None, None, None]);
        let html = texts.html();
        assert!(html.contains("<summary>p.equelle</summary><pre><i>1</i>  a = 1\n<i>2</i>    b = a &lt; 2\n</pre>"), "{html}");
        assert_eq!(Texts::of(&Value::Null).html(), "");
    }
}
