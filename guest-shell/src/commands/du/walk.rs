//! Walk through the files that are counted.

use std::collections::HashSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use bashkit::builtins::ls::glob::fnmatch;
use bashkit::builtins::{Context, place, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::fs::{Metadata, vfs_join};
use bashkit::{PlacedMessages, Result};

use super::options::{DuOptions, Following, Measure};
use crate::commands::file_status::{FmtEnv, apparent_size, blocks, nanos_of};
use crate::commands::files::quote;

/// Count of a file or of a directory with what is in it.
#[derive(Clone, Copy)]
pub(super) struct Usage {
    size: u64,
    /// Latest change, in nanoseconds since the epoch.
    newest: i128,
}

impl Usage {
    pub(super) const NOTHING: Self = Self { size: 0, newest: i128::MIN };

    /// Adds what another file takes.
    pub(super) fn add(&mut self, other: Self) {
        self.size = self.size.saturating_add(other.size);
        self.newest = self.newest.max(other.newest);
    }
}

/// Entry that is shown.
struct Shown<'a> {
    path: &'a Path,
    name: &'a str,
    depth: usize,
}

/// Walk through all operands.
pub(super) struct UsageWalk<'a> {
    ctx: &'a Context<'a>,
    options: &'a DuOptions,
    environment: &'a FmtEnv,
    /// Files that were counted, if each of them counts once.
    counted: Option<HashSet<PathBuf>>,
    pub(super) output: String,
    pub(super) errors: PlacedMessages,
    pub(super) has_failed: bool,
}

impl<'a> UsageWalk<'a> {
    /// Returns a walk; in one of several operands, or with all links, a file counts once.
    pub(super) fn new(
        ctx: &'a Context<'a>,
        options: &'a DuOptions,
        environment: &'a FmtEnv,
        has_several_operands: bool,
    ) -> Self {
        let once = has_several_operands || options.following == Following::All;
        let counted = once.then(HashSet::new);
        let mut errors = PlacedMessages::new();
        errors.push(&options.warning, 0);
        Self { ctx, options, environment, counted, output: String::new(), errors, has_failed: false }
    }

    /// Reports an operand of no characters, which is not the working directory.
    pub(super) fn refuse_empty_name(&mut self) {
        self.has_failed = true;
        self.errors.push("du: invalid zero-length file name\n", self.output.len());
    }

    /// Counts an operand, and prints what is to be shown of it.
    pub(super) async fn count(&mut self, operand: &str) -> Result<Usage> {
        let path = resolve_path(self.ctx.cwd, operand);
        self.visit(Shown { path: &path, name: operand, depth: 0 }).await
    }

    fn visit<'w>(&'w mut self, shown: Shown<'w>) -> Pin<Box<dyn Future<Output = Result<Usage>> + Send + 'w>> {
        Box::pin(async move {
            self.ctx.consume_budget_work(1)?;
            if self.is_excluded(shown.name) {
                return Ok(Usage::NOTHING);
            }
            let follows = match self.options.following {
                Following::None => false,
                Following::Operands => shown.depth == 0,
                Following::All => true,
            };
            let fs = &self.ctx.fs;
            let looked = if follows { fs.stat(shown.path).await } else { fs.lstat(shown.path).await };
            let status = match looked {
                Ok(status) => status,
                Err(error) => {
                    let reason = io_error_reason(&error);
                    self.has_failed = true;
                    let message = format!("du: cannot access {}: {reason}\n", quote(shown.name));
                    self.errors.push(&message, self.output.len());
                    return Ok(Usage::NOTHING);
                }
            };
            if let Some(counted) = &mut self.counted
                && !counted.insert(place(fs.as_ref(), shown.path, follows).await)
            {
                return Ok(Usage::NOTHING);
            }
            let own = self.usage(&status);
            if status.file_type.is_dir() {
                return self.visit_directory(shown, own).await;
            }
            if self.options.all || shown.depth == 0 {
                self.show(&shown, own);
            }
            Ok(own)
        })
    }

    async fn visit_directory(&mut self, shown: Shown<'_>, own: Usage) -> Result<Usage> {
        let (mut total, mut without_directories) = (own, own);
        let mut entries = self.ctx.fs.read_dir(shown.path).await?;
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            let separator = if shown.name.ends_with('/') { "" } else { "/" };
            let name = format!("{}{separator}{}", shown.name, entry.name);
            let path = vfs_join(shown.path, &entry.name);
            let usage = self.visit(Shown { path: &path, name: &name, depth: shown.depth + 1 }).await?;
            total.add(usage);
            if !entry.metadata.file_type.is_dir() {
                without_directories.add(usage);
            }
        }
        self.show(&shown, if self.options.separate { without_directories } else { total });
        Ok(total)
    }

    fn usage(&self, status: &Metadata) -> Usage {
        let size = match self.options.measure {
            Measure::Blocks => blocks(status).saturating_mul(512),
            Measure::Apparent => apparent_size(status),
            Measure::Inodes => 1,
        };
        Usage { size, newest: nanos_of(status.modified) }
    }

    /// Returns true if a pattern matches the name, or what is behind a slash in it.
    fn is_excluded(&self, name: &str) -> bool {
        let matches = |text: &str| self.options.exclude.iter().any(|pattern| fnmatch(text, pattern, false));
        matches(name) || name.match_indices('/').any(|(slash, _)| matches(&name[slash + 1..]))
    }

    fn show(&mut self, shown: &Shown<'_>, usage: Usage) {
        let size = i64::try_from(usage.size).unwrap_or(i64::MAX);
        let threshold = self.options.threshold;
        let passes = if threshold < 0 { size <= -threshold } else { size >= threshold };
        if passes && self.options.max_depth.is_none_or(|most| shown.depth <= most) {
            self.print(usage, shown.name);
        }
    }

    /// Prints the line with the usage of a name.
    pub(super) fn print(&mut self, usage: Usage, name: &str) {
        let size = match self.options.measure {
            Measure::Inodes => usage.size.to_string(),
            _ => self.options.scale.format(usage.size),
        };
        let time = match &self.options.time_format {
            Some(format) => format!("\t{}", self.environment.strftime(usage.newest, format)),
            None => String::new(),
        };
        self.output.push_str(&format!("{size}{time}\t{name}{}", self.options.end));
    }
}
