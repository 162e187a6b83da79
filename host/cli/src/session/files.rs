//! `tollhouse session files`, `cat`, `put`, `get` and `diff`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use tollhouse::session::{Point, SessionId, Sessions, SessionsError};
use tollhouse::vfs::{ChangeKind, Errno, Kind, Mounted, SnapshotId, Tree, UnifiedLimits, changed_paths, now, unified};
use tollhouse_registry::untrusted_file;

use super::super::locations::{Locations, waiting};
use super::super::{CliError, Result, format, show, terminal_escape};
use crate::Exit;

/// List the files of a session
#[derive(Args)]
pub(crate) struct ListFilesCommand {
    /// The files: SESSION, SESSION@RUN or SESSION@LABEL
    #[arg(value_name = "POINT")]
    point: Point,
    /// The directory to list
    #[arg(value_name = "PATH", default_value = "/workspace")]
    path: String,
    /// Print an array of {path, kind, size, mode, modified}
    #[arg(long)]
    json: bool,
}

/// Print a file of a session
#[derive(Args)]
pub(crate) struct CatFileCommand {
    /// The files: SESSION, SESSION@RUN or SESSION@LABEL
    #[arg(value_name = "POINT")]
    point: Point,
    /// The file
    #[arg(value_name = "PATH")]
    path: String,
    /// Print one JSON object: {path, size, mode, modified, text}, or {base64} instead of text that is not UTF-8
    #[arg(long)]
    json: bool,
}

/// Copy a file or a directory of this machine into a session
///
/// This is a change like any other: it has a number, and can be rolled back. A directory is copied to a path that does
/// not exist yet, or to an empty directory.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session put report data.csv /workspace/data.csv
  tollhouse session put report ./data /workspace/data --read-only
  generate | tollhouse session put report - /workspace/data.csv")]
pub(crate) struct PutFileCommand {
    /// The session
    #[arg(value_name = "ID")]
    id: SessionId,
    /// The file or directory, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The path in the session
    #[arg(value_name = "PATH")]
    path: String,
    /// Keep scripts from changing it
    #[arg(long)]
    read_only: bool,
    /// Print one JSON object: session, run, snapshot
    #[arg(long)]
    json: bool,
}

/// Copy a file or a directory of a session to this machine
///
/// Links are left out, so that nothing that a script made leads anywhere on this machine; existing files are not
/// replaced.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session get report /workspace/out.csv
  tollhouse session get report@3 /workspace/out.csv - | head")]
pub(crate) struct GetFileCommand {
    /// The files: SESSION, SESSION@RUN or SESSION@LABEL
    #[arg(value_name = "POINT")]
    point: Point,
    /// The file or directory
    #[arg(value_name = "PATH")]
    path: String,
    /// The destination, or `-` for standard output (a file, not a directory) [default: its name, in the current
    /// directory]
    #[arg(value_name = "FILE")]
    to: Option<PathBuf>,
    /// Print one JSON object: files, bytes
    #[arg(long)]
    json: bool,
}

/// Show the differences between two points
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session diff report@1 report
  tollhouse session diff report@0 report@good --unified
  tollhouse session diff report            what its last run changed")]
pub(crate) struct DiffSessionCommand {
    /// The files before
    #[arg(value_name = "POINT")]
    from: Point,
    /// The files after; without them, what the run of POINT changed
    #[arg(value_name = "POINT")]
    to: Option<Point>,
    /// Show changed lines, as `diff -u` and git do
    #[arg(short, long)]
    unified: bool,
    /// Print an array of {path, change}
    #[arg(long, conflicts_with = "unified")]
    json: bool,
}

fn tree(locations: &Locations, point: &Point) -> Result<Tree> {
    locations.sessions()?.reader().files(point).map_err(|error| super::failed("cannot read the session", &error))
}

/// Creates the error of a path that is not one of a session, if it is none.
fn refuse_relative(path: &str) -> Result<()> {
    if path.starts_with('/') {
        return Ok(());
    }
    Err(CliError::usage(format!("`{path}` is not a path of a session"))
        .hint(format!("paths of a session begin with `/`: `/workspace/{path}`?")))
}

fn at(point: &Point, path: &str) -> impl Fn(Errno) -> CliError {
    let what = format!("cannot read `{path}` of `{point}`");
    let hint = (!path.starts_with('/')).then(|| format!("paths of a session begin with `/`: `/workspace/{path}`?"));
    move |errno| {
        let error = CliError::because(what.clone(), &errno);
        hint.iter().fold(error, |error, hint| error.hint(hint))
    }
}

