//! A page of HTML of a run: one file, which needs no network.

use std::collections::BTreeMap;
use std::path::Path;

use equelle_runtime::Error;
use equelle_runtime::report::seconds;
use serde_json::{Value, json};

use crate::Picture;
use crate::axis::short;
use crate::chart::draw;
use crate::frames::{Figure, figure};
use crate::log::Log;
use crate::options::{Options, Steps};
use crate::panel::{LinePanel, Panel};
use crate::panels::{at_steps, chosen, evenly, series_panel};
use crate::run::{Run, with_unit};
use crate::series::Series;
use crate::solves;
use crate::svg::{self, escaped};
use crate::texts::Texts;

/// The page without its content.
const TEMPLATE: &str = include_str!("page.html");

/// Most diagrams of collections, and of single numbers.
const MAX_FIGURES: usize = 12;
const MAX_SERIES: usize = 24;

/// Most steps of a diagram.
const MAX_STEPS: usize = 100;

/// Most bytes of all frames: with the rest a page stays below 5 MB.
const MAX_BYTES: usize = 4_300_000;

/// Most rows of a table.
const MAX_ROWS: usize = 200;

/// Most characters of a value in a table.
const MAX_CHARACTERS: usize = 200;

/// A page of a run: `path` is the folder with its record, or the record.
///
/// # Errors
/// As [`crate::plot`], but a run without outputs has a page.
pub fn page(path: &Path, options: &Options) -> Result<Picture, Error> {
    let run = Run::open(path)?;
    let log = Log::read(&run)?;
    let mut notes = Vec::new();
    let (wanted, series) = chosen(&run, options)?;
    let steps = if options.steps == Steps::Usual { &Steps::All } else { &options.steps };
    let mut figures: Vec<Figure> = Vec::new();
    if wanted.len() > MAX_FIGURES {
        notes.push(format!("the first {MAX_FIGURES} of {} collections are shown; choose others with --tag", wanted.len()));
    }
    if series.len() > MAX_SERIES {
        notes.push(format!("the first {MAX_SERIES} of {} single numbers are shown; choose others with --tag", series.len()));
    }
    for (number, wanted) in wanted.iter().take(MAX_FIGURES).enumerate() {
        let files = at_steps(&wanted.tag, steps, MAX_STEPS, &mut notes)?;
        match figure(&run, wanted, &files, options, &format!("f{number}"))? {
            Some(figure) => figures.push(figure),
            None => notes.push(format!("`{}` is not shown: no file has it, or the grid has too many cells", wanted.title)),
        }
    }
    thin(&mut figures, &mut notes);

    let mut body = head(&run);
    let moments = moments(&figures);
    if !figures.is_empty() {
        body.push_str(&slider(moments.len()));
        let of = |(number, figure): (usize, &Figure)| {
            format!(
                "<figure aria-label=\"{}\">{}<figcaption id=\"f{number}-note\"></figcaption></figure>",
                escaped(&figure.title),
                with_prefix(&figure.svg, &format!("f{number}-"))
            )
        };
        body.push_str(&format!("<div class=\"figures\">{}</div>\n", figures.iter().enumerate().map(of).collect::<String>()));
    }
    body.push_str(&section("Final values", &final_values(&run, &series)));
    let lines: Vec<LinePanel> = series.iter().take(MAX_SERIES).map(|series| series_panel(series, &run.units, options)).collect();
    body.push_str(&section("Single numbers", &diagrams(&lines, "s")));
    match &log {
        Some(log) => {
            body.push_str(&section("Newton's method", &diagrams(&solves::panels(log), "n")));
            body.push_str(&section("Audit", &audit(&run, log)));
            body.push_str(&section("Time", &phases(log)));
        }
        None => {
            body.push_str(&section("Audit", &audit(&run, &Log::default())));
            notes.push("without a log of events there are no times and no solves: run with --html, or with event_log=true".to_owned());
        }
    }
    body.push_str(&section("Parameters", &parameters(&run.record)));
    body.push_str(&section("Program", &Texts::of(&run.record).html()));
    let retries = log.as_ref().map_or(0, |log| log.n_retries);
    notes.extend(run.later_failure());
    let mut remarks = notes.clone();
    if retries > 0 {
        remarks.push(format!("{retries} times a step failed and was taken again in parts"));
    }
    remarks.extend(log.into_iter().flat_map(|log| log.messages));
    body.push_str(&section("Notes", &list(&remarks)));

    let frame = |frame: &crate::frames::Frame| json!({ "step": frame.step, "nan": frame.n_nan, "data": frame.data });
    let of_figure = |(number, figure): (usize, &Figure)| json!({ "id": format!("f{number}"), "map": figure.is_map, "frames": figure.frames.iter().map(frame).collect::<Vec<_>>() });
    let of_time = |time: f64| run.units.time.as_ref().map_or_else(|| short(time), |unit| format!("{} {unit}", short(time)));
    let data = json!({
        "steps": moments.iter().map(|(step, time)| json!({ "step": step, "time": time.map(of_time) })).collect::<Vec<_>>(),
        "figures": figures.iter().enumerate().map(of_figure).collect::<Vec<_>>(),
    });
    // A text within data must not end the element.
    let data = data.to_string().replace('<', "\\u003c");
    let title = escaped(&run.program);
    let mut page = String::with_capacity(TEMPLATE.len() + body.len() + data.len());
    // One after the other, so that no text that is put in is searched.
    let parts = [("@TITLE@", title), ("@BODY@", body), ("@DATA@", data)];
    let mut rest = TEMPLATE;
    for (mark, text) in &parts {
        if let Some((before, after)) = rest.split_once(mark) {
            page.push_str(before);
            page.push_str(text);
            rest = after;
        }
    }
    page.push_str(rest);
    Ok(Picture { bytes: page.into_bytes(), notes })
}

