//! `tail -f` and `tail -F`: output of text that is appended to files.
//!
//! Only the script writes to the files. When nothing runs any more that could write, the command ends and says so,
//! where GNU's would wait for ever.

use std::path::PathBuf;
use std::task::Poll;

use bashkit::builtins::{Context, StdoutStream};
use bashkit::error::io_error_reason;
use bashkit::fs::vfs_join;
use bashkit::{ExecResult, Result};

use super::options::Following;
use crate::commands::excerpt::files::unreadable;
use crate::commands::excerpt::options::ExcerptOptions;
use crate::commands::excerpt::output::{ExcerptOutput, header};
use crate::commands::excerpt::selection::select;

/// Followed file, and the amount that was written.
struct FollowedFile {
    name: String,
    path: PathBuf,
    /// Identity of the file, and the offset of its next byte; `None` if it does not exist.
    place: Option<(u64, u64)>,
    given_up: bool,
}

/// Event that ends a wait.
#[derive(PartialEq)]
enum Wakeup {
    /// A file may have changed.
    Change,
    /// Nothing runs that could change a file.
    NoWriter,
    /// The output has no reader any more.
    NoReader,
}

/// Outcome of a check of the files.
#[derive(Clone, Copy)]
struct Look {
    /// True if the check found new bytes.
    found_more: bool,
    /// True if the output still has a reader.
    is_read: bool,
}

const NOTHING_NEW: Look = Look { found_more: false, is_read: true };

/// State of a call that follows files.
struct FollowRun<'a, 'c> {
    ctx: &'a Context<'c>,
    options: &'a ExcerptOptions,
    following: &'a Following,
    output: ExcerptOutput,
    errors: Option<StdoutStream>,
    /// Messages, if there is no pipe for them.
    kept_errors: Vec<u8>,
    exit_code: i32,
    /// Index of the file whose bytes were written last.
    last_written: Option<usize>,
}

/// Writes the ends of the files, and text that is appended to them.
pub(super) async fn run(ctx: &Context<'_>, options: &ExcerptOptions, following: &Following) -> Result<ExecResult> {
    let mut run = FollowRun {
        ctx,
        options,
        following,
        output: ExcerptOutput::new(ctx),
        errors: ctx.stderr_stream(),
        kept_errors: Vec::new(),
        exit_code: 0,
        last_written: None,
    };
    if following.retry && !following.by_name {
        run.complain("tail: warning: --retry only effective for the initial open\n").await?;
    }
    let mut files = Vec::new();
    let mut is_read = true;
    for (at, name) in options.files.iter().enumerate() {
        let (file, file_is_read) = run.begin(at, name).await?;
        files.push(file);
        is_read &= file_is_read;
    }
    if !is_read || !run.follow(&mut files).await? {
        // SIGPIPE
        run.exit_code = 141;
    }
    let mut result = ExecResult::ok_bytes(run.output.kept);
    result.stderr = run.kept_errors.into();
    result.exit_code = run.exit_code;
    Ok(result)
}

impl FollowRun<'_, '_> {
    /// Writes appended text until there can be no more. Returns false once the output has no reader.
    async fn follow(&mut self, files: &mut [FollowedFile]) -> Result<bool> {
        loop {
            let seen = self.look_at_all(files).await?;
            if files.iter().all(|file| file.given_up) {
                self.complain("tail: no files remaining\n").await?;
                self.exit_code = 1;
                return Ok(seen.is_read);
            }
            if !seen.is_read {
                return Ok(false);
            }
            if seen.found_more {
                continue;
            }
            if !self.goes_on() {
                // The process may have written until it ended.
                self.look_at_all(files).await?;
                return Ok(true);
            }
            match self.wait().await? {
                Wakeup::Change => {}
                Wakeup::NoReader => return Ok(false),
                Wakeup::NoWriter => {
                    if self.look_at_all(files).await?.found_more {
                        continue;
                    }
                    if self.goes_on() {
                        self.complain("tail: nothing runs any more that could write: following ends\n").await?;
                    }
                    return Ok(true);
                }
            }
        }
    }

    async fn look_at_all(&mut self, files: &mut [FollowedFile]) -> Result<Look> {
        let mut all = NOTHING_NEW;
        for (at, file) in files.iter_mut().enumerate() {
            let look = self.look(at, file).await?;
            all.found_more |= look.found_more;
            all.is_read &= look.is_read;
        }
        Ok(all)
    }

    async fn complain(&mut self, message: &str) -> Result<()> {
        match &self.errors {
            Some(errors) => {
                errors.write(message.as_bytes()).await?;
            }
            None => self.kept_errors.extend_from_slice(message.as_bytes()),
        }
        Ok(())
    }

    /// Returns false if the process of `--pid` has ended.
    fn goes_on(&self) -> bool {
        let Some(pid) = self.following.pid else { return true };
        pid == 1 || self.ctx.is_running(pid)
    }

