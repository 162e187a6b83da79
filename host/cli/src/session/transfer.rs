//! `tollhouse session export` and `import`.

use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::json;
use tollhouse::capability::parse_bytes;
use tollhouse::session::{
    Exported, ImportBudget, ImportOptions, Imported, ImportedBudget, RecordStatus, SessionId, Sessions, SessionsError,
};
use tollhouse_registry::untrusted_file;

use super::super::confine::{ConfineArgs, Confinement};
use super::super::locations::{Locations, waiting};
use super::super::progress::Progress;
use super::super::stdio::Stdout;
use super::super::{CliError, Result, format, show};
use crate::Exit;

/// Export a session to one file, to continue it elsewhere
///
/// The file holds its policy, budgets, log, and the files that each run left, but no secrets. `tar --zstd -tf FILE` lists
/// what is in it. It is a copy: a run that waits or was interrupted stays here.
///
/// With `--hand-over` the session moves: the file has its unfinished run too, which is resumed where the file is imported.
/// Here it is not run or resumed any more, and can be forked; what is left of its budgets goes along, unless its forks
/// share them. Whoever has the file has the session: a store imports it once, but two stores can.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session export report report.tlh
  tollhouse session export report report.tlh --hand-over")]
pub(crate) struct ExportSessionCommand {
    /// The session
    #[arg(value_name = "ID")]
    id: SessionId,
    /// The file, or `-` for standard output
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Move the session, with its unfinished run: it does not continue here
    #[arg(long)]
    hand_over: bool,
    /// Replace an existing file
    #[arg(short, long)]
    force: bool,
    /// Print one JSON object: session, blobs, bytes, and the identifier of a hand-over
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing
    #[arg(short, long)]
    quiet: bool,
}

/// Import a session from a file that `export` wrote
///
/// Everything in the file is checked before the session exists. Its policy comes with it: inspect it with `session
/// show` before you run anything. The tools that it was created with must be in the registry.
///
/// Its budgets are those of the exported session, if that or a fork of it is in this store: together they spend no
/// more. In another store its budgets are exhausted, unless `--budget` says otherwise; the session's log records the
/// decision.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session import report.tlh
  tollhouse session import report.tlh --budget keep
  tollhouse session import - again < report.tlh")]
pub(crate) struct ImportSessionCommand {
    /// The file, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Its name in this store [default: its name in the export]
    #[arg(value_name = "ID")]
    id: Option<SessionId>,
    /// The largest size that it may have, unpacked
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "16GiB")]
    limit: u64,
    /// Give it budgets of its own: `keep`, the amounts that were left at the export, or `fresh`, the full amounts of
    /// its policy
    #[arg(long, value_name = "keep|fresh", value_parser = budget)]
    budget: Option<ImportBudget>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: session, snapshot, budget (none, shared, exhausted, keep or fresh), hand_over (null, or {runs,
    /// unfinished, waiting, decisions})
    #[arg(long)]
    json: bool,
}

/// Parses `--budget` of an import.
fn budget(text: &str) -> std::result::Result<ImportBudget, String> {
    match text {
        "keep" => Ok(ImportBudget::Keep),
        "fresh" => Ok(ImportBudget::Fresh),
        _ => Err("it is `keep` or `fresh`".to_owned()),
    }
}

/// Returns the name of an import's budgets.
fn word(budget: ImportedBudget) -> &'static str {
    match budget {
        ImportedBudget::None => "none",
        ImportedBudget::Shared => "shared",
        ImportedBudget::Kept => "keep",
        ImportedBudget::Fresh => "fresh",
        _ => "exhausted",
    }
}

impl ExportSessionCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        if self.json && self.file == Path::new("-") {
            return Err(CliError::usage("`--json`: standard output is the exported file")
                .hint("name a file, or leave `--json` out"));
        }
        let sessions = locations.sessions()?;
        let cannot = |error: io::Error| CliError::because(format!("cannot write `{}`", self.file.display()), &error);
        let failed = |error| super::failed("cannot export", &error);
        let progress = Progress::new(format!("exporting {}", self.id));
        if self.file == Path::new("-") {
            let out = io::BufWriter::new(progress.count(Stdout));
            let (mut out, _) = self.write(&sessions, out).map_err(failed)?;
            out.flush().map_err(cannot)?;
            return Ok(Exit::SUCCESS);
        }
        let written = write_file(&self.file, self.force, |out| {
            self.write(&sessions, progress.count(out)).map(|(_, exported)| exported).map_err(failed)
        });
        drop(progress);
        let (exported, bytes) = written?;
        if self.json {
            let hand_over = exported.hand_over.map(|hand_over| hand_over.id);
            show::json(&json!({ "session": self.id, "blobs": exported.blobs, "bytes": bytes, "hand_over": hand_over }));
        } else if !self.quiet {
            show::line(format_args!("{} ({}, {} blobs)", self.file.display(), format::size(bytes), exported.blobs));
        }
        Ok(Exit::SUCCESS)
    }

    fn write<W: io::Write>(&self, sessions: &Sessions, out: W) -> std::result::Result<(W, Exported), SessionsError> {
        match self.hand_over {
            true => sessions.transfer().hand_over(&self.id, out, waiting(&self.id)),
            false => sessions.transfer().export(&self.id, out),
        }
    }
}