impl ListFilesCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let tree = tree(locations, &self.point)?;
        let mut listed = Vec::new();
        let mut next = vec![self.path.clone()];
        while let Some(path) = next.pop() {
            let failed = at(&self.point, &path);
            let stat = tree.stat(&path, path == self.path).map_err(&failed)?;
            if path != self.path || stat.kind != Kind::Directory {
                let modified = format::time(stat.modified);
                let kind = word(stat.kind);
                let mode = format!("{:04o}", stat.mode);
                if self.json {
                    listed.push(
                        json!({ "path": path, "kind": kind, "size": stat.size, "mode": mode, "modified": modified }),
                    );
                } else {
                    let size = if stat.kind == Kind::Directory { String::new() } else { format::size(stat.size) };
                    let end = match stat.kind {
                        Kind::Link => format!(" -> {}", tree.read_link(&path).map_err(&failed)?.escape_debug()),
                        Kind::Directory => "/".to_owned(),
                        _ => String::new(),
                    };
                    show::line(format_args!(
                        "{mode} {size:>12}  {}  {}{end}",
                        format::short_time(stat.modified),
                        path.escape_debug()
                    ));
                }
            }
            if stat.kind == Kind::Directory {
                let entries = tree.read_directory(&path).map_err(&failed)?;
                let above = path.trim_end_matches('/');
                next.extend(entries.iter().rev().map(|entry| format!("{above}/{}", entry.name)));
            }
        }
        if self.json {
            show::json_pretty(&listed);
        }
        Ok(Exit::SUCCESS)
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        _ => "link",
    }
}

/// Bytes of a file that are in memory at once.
const PIECE: u64 = 1 << 20;

/// Copies a file of a session.
pub(crate) fn copy(tree: &Tree, path: &str, failed: &dyn Fn(Errno) -> CliError, to: &mut dyn io::Write) -> Result<u64> {
    let content = tree.content(path).map_err(failed)?;
    let mut written = 0;
    while written < content.len() {
        let piece = content.read(written, PIECE).map_err(failed)?;
        to.write_all(&piece)
            .map_err(|error| CliError::because(format!("cannot write the contents of `{path}`"), &error))?;
        written += piece.len() as u64;
    }
    Ok(written)
}

impl CatFileCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let tree = tree(locations, &self.point)?;
        let failed = at(&self.point, &self.path);
        if self.json {
            let stat = tree.stat(&self.path, true).map_err(&failed)?;
            let mut shown = json!({
                "path": self.path,
                "size": stat.size,
                "mode": format!("{:04o}", stat.mode),
                "modified": format::time(stat.modified),
            });
            match String::from_utf8(tree.read_file(&self.path).map_err(&failed)?) {
                Ok(text) => shown["text"] = text.into(),
                Err(error) => shown["base64"] = base64(error.as_bytes()).into(),
            }
            show::json(&shown);
            return Ok(Exit::SUCCESS);
        }
        copy(&tree, &self.path, &failed, &mut terminal_escape::contents())?;
        Ok(Exit::SUCCESS)
    }
}

fn base64(bytes: &[u8]) -> String {
    base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes)
}

impl PutFileCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        refuse_relative(&self.path)?;
        if self.read_only || self.file.is_dir() {
            return self.import(locations);
        }
        let sessions = locations.sessions()?;
        let failed = |error| super::failed("cannot put the file", &error);
        // No file of the session may be larger.
        let most = sessions.reader().policy(&self.id).map_err(failed)?.limits.files;
        let read = match self.file.to_str() {
            Some("-") => untrusted_file::read_limited(io::stdin(), most),
            _ => untrusted_file::read_named(&self.file, most),
        };
        let bytes = read.map_err(|error| {
            CliError::because(format!("cannot read `{}`", self.file.display()), &io::Error::from(error))
        })?;
        let now = now();
        let what = format!("put {}", self.path);
        let path = &self.path;
        let snapshot = sessions.change(&self.id, &what, waiting(&self.id), |files| {
            let put = files.place_file(path, &bytes, 0o644, now);
            put.map_err(|source| SessionsError::File { path: path.clone(), source })
        });
        self.print_report(&sessions, snapshot.map_err(failed)?, &format::size(bytes.len() as u64))
    }

    /// Copies a directory, or a file that scripts cannot change, as `run --mount` does.
    fn import(&self, locations: &Locations) -> Result {
        let sessions = locations.sessions()?;
        let failed = |error| super::failed(&format!("cannot put `{}`", self.file.display()), &error);
        let mut mounted = Mounted::default();
        let snapshot = sessions.change(&self.id, &format!("put {}", self.path), waiting(&self.id), |files| {
            mounted = files.mount_directory(&self.file, &self.path, self.read_only, now())?;
            Ok(())
        });
        let snapshot = snapshot.map_err(failed)?;
        for skipped in &mounted.skipped {
            note!("warning: `{}` is not copied in: {}", skipped.path.display(), skipped.reason);
        }
        self.print_report(&sessions, snapshot, if self.read_only { "read-only" } else { "a directory" })
    }

    fn print_report(&self, sessions: &Sessions, snapshot: SnapshotId, amount: &str) -> Result {
        let shown = sessions.show(&self.id).map_err(|error| super::failed("cannot show the session", &error))?;
        let run = shown.head.left_by;
        if self.json {
            show::json(&json!({ "session": self.id, "run": run, "snapshot": snapshot.to_string() }));
        } else {
            show::line(format_args!("{}@{run} has {} ({amount})", self.id, self.path));
        }
        Ok(Exit::SUCCESS)
    }
}