/// An SVG whose clip paths have ids with a prefix, since several SVGs of a page share ids.
fn with_prefix(svg: &str, prefix: &str) -> String {
    svg.replace("id=\"clip", &format!("id=\"{prefix}clip")).replace("url(#clip", &format!("url(#{prefix}clip"))
}

/// Leaves out steps until the frames fit.
fn thin(figures: &mut [Figure], notes: &mut Vec<String>) {
    let bytes = |figures: &[Figure]| figures.iter().flat_map(|figure| &figure.frames).map(|frame| frame.data.len()).sum::<usize>();
    let longest = |figures: &[Figure]| figures.iter().map(|figure| figure.frames.len()).max().unwrap_or(0);
    let before = longest(figures);
    while bytes(figures) > MAX_BYTES && longest(figures) > 2 {
        for figure in figures.iter_mut() {
            let n = figure.frames.len();
            let kept = evenly(n, n.div_ceil(2).max(2));
            let mut index = 0..;
            figure.frames.retain(|_| index.next().is_some_and(|index| kept.contains(&index)));
        }
    }
    let after = longest(figures);
    if after < before {
        notes.push(format!("{after} of {before} steps are shown, evenly chosen, so that the page stays below 5 MB"));
    }
}

/// The steps of all diagrams, with their times.
fn moments(figures: &[Figure]) -> Vec<(u64, Option<f64>)> {
    let all = figures.iter().flat_map(|figure| &figure.frames).map(|frame| (frame.step, frame.time));
    all.collect::<BTreeMap<u64, Option<f64>>>().into_iter().collect()
}

fn slider(n: usize) -> String {
    let last = n.saturating_sub(1);
    format!(
        "<h2>Outputs</h2>\n<div class=\"steps\"><button id=\"play\" type=\"button\">Play</button>\
         <input id=\"step\" type=\"range\" min=\"0\" max=\"{last}\" value=\"{last}\" aria-label=\"step\"><output id=\"moment\" for=\"step\"></output></div>\n"
    )
}

