//! Commands of the repl that begin with a dot: things that a script cannot do, or need not.

use std::str::FromStr as _;

use clap::ValueEnum as _;
use tollhouse::gate::BudgetKind;
use tollhouse::session::At;
use tollhouse::vfs::{Errno, Kind};

use super::super::run::Lang;
use super::super::session::{copy, failed};
use super::super::{CliError, Result, format, show, terminal_escape, tools};
use super::context::{ReplContext, StoredSession, WORKSPACE};

/// Outcome of an input.
pub(super) enum InputOutcome {
    /// Status of the input; the repl continues.
    Continue(u8),
    /// End of the repl, with this status or that of the last input.
    Exit(Option<u8>),
}

/// Commands: name, arguments, description.
pub(super) const COMMANDS: [(&str, &str, &str); 10] = [
    (".help", "", "list these"),
    (".lang", "[js|ts|sh]", "show the language, or switch to another one"),
    (".tools", "[METHOD]", "list the mounted tools and mark the granted ones, or show the help of one"),
    (".budgets", "", "show what is left of the budgets"),
    (".files", "[PATH]", "list a directory of the session"),
    (".cat", "PATH", "print a file of the session"),
    (".snapshot", "[LABEL]", "show the snapshot that the last input left, or label it"),
    (".rollback", "[RUN|LABEL]", "restore files and variables: as that run left them, or as the last one found them"),
    (".history", "[on|off]", "turn the history on or off, or show its file"),
    (".exit", "[STATUS]", "exit, as Ctrl-D does"),
];

/// Returns true if an input is a command, or looks like one: no script begins with a dot and a letter.
pub(super) fn is_one(input: &str) -> bool {
    let mut chars = input.trim_start().chars();
    chars.next() == Some('.') && chars.next().is_some_and(|char| char.is_ascii_alphabetic())
}

/// Executes a command. (`.history` is handled by the editor; without it there is none.)
pub(super) fn execute(context: &mut ReplContext, input: &str) -> Result<InputOutcome> {
    let words: Vec<&str> = input.split_whitespace().collect();
    let (name, words) = words.split_first().expect("it begins with a dot");
    if let Some((_, takes, _)) = COMMANDS.iter().find(|(known, ..)| known == name) {
        let most = usize::from(!takes.is_empty());
        if words.len() > most {
            return Err(CliError::usage(format!("`{name}` takes {takes}, got {} words", words.len()))
                .hint(if most == 0 { "write it by itself".to_owned() } else { format!("write `{name} {takes}`") }));
        }
    }
    let word = words.first().copied();
    match (*name, word) {
        (".help", _) => help(context),
        (".lang", None) => show::line(context.word()),
        (".lang", Some(word)) => context.lang = lang(word)?,
        (".tools", None) => tools::list(context.session.gate()),
        (".tools", Some(method)) => tools::help(context.session.gate(), method)?,
        (".budgets", _) => budgets(context),
        (".files", path) => files(context, path)?,
        (".cat", Some(path)) => cat(context, path)?,
        (".snapshot", label) => snapshot(context.stored()?, label)?,
        (".rollback", to) => rollback(context, to)?,
        (".history", _) => show::line("there is no history: standard input is not a terminal"),
        (".exit", None) => return Ok(InputOutcome::Exit(None)),
        (".exit", Some(status)) => {
            let known = u8::from_str(status);
            let known = known.map_err(|_| CliError::usage(format!("`{status}` is not a status: use 0 to 255")))?;
            return Ok(InputOutcome::Exit(Some(known)));
        }
        (".cat", None) => {
            return Err(CliError::usage("`.cat` takes a PATH").hint("`.files` lists them"));
        }
        (other, _) => return Err(unknown(other)),
    }
    Ok(InputOutcome::Continue(0))
}

fn unknown(name: &str) -> CliError {
    let near = COMMANDS.iter().map(|(known, ..)| (strsim::damerau_levenshtein(name, known), known)).min();
    CliError::usage(format!("there is no `{name}`")).hint(match near {
        Some((distance, near)) if distance <= 2 => format!("did you mean `{near}`?"),
        _ => "`.help` lists the commands".to_owned(),
    })
}

/// Returns the language with this name.
pub(super) fn lang(word: &str) -> Result<Lang> {
    Lang::from_str(word, true)
        .map_err(|_| CliError::usage(format!("there is no language `{word}`")).hint("js, ts or sh"))
}

fn help(context: &ReplContext) {
    for (name, takes, what) in COMMANDS {
        let name = format!("{name} {takes}");
        show::styled(format_args!("  {name:<24}{}", context.dim(what)));
    }
    show::line(if context.lang.is_shell() {
        "\ndirectory, variables, functions and aliases are there for the next input; traps, `set` options and `$?` are not"
    } else {
        "\nwhat is declared at the top level is there for the next input, as is `state`: values are copied, functions and\nclasses are made anew from their text, imports are made again; `_` is the last value"
    });
}