    /// Writes bytes of a file, after its name if there are several files. Returns false once the output has no reader.
    async fn write(&mut self, at: usize, name: &str, bytes: &[u8], begins: bool) -> Result<bool> {
        if (begins || !bytes.is_empty()) && self.options.shows_headers() && self.last_written != Some(at) {
            let header = header(name, self.last_written.is_some());
            if !self.output.write(header.as_bytes()).await? {
                return Ok(false);
            }
            self.last_written = Some(at);
        }
        self.output.write(bytes).await
    }

    /// Writes the end of a file. The second value is false once the output has no reader.
    async fn begin(&mut self, at: usize, name: &str) -> Result<(FollowedFile, bool)> {
        let path = vfs_join(self.ctx.cwd, name);
        let mut file = FollowedFile { name: name.to_owned(), path, place: None, given_up: false };
        let (selection, unit) = (self.options.selection, self.options.unit);
        if name == "-" {
            // A pipe is read to its end, after which it has no more data.
            let input = self.ctx.stdin_to_end().await?;
            let is_read = self.write(at, name, select(input.as_bytes(), selection, unit), true).await?;
            file.given_up = true;
            return Ok((file, is_read));
        }
        match self.ctx.fs.read_on(&file.path, 0).await {
            Ok(found) => {
                file.place = Some((found.id, found.size));
                let is_read = self.write(at, name, select(&found.bytes, selection, unit), true).await?;
                Ok((file, is_read))
            }
            Err(error) => {
                self.exit_code = 1;
                let reason = io_error_reason(&error);
                let mut message = unreadable("tail", name, &reason);
                file.given_up = !self.following.retry;
                if reason == "Is a directory" {
                    message +=
                        &format!("tail: {name}: cannot follow end of this type of file; giving up on this name\n");
                    file.given_up = true;
                }
                self.complain(&message).await?;
                Ok((file, true))
            }
        }
    }

    /// Writes the new bytes of a file.
    async fn look(&mut self, at: usize, file: &mut FollowedFile) -> Result<Look> {
        if file.given_up {
            return Ok(NOTHING_NEW);
        }
        let offset = file.place.map_or(0, |(_, offset)| offset);
        let mut found = match self.ctx.fs.read_on(&file.path, offset).await {
            Ok(found) => found,
            Err(error) => {
                self.see_missing(file, &io_error_reason(&error)).await?;
                return Ok(NOTHING_NEW);
            }
        };
        let name = &file.name;
        match file.place {
            None => self.complain(&format!("tail: '{name}' has appeared;  following new file\n")).await?,
            Some((id, _)) if id != found.id && !self.following.by_name => {
                self.see_missing(file, "another file has its name").await?;
                return Ok(NOTHING_NEW);
            }
            Some((id, _)) if id != found.id => {
                self.complain(&format!("tail: '{name}' has been replaced;  following new file\n")).await?;
                found = self.ctx.fs.read_on(&file.path, 0).await?;
            }
            Some(_) if found.size < offset => {
                self.complain(&format!("tail: {name}: file truncated\n")).await?;
                found = self.ctx.fs.read_on(&file.path, 0).await?;
            }
            Some(_) if found.bytes.is_empty() => return Ok(NOTHING_NEW),
            Some(_) => {}
        }
        file.place = Some((found.id, found.size));
        let is_read = self.write(at, &file.name, &found.bytes, false).await?;
        Ok(Look { found_more: true, is_read })
    }

    /// Handles a file that no longer exists.
    async fn see_missing(&mut self, file: &mut FollowedFile, reason: &str) -> Result<()> {
        if file.place.take().is_none() {
            return Ok(());
        }
        let name = &file.name;
        let follows_new_files = self.following.by_name && self.following.retry;
        let message = if follows_new_files {
            format!("tail: '{name}' has become inaccessible: {reason}\n")
        } else if self.following.by_name {
            format!("tail: {name}: {reason}\n")
        } else {
            // GNU's keeps the file open, whatever its name.
            format!("tail: {name}: {reason}: it is not followed any more\n")
        };
        file.given_up = !follows_new_files;
        self.complain(&message).await
    }

    /// Waits until a file may have changed.
    async fn wait(&self) -> Result<Wakeup> {
        let changed = self.ctx.run_budgeted(self.ctx.fs.changed(self.following.interval));
        let mut changed = std::pin::pin!(changed);
        std::future::poll_fn(|task| {
            if self.output.is_closed() {
                return Poll::Ready(Ok(Wakeup::NoReader));
            }
            match changed.as_mut().poll(task) {
                Poll::Ready(Ok(true)) => Poll::Ready(Ok(Wakeup::Change)),
                Poll::Ready(Ok(false)) => Poll::Ready(Ok(Wakeup::NoWriter)),
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                Poll::Pending if !self.goes_on() => Poll::Ready(Ok(Wakeup::Change)),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}
