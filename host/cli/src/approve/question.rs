//! Text that a human sees of a call: one screen at most, with the arguments last.

use std::io;

use serde_json::Value;
use tollhouse::gate::{ApprovalRequest, BudgetKind, Cost, RankedArgument};
use tollhouse::tool::UnansweredCall;
use unicode_width::UnicodeWidthChar as _;

use super::super::terminal_escape::escape_strictly;
use super::super::{format, show};

/// Rows and columns of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TerminalSize {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// Smallest size into which a question fits.
pub(super) const LEAST: TerminalSize = TerminalSize { rows: 12, columns: 50 };

/// Most lines about budgets.
const MAX_COSTS: usize = 2;

/// Returns the question, in lines that fit the terminal's columns and leave a row free. The method and its arguments
/// are directly above the prompt.
pub(super) fn text(request: &ApprovalRequest<'_>, word: &str, is_dry_run: bool, size: TerminalSize) -> String {
    let cut = |line: String| fitted(&line, size.columns - 1);
    let dry_run = if is_dry_run { "dry run, nothing is called: " } else { "" };
    let mut lines = vec![
        cut(format!("{dry_run}grant `{}` asks you about a call", request.grant)),
        cut(format!("  caller   {}", caller(request))),
        cut(format!("  because  {}", request.reason)),
    ];
    lines.extend(costs(request.costs).into_iter().map(cut));
    lines.push(cut(format!("  method   {}", request.method)));
    let prompt = [
        format!("Type `{word}` and Enter to allow this call,"),
        "`v` to see all of it, anything else to refuse: ".to_owned(),
    ];
    let room = size.rows.saturating_sub(1 + lines.len() + prompt.len());
    lines.extend(arguments(&request.ranked_arguments(), room, size.columns - 1));
    lines.extend(prompt);
    lines.join("\n")
}

/// Returns the question for the result of a call of a dry run, in lines that fit the terminal's columns and leave a row
/// free. `problem` is what was wrong with the last result that was typed.
pub(super) fn result_text(call: &UnansweredCall<'_>, problem: Option<&str>, size: TerminalSize) -> String {
    let cut = |line: String| fitted(&line, size.columns - 1);
    let mut lines = vec![
        cut("dry run: what does this call return? It is not made.".to_owned()),
        cut(format!("  returns  {}", call.result_schema())),
        cut(format!("  method   {}", call.method())),
    ];
    let mut prompt: Vec<String> =
        problem.into_iter().map(|problem| cut(format!("That is no result: {problem}"))).collect();
    prompt.push("Type its result as JSON and Enter, `v` to see all".to_owned());
    prompt.push("of it, Enter alone for an error in the script: ".to_owned());
    let room = size.rows.saturating_sub(1 + lines.len() + prompt.len());
    lines.extend(arguments(&nulls_last(call.arguments()), room, size.columns - 1));
    lines.extend(prompt);
    lines.join("\n")
}

/// Describes who makes the call.
fn caller(request: &ApprovalRequest<'_>) -> String {
    let tools = request.callers.iter().map(|caller| format!("`{}` (call {})", caller.method, caller.seq));
    match tools.collect::<Vec<_>>().join(", which called ") {
        tools if tools.is_empty() => match request.location {
            Some(location) => format!("the script, at {}:{}", location.file, location.line),
            None => "the script".to_owned(),
        },
        tools => format!("not the script itself, but {tools}"),
    }
}

/// Describes the amounts that the call takes from budgets.
fn costs(costs: &[Cost]) -> Vec<String> {
    let told = |cost: &Cost| {
        let kind = if cost.kind == BudgetKind::Calls { "calls" } else { "spend" };
        let Cost { amount, limit, remaining, grant, .. } = cost;
        format!("{amount} of the {limit} {kind} of `{grant}`, then {remaining} are left")
    };
    let mut lines: Vec<String> = costs.iter().take(MAX_COSTS).map(told).collect();
    match (lines.last_mut(), costs.len().saturating_sub(MAX_COSTS)) {
        (None, _) => lines.push("nothing of any budget".to_owned()),
        (Some(last), 1..) => *last = format!("and {} more budgets", costs.len() + 1 - MAX_COSTS),
        _ => {}
    }
    lines.into_iter().map(|line| format!("  costs    {line}")).collect()
}

/// Lists the arguments of a call that nobody decides about: null ones last.
fn nulls_last(arguments: &Value) -> Vec<RankedArgument<'_>> {
    let all = arguments.as_object().into_iter().flatten();
    let (nulls, given): (Vec<_>, Vec<_>) =
        all.map(|(name, value)| RankedArgument { name, value, is_declared: true }).partition(|one| one.value.is_null());
    given.into_iter().chain(nulls).collect()
}