fn budgets(context: &ReplContext) {
    let budgets = context.session.gate().budgets();
    if budgets.is_empty() {
        show::line("no grant has a budget");
    }
    for budget in budgets {
        let kind = if budget.kind == BudgetKind::Calls { "calls" } else { "spend" };
        let bar = format::share(budget.used, budget.limit, 10);
        let left = budget.remaining;
        show::line(format_args!("{bar} {}: {left} of {} {kind} left", budget.grant, budget.limit));
    }
}

/// Returns a path as the current language resolves it.
pub(super) fn absolute(directory: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", directory.trim_end_matches('/')) }
}

impl ReplContext {
    /// Returns the directory in which relative paths start.
    pub(super) fn place(&self) -> &str {
        if self.lang.is_shell() { &self.directory } else { WORKSPACE }
    }
}

fn at(path: &str) -> impl Fn(Errno) -> CliError {
    let what = format!("cannot read `{path}`");
    move |errno| CliError::because(what.clone(), &errno).hint("`.files` lists the files")
}

fn files(context: &ReplContext, path: Option<&str>) -> Result<()> {
    let path = absolute(context.place(), path.unwrap_or(""));
    let tree = context.files().map_err(|error| failed("cannot read the session", &error))?;
    let failed = at(&path);
    for entry in tree.read_directory(&path).map_err(&failed)? {
        let stat = tree.stat(&format!("{}/{}", path.trim_end_matches('/'), entry.name), false).map_err(&failed)?;
        let (size, end) = match stat.kind {
            Kind::Directory => (String::new(), "/"),
            Kind::File => (format::size(stat.size), ""),
            _ => (String::new(), "@"),
        };
        show::line(format_args!("{size:>12}  {}{end}", entry.name.escape_debug()));
    }
    Ok(())
}

fn cat(context: &ReplContext, path: &str) -> Result<()> {
    let path = absolute(context.place(), path);
    let tree = context.files().map_err(|error| failed("cannot read the session", &error))?;
    copy(&tree, &path, &at(&path), &mut terminal_escape::contents()).map(drop)
}

fn snapshot(stored: &StoredSession, label: Option<&str>) -> Result<()> {
    let StoredSession { sessions, id } = stored;
    let cannot = |error| failed("cannot read the session", &error);
    let (snapshot, run) = sessions.reader().snapshot(&stored.point(At::Head)).map_err(cannot)?;
    if let Some(label) = label {
        sessions.label(id, label, Some(run)).map_err(|error| failed("cannot label", &error))?;
    }
    let labels = sessions.reader().labels(id).map_err(cannot)?;
    let labels: Vec<&str> = labels.iter().filter(|(_, of)| *of == run).map(|(label, _)| label.as_str()).collect();
    let labels = if labels.is_empty() { String::new() } else { format!("  [{}]", labels.join(", ")) };
    show::line(format_args!("{id}@{run}  {snapshot}{labels}"));
    Ok(())
}

fn rollback(context: &mut ReplContext, to: Option<&str>) -> Result<()> {
    let stored = context.stored()?;
    let StoredSession { sessions, id } = stored;
    let cannot = |error| failed("cannot roll back", &error);
    let at = match to {
        Some(text) => match text.parse() {
            Ok(run) => At::Run(run),
            Err(_) => At::Label(text.to_owned()),
        },
        None => before(stored)?,
    };
    let to = stored.point(at);
    context.interrupt.begin();
    let done = sessions.rollback(&to, context.interrupt.waiting(id));
    context.interrupt.end();
    done.map_err(|error| {
        cannot(error).hint("`.snapshot` shows where the session is, and `.snapshot LABEL` names that")
    })?;
    let run = sessions.show(id).map_err(cannot)?.head.left_by;
    show::line(format_args!("{id}@{run} has the files and variables of {to}"));
    Ok(())
}

/// Returns the revision that the last change of the session started from: the last one before it that left files.
fn before(stored: &StoredSession) -> Result<At> {
    let StoredSession { sessions, id } = stored;
    let cannot = |error| failed("cannot roll back", &error);
    let now = sessions.show(id).map_err(cannot)?.head.left_by;
    let runs = sessions.reader().runs(id).map_err(cannot)?;
    let before = runs.iter().rev().find(|(number, run)| *number < now && run.snapshot.is_some());
    match before {
        Some((number, _)) => Ok(At::Run(*number)),
        None => Err(CliError::usage(format!("there is nothing before `{id}@{now}`"))),
    }
}