/// Writes a file, which is under its name only when it is complete and durable. Returns what `write` returned, and the
/// number of bytes.
pub(crate) fn write_file<T>(
    path: &Path,
    replaces: bool,
    write: impl FnOnce(&mut io::BufWriter<&mut std::fs::File>) -> Result<T>,
) -> Result<(T, u64)> {
    let cannot = |error: io::Error| CliError::because(format!("cannot write `{}`", path.display()), &error);
    let exists = || {
        CliError::usage(format!("`{}` already exists", path.display()))
            .hint("name another file, or replace it with `--force`")
    };
    match path.symlink_metadata() {
        Ok(_) if !replaces => return Err(exists()),
        Ok(found) if !found.is_file() && !found.is_symlink() => {
            let what = if found.is_dir() { "a directory" } else { "a device, a pipe or a socket" };
            return Err(CliError::usage(format!("`{}` is {what}, and is not replaced", path.display()))
                .hint("name a file, or `-` for standard output"));
        }
        _ => {}
    }
    let directory = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(cannot)?;
    let mut out = io::BufWriter::new(file.as_file_mut());
    let written = write(&mut out)?;
    out.flush().map_err(cannot)?;
    drop(out);
    file.as_file().sync_all().map_err(cannot)?;
    let bytes = file.as_file().metadata().map_err(cannot)?.len();
    let persisted = if replaces { file.persist(path) } else { file.persist_noclobber(path) };
    persisted.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => cannot(error.error),
    })?;
    Ok((written, bytes))
}

impl ImportSessionCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        self.confine.apply(|| Confinement::of(locations, true).reading([&self.file]))?;
        let file = if self.file == Path::new("-") {
            None
        } else {
            let opened = untrusted_file::open_named(&self.file).map_err(io::Error::from);
            Some(opened.map_err(|error| CliError::because(format!("cannot read `{}`", self.file.display()), &error))?)
        };
        let sessions = locations.new_sessions()?;
        self.confine.isolate_with_store()?;
        let failed = |error| super::failed(&format!("cannot import `{}`", self.file.display()), &error);
        let progress = Progress::new(format!("importing {}", self.file.display()));
        let options = ImportOptions { name: self.id, most: self.limit, budget: self.budget };
        let imported = match file {
            None => sessions.transfer().import(progress.count(io::stdin().lock()), &options),
            Some(file) => sessions.transfer().import(BufReader::new(progress.count(file)), &options),
        };
        drop(progress);
        let Imported { session: id, budget, is_hand_over, .. } = imported.map_err(failed)?;
        let head = sessions.show(&id).map_err(failed)?.head;
        let arrived = is_hand_over.then(|| ArrivedRun::of(&sessions, &id)).transpose().map_err(failed)?;
        if let Some(arrived) = &arrived {
            arrived.note(&id);
        }
        match budget {
            ImportedBudget::Exhausted => note!(
                "nothing is left of the budgets of `{id}` here: import it with `--budget keep` or `--budget fresh` to give it some"
            ),
            ImportedBudget::Shared => {
                note!("`{id}` shares its budgets with the session that was exported, and its forks")
            }
            _ => {}
        }
        if self.json {
            show::json(&json!({
                "session": id, "snapshot": head.snapshot.to_string(), "budget": word(budget), "hand_over": arrived,
            }));
        } else {
            show::line(&id);
        }
        Ok(Exit::SUCCESS)
    }
}

/// What a hand-over brings besides files: whoever imports it takes it over as it was decided about elsewhere.
#[derive(Serialize)]
struct ArrivedRun {
    /// Number of runs.
    runs: usize,
    /// Run that can be resumed.
    unfinished: Option<u64>,
    /// Number of calls that wait for a decision.
    waiting: usize,
    /// Number of decisions that have had no effect yet.
    decisions: usize,
}

impl ArrivedRun {
    fn of(sessions: &Sessions, id: &SessionId) -> std::result::Result<Self, SessionsError> {
        // The list has changes of the files without a run, too.
        let is_run = |status| !matches!(status, RecordStatus::Created | RecordStatus::Changed);
        let runs = sessions.reader().runs(id)?.iter().filter(|(_, record)| is_run(record.status)).count();
        let calls = sessions.call_decisions().pending_calls(id)?;
        let decisions = calls.iter().filter(|call| call.decision.is_some()).count();
        let unfinished = sessions.unfinished_runs().run_of(id)?;
        Ok(Self { runs, unfinished, waiting: calls.len() - decisions, decisions })
    }

    fn note(&self, id: &SessionId) {
        let Self { runs, unfinished, waiting, decisions } = self;
        let runs = format::count(*runs as u64, "run");
        let Some(run) = unfinished else {
            return note!("the file is a hand-over: `{id}` goes on here, with {runs} that have ended");
        };
        let (waiting, decisions) =
            (format::count(*waiting as u64, "call"), format::count(*decisions as u64, "decision"));
        note!(
            "the file is a hand-over: `{id}` goes on here, with {runs}. Run {run} has not ended: {waiting} without a decision and \
             {decisions} came with it, which `tollhouse session pending {id}` shows, and `session resume {id}` carries out"
        );
    }
}
