//! `--watch`: an output as letters in the terminal while the run goes on.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, SystemTime};

use equelle_plot::{TextPicture, text_picture};

/// Between two looks at the folder.
const PERIOD: Duration = Duration::from_millis(250);

/// Letters of a row.
const COLUMNS: usize = 78;

/// Runs something, and draws meanwhile what it writes. The last step is drawn when it has ended.
pub(super) fn during<T>(record: &Path, tag: &str, run: impl FnOnce() -> T) -> T {
    let (ended, ends) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut screen = Screen { is_terminal: std::io::stderr().is_terminal(), last: None };
            let since = SystemTime::now();
            loop {
                let is_over = !matches!(ends.recv_timeout(PERIOD), Err(RecvTimeoutError::Timeout));
                // A record of an earlier run is older.
                if std::fs::metadata(record).and_then(|found| found.modified()).is_ok_and(|at| at >= since) {
                    screen.show(text_picture(record, tag, COLUMNS, screen.is_terminal), is_over);
                }
                if is_over {
                    return;
                }
            }
        });
        let result = run();
        drop(ended);
        result
    })
}

struct Screen {
    is_terminal: bool,
    last: Option<TextPicture>,
}

impl Screen {
    /// Draws over the last picture, unless nothing has changed.
    fn show(&mut self, picture: Result<TextPicture, equelle_runtime::Error>, is_over: bool) {
        let picture = match picture {
            Ok(picture) => picture,
            // A step may be missing yet; after the run it is an error.
            Err(error) if is_over => {
                let hint = error.hint.map_or_else(String::new, |hint| format!("; {hint}"));
                let _ = writeln!(std::io::stderr(), "warning: --watch: {}{hint}", error.message);
                return;
            }
            Err(_) => return,
        };
        if self.last.as_ref() == Some(&picture) {
            return;
        }
        let back = match &self.last {
            Some(last) if self.is_terminal => format!("\x1b[{}A\x1b[J", last.n_lines),
            Some(_) | None => String::new(),
        };
        // A closed standard error cannot be reported.
        let _ = write!(std::io::stderr(), "{back}{}", picture.text);
        self.last = Some(picture);
    }
}