impl GetFileCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let tree = tree(locations, &self.point)?;
        if self.to.as_deref() == Some(Path::new("-")) {
            return self.pipe(&tree);
        }
        let name = self.path.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty());
        let to = match (&self.to, name) {
            (Some(to), _) => to.clone(),
            (None, Some(name)) => PathBuf::from(name),
            (None, None) => return Err(CliError::usage("name the destination: `/` has no name")),
        };
        let mut taken = CopyProgress { tree: &tree, point: &self.point, files: 0, bytes: 0 };
        taken.entry(&self.path, &to, true)?;
        if self.json {
            show::json(&json!({ "files": taken.files, "bytes": taken.bytes }));
        } else {
            note!("{}, {}", format::count(taken.files, "file"), format::size(taken.bytes));
        }
        Ok(Exit::SUCCESS)
    }

    /// Copies a file to standard output.
    fn pipe(&self, tree: &Tree) -> Result {
        if self.json {
            return Err(CliError::usage("`--json` and `-` both take standard output").hint("leave one of them out"));
        }
        let failed = at(&self.point, &self.path);
        if tree.stat(&self.path, true).map_err(&failed)?.kind == Kind::Directory {
            return Err(CliError::usage(format!(
                "`{}` is a directory: only a file can go to standard output",
                self.path
            ))
            .hint("name a directory here to copy it to"));
        }
        copy(tree, &self.path, &failed, &mut terminal_escape::contents())?;
        Ok(Exit::SUCCESS)
    }
}

/// Progress of copying out.
struct CopyProgress<'t> {
    tree: &'t Tree,
    point: &'t Point,
    files: u64,
    bytes: u64,
}

impl CopyProgress<'_> {
    /// Copies an entry. Recursion is bounded by the tree's depth.
    fn entry(&mut self, path: &str, to: &Path, first: bool) -> Result<()> {
        let failed = at(self.point, path);
        let cannot = |error: io::Error| CliError::because(format!("cannot write `{}`", to.display()), &error);
        match self.tree.stat(path, first).map_err(&failed)?.kind {
            Kind::Directory => {
                fs::create_dir(to).map_err(cannot)?;
                for entry in self.tree.read_directory(path).map_err(&failed)? {
                    let below = format!("{}/{}", path.trim_end_matches('/'), entry.name);
                    self.entry(&below, &to.join(&entry.name), false)?;
                }
            }
            Kind::File => {
                let mut file = fs::File::create_new(to).map_err(cannot)?;
                let copied = copy(self.tree, path, &failed, &mut file);
                let copied = copied.and_then(|bytes| file.flush().map(|()| bytes).map_err(cannot));
                // A part of a file is not left under the name of the whole.
                self.bytes += copied.inspect_err(|_| drop(fs::remove_file(to)))?;
                self.files += 1;
            }
            _ => note!("warning: the link `{}` is left out", path.escape_debug()),
        }
        Ok(())
    }
}

impl DiffSessionCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let sessions = locations.sessions()?;
        let failed = |error| super::failed("cannot read the session", &error);
        let (old, after) = match &self.to {
            Some(to) => (sessions.reader().files(&self.from), to),
            None => (sessions.reader().base(&self.from), &self.from),
        };
        let (old, new) = (old.map_err(failed)?, sessions.reader().files(after).map_err(failed)?);
        let cannot = |errno: Errno| CliError::because("cannot read what differs", &errno);
        if self.unified {
            let text = unified(&old, &new, &UnifiedLimits::default()).map_err(cannot)?;
            // Standard output keeps its first error.
            let _ = terminal_escape::contents().write_all(text.as_bytes());
            return Ok(Exit::SUCCESS);
        }
        let changes = changed_paths(&old, &new).map_err(cannot)?;
        if self.json {
            let listed: Vec<Value> =
                changes.iter().map(|change| json!({ "path": change.path, "change": changed(change.kind).1 })).collect();
            show::json_pretty(&listed);
            return Ok(Exit::SUCCESS);
        }
        for change in &changes {
            show::line(format_args!("{} {}", changed(change.kind).0, change.path.escape_debug()));
        }
        Ok(Exit::SUCCESS)
    }
}

fn changed(kind: ChangeKind) -> (char, &'static str) {
    match kind {
        ChangeKind::Added => ('A', "added"),
        ChangeKind::Removed => ('D', "removed"),
        _ => ('M', "modified"),
    }
}