fn section(title: &str, content: &str) -> String {
    if content.is_empty() { String::new() } else { format!("<h2>{title}</h2>\n{content}\n") }
}

/// Heading: the program, how it ended, and where it ran.
fn head(run: &Run) -> String {
    let record = &run.record;
    let text = |value: &Value| value.as_str().map(str::to_owned).unwrap_or_default();
    let class = match run.state.as_str() {
        "done" => "",
        "running" | "interrupted" => " open",
        _ => " bad",
    };
    let mut out = format!("<h1>{} <span class=\"state{class}\">{}</span></h1>\n", escaped(&run.program), escaped(&run.state));
    out.push_str(&failure(record, &Texts::of(record)));
    let grid = match &run.boxes {
        Some((n, _)) => format!("{} cells, {}", run.n_cells, n.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")),
        None => format!("{} cells", run.n_cells),
    };
    let mut rows = vec![
        ("program", format!("{}, text {}", text(&record["program"]["file"]), text(&record["program"]["hash"]))),
        ("grid", grid),
        ("back-end", text(&record["back_end"])),
        ("started", text(&record["started"])),
        ("ended", text(&record["ended"])),
    ];
    if let Some(mode) = record["mode"].as_str() {
        rows.push(("mode", mode.to_owned()));
    }
    if let Some(time) = record["seconds"].as_f64() {
        rows.push(("time", seconds(time)));
    }
    if let Some(host) = record["process"]["host"].as_str() {
        rows.push(("machine", host.to_owned()));
    }
    let row = |(name, value): &(&str, String)| format!("<tr><th>{name}</th><td>{}</td></tr>", escaped(value));
    let rows: String = rows.iter().filter(|(_, value)| !value.is_empty()).map(row).collect();
    out.push_str(&format!("<table>{rows}</table>\n"));
    out
}

/// The error of a run: its message, its lines in the program, and its hint.
fn failure(record: &Value, texts: &Texts) -> String {
    let Some(error) = record["error"].as_str() else { return String::new() };
    let place = |line: &Value| {
        let line = line.as_u64()?;
        Some(match texts.line(line) {
            Some((place, text)) => format!("<br>{}: <code>{}</code>", escaped(&place), escaped(text)),
            None => format!("<br>line {line}"),
        })
    };
    let places: String = record["lines"].as_array().into_iter().flatten().filter_map(place).collect();
    let hint = record["hint"].as_str().map_or_else(String::new, |hint| format!("<br>hint: {}", escaped(hint)));
    format!("<p class=\"error\">{}{places}{hint}</p>\n", escaped(error))
}

/// The last number of each column of the table.
fn final_values(run: &Run, series: &[Series]) -> String {
    let row = |series: &Series| {
        let [at, value] = series.points.last()?;
        let unit = run.units.output(&series.name).unwrap_or_default();
        let name = escaped(&series.name);
        Some(format!(
            "<tr><th>{name}</th><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td></tr>",
            digits(*value),
            escaped(unit),
            short(*at)
        ))
    };
    let rows: String = series.iter().filter_map(row).take(MAX_ROWS).collect();
    if rows.is_empty() {
        return String::new();
    }
    let at = match series.iter().any(|series| series.has_times) {
        true => with_unit("time", run.units.time.as_deref()),
        false => "step".to_owned(),
    };
    format!(
        "<div class=\"wide\"><table id=\"values\"><tr><th>output</th><th>value</th><th>unit</th><th>{}</th></tr>{rows}</table></div>",
        escaped(&at)
    )
}

/// A number in the fewest digits that read back as the same one.
fn digits(value: f64) -> String {
    if value == 0.0 || (1e-4..1e9).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

fn parameters(record: &Value) -> String {
    let Some(parameters) = record["parameters"].as_object() else { return String::new() };
    let row = |(key, parameter): (&String, &Value)| {
        let cell = |value: &Value| escaped(&shortened(value.as_str().unwrap_or_default()));
        format!("<tr><th>{}</th><td>{}</td><td>{}</td></tr>", escaped(key), cell(&parameter["value"]), cell(&parameter["origin"]))
    };
    let rows: String = parameters.iter().take(MAX_ROWS).map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("<div class=\"wide\"><table id=\"parameters\"><tr><th>key</th><th>value</th><th>from</th></tr>{rows}</table></div>")
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Seconds of each phase, with bars.
fn phases(log: &Log) -> String {
    let all: f64 = log.phases.iter().map(|(_, seconds)| seconds).sum();
    if log.phases.is_empty() || all <= 0.0 {
        return String::new();
    }
    let row = |(name, time): &(String, f64)| {
        let share = time / all * 100.0;
        format!(
            "<tr><th>{}</th><td class=\"n\">{}</td><td class=\"n\">{share:.1}%</td><td><span class=\"bar\" style=\"width:{:.0}px\"></span></td></tr>",
            escaped(name),
            seconds(*time),
            share * 2.0
        )
    };
    format!(
        "<table id=\"phases\"><tr><th>phase</th><th>time</th><th>share</th><th></th></tr>{}</table>",
        log.phases.iter().map(row).collect::<String>()
    )
}

/// Audit of the run, from its record or its log: rows of names and values.
fn audit(run: &Run, log: &Log) -> String {
    let found = if run.record["audit"].is_null() { log.audit.as_ref() } else { Some(&run.record["audit"]) };
    let Some(found) = found else { return String::new() };
    let rows: Vec<&Value> = match found.as_array().or_else(|| found["quantities"].as_array()) {
        Some(rows) => rows.iter().collect(),
        None => vec![found],
    };
    let mut columns: Vec<&String> = Vec::new();
    for key in rows.iter().filter_map(|row| row.as_object()).flat_map(|row| row.keys()) {
        if key != "event" && !columns.contains(&key) {
            columns.push(key);
        }
    }
    let cell = |value: &Value| match value {
        Value::Number(number) => format!("<td class=\"n\">{}</td>", number.as_f64().map_or_else(String::new, short)),
        Value::String(text) => format!("<td>{}</td>", escaped(text)),
        Value::Null => "<td></td>".to_owned(),
        other => format!("<td>{}</td>", escaped(&other.to_string())),
    };
    let head: String = columns.iter().map(|column| format!("<th>{}</th>", escaped(column))).collect();
    let row = |row: &&Value| format!("<tr>{}</tr>", columns.iter().map(|column| cell(&row[column.as_str()])).collect::<String>());
    let body: String = rows.iter().take(MAX_ROWS).map(row).collect();
    if columns.is_empty() { String::new() } else { format!("<div class=\"wide\"><table id=\"audit\"><tr>{head}</tr>{body}</table></div>") }
}

fn list(remarks: &[String]) -> String {
    if remarks.is_empty() {
        return String::new();
    }
    let item = |remark: &String| format!("<li>{}</li>", escaped(remark));
    format!("<ul class=\"notes\">{}</ul>", remarks.iter().take(MAX_ROWS).map(item).collect::<String>())
}

/// Lines that do not change from step to step; ids begin with a prefix.
fn diagrams(panels: &[LinePanel], prefix: &str) -> String {
    if panels.is_empty() {
        return String::new();
    }
    let of = |(number, panel): (usize, &LinePanel)| {
        let text = svg::text(&draw(&[Panel::Lines(panel.clone())], 560, 360));
        format!("<figure aria-label=\"{}\">{}</figure>", escaped(&panel.title), with_prefix(&text, &format!("{prefix}{number}-")))
    };
    format!("<div class=\"figures\">{}</div>", panels.iter().enumerate().map(of).collect::<String>())
}