/// Formats the arguments, one line each, within the given number of lines.
fn arguments(all: &[RankedArgument<'_>], room: usize, columns: usize) -> Vec<String> {
    if all.is_empty() {
        return vec!["    no arguments".to_owned()];
    }
    let shown = if all.len() > room { room.saturating_sub(1) } else { all.len() };
    let line = |RankedArgument { name, value, is_declared }: &RankedArgument<'_>| {
        // Only as much as fits the line, whatever the size of the value.
        let mut head = TruncatedText { bytes: Vec::new(), room: columns * 4, all: 0 };
        serde_json::to_writer(&mut head, value).expect("a JSON value serialises, and counting does not fail");
        let mark = if *is_declared { "" } else { "(not declared) " };
        fitted_value(&fitted(&format!("    {mark}{}: ", show::name(name)), columns / 2), &head, columns)
    };
    let mut lines: Vec<String> = all.iter().take(shown).map(line).collect();
    if shown < all.len() {
        lines.push(fitted(&format!("    … {} more arguments: `v` shows them", all.len() - shown), columns));
    }
    lines
}

/// Escapes hidden characters of a line, and truncates it to the columns.
fn fitted(line: &str, columns: usize) -> String {
    let line = plain(line);
    if width(&line) <= columns { line } else { format!("{}…", beginning(&line, columns - 1)) }
}

/// Formats a line that ends with the beginning of a value, like [`fitted`]; truncation is shown.
fn fitted_value(name: &str, value: &TruncatedText, columns: usize) -> String {
    let line = plain(&format!("{name}{}", String::from_utf8_lossy(&value.bytes)));
    if width(&line) <= columns && value.all == value.bytes.len() as u64 {
        return line;
    }
    let end = format!(" … ({} in all: `v` shows it)", format::size(value.all));
    beginning(&line, columns.saturating_sub(width(&end))).to_owned() + &end
}

/// Formats a text as one line, with hidden characters escaped.
fn plain(text: &str) -> String {
    escape_strictly(&text.replace(['\n', '\t'], " "))
}

fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Returns the part of a line that fits the columns.
fn beginning(line: &str, columns: usize) -> &str {
    let mut taken = 0;
    for (at, c) in line.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken > columns {
            return &line[..at];
        }
    }
    line
}

/// Beginning of a text that is written, and its total length.
struct TruncatedText {
    bytes: Vec<u8>,
    room: usize,
    all: u64,
}

impl io::Write for TruncatedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let more = bytes.len().min(self.room.saturating_sub(self.bytes.len()));
        self.bytes.extend_from_slice(&bytes[..more]);
        self.all += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Pages of the whole call, each of which asks whether to continue.
pub(super) struct CallPages {
    text: String,
    at: usize,
    size: TerminalSize,
}

impl CallPages {
    pub(super) fn of(request: &ApprovalRequest<'_>, size: TerminalSize) -> Self {
        let arguments = serde_json::to_string_pretty(request.arguments).expect("a JSON value serialises");
        let head = format!(
            "grant `{}`: {}\n{} is called by {}, with\n",
            request.grant,
            request.reason,
            request.method,
            caller(request)
        );
        Self { text: escape_strictly(&(head + &arguments)), at: 0, size }
    }

    pub(super) fn of_unanswered(call: &UnansweredCall<'_>, size: TerminalSize) -> Self {
        let [arguments, result] = [call.arguments(), &call.result_schema()]
            .map(|value| serde_json::to_string_pretty(value).expect("a JSON value serialises"));
        let text = format!("{} is called with\n{arguments}\nand returns\n{result}", call.method());
        Self { text: escape_strictly(&text), at: 0, size }
    }
}

impl Iterator for CallPages {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.at >= self.text.len() {
            return None;
        }
        let mut page = String::new();
        for _ in 0..self.size.rows - 2 {
            let line = self.text[self.at..].split_inclusive('\n').next()?;
            let shown = beginning(line.trim_end_matches('\n'), self.size.columns - 1);
            // A character that is wider than the screen would otherwise never be passed.
            let taken = if shown.is_empty() { line.chars().next().map_or(0, char::len_utf8) } else { shown.len() };
            let ends = taken >= line.trim_end_matches('\n').len();
            page += shown;
            page.push('\n');
            self.at += if ends { line.len() } else { taken };
            if self.at >= self.text.len() {
                break;
            }
        }
        page += if self.at >= self.text.len() {
            "-- the end: Enter goes back to the question: "
        } else {
            "-- Enter: more, `q` and Enter: the question: "
        };
        Some(page)
    }
}
