//! `tail -f` and `tail -F`: what is written to files from here on.
//!
//! Nobody but the script writes to them, so it ends by itself where GNU's would
//! not: when nothing runs any more that could write, which it says.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::PathBuf;
use std::task::Poll;
use std::time::Duration;

use crate::commands::headtail::{Options, Out, put_header, select};
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Context;
use bashkit::builtins::StdoutStream;
use bashkit::fs::vfs_join;

/// How files are followed.
#[derive(Clone, Debug)]
pub(super) struct Follow {
    /// Whatever file has the name, and not the one that had it first.
    pub(crate) by_name: bool,
    /// A file need not be there.
    pub(crate) retry: bool,
    /// How often is looked, where nothing says that something has changed.
    pub(crate) interval: Duration,
    /// What is followed only as long as it runs.
    pub(crate) pid: Option<u32>,
}

/// A file, and how much of it is written.
struct Followed {
    name: String,
    path: PathBuf,
    /// Which file it is, and where its next byte is; `None` if it is not there.
    place: Option<(u64, u64)>,
    given_up: bool,
}

/// What ended a wait.
#[derive(PartialEq)]
enum Woken {
    Change,
    /// Nothing is under way that could change a file.
    Nothing,
    Reader,
}

struct Run<'a, 'c> {
    ctx: &'a Context<'c>,
    options: &'a Options,
    follow: &'a Follow,
    out: Out,
    errors: Option<StdoutStream>,
    kept_errors: Vec<u8>,
    exit_code: i32,
    /// The file whose bytes were written last.
    last: Option<usize>,
}

/// Writes the ends of the files, and what is added to them.
pub(super) async fn run(ctx: &Context<'_>, options: &Options, follow: &Follow) -> Result<ExecResult> {
    let mut run = Run {
        ctx,
        options,
        follow,
        out: Out::new(ctx),
        errors: ctx.stderr_stream(),
        kept_errors: Vec::new(),
        exit_code: 0,
        last: None,
    };
    if run.follow.retry && !run.follow.by_name {
        run.complain("tail: warning: --retry only effective for the initial open\n").await?;
    }
    let mut files = Vec::new();
    let mut wanted = true;
    for (at, name) in options.files.iter().enumerate() {
        let (file, read) = run.begin(at, name).await?;
        files.push(file);
        wanted &= read;
    }
    while wanted {
        let mut news = false;
        for (at, file) in files.iter_mut().enumerate() {
            let (changed, read) = run.look(at, file).await?;
            news |= changed;
            wanted &= read;
        }
        if files.iter().all(|file| file.given_up) {
            run.complain("tail: no files remaining\n").await?;
            run.exit_code = 1;
            break;
        }
        if !wanted || news {
            continue;
        }
        if !run.goes_on() {
            // What it wrote at last.
            for (at, file) in files.iter_mut().enumerate() {
                run.look(at, file).await?;
            }
            break;
        }
        match run.wait().await? {
            Woken::Change => {}
            Woken::Reader => wanted = false,
            Woken::Nothing => {
                let mut late = false;
                for (at, file) in files.iter_mut().enumerate() {
                    late |= run.look(at, file).await?.0;
                }
                if !late {
                    if run.goes_on() {
                        run.complain("tail: nothing runs any more that could write: following ends\n").await?;
                    }
                    break;
                }
            }
        }
    }
    let exit_code = if wanted { run.exit_code } else { 141 };
    let mut result = ExecResult::ok_bytes(run.out.kept);
    result.stderr = run.kept_errors.into();
    result.exit_code = exit_code;
    Ok(result)
}

impl Run<'_, '_> {
    async fn complain(&mut self, message: &str) -> Result<()> {
        match &self.errors {
            Some(errors) => {
                errors.write(message.as_bytes()).await?;
            }
            None => self.kept_errors.extend_from_slice(message.as_bytes()),
        }
        Ok(())
    }

    /// Whether the process runs that ends this one.
    fn goes_on(&self) -> bool {
        let Some(pid) = self.follow.pid else { return true };
        pid == 1 || self.ctx.is_running(pid)
    }

    /// Writes bytes of a file, below its name if others are followed too. False
    /// once nobody reads.
    async fn write(&mut self, at: usize, name: &str, bytes: &[u8], begins: bool) -> Result<bool> {
        if (begins || !bytes.is_empty()) && self.options.shows_headers() && self.last != Some(at) {
            let name = if name == "-" { "standard input" } else { name };
            if !put_header(&mut self.out, name, self.last.is_some()).await? {
                return Ok(false);
            }
            self.last = Some(at);
        }
        self.out.put(bytes).await
    }

    /// Writes the end of a file as it is.
    async fn begin(&mut self, at: usize, name: &str) -> Result<(Followed, bool)> {
        let mut file =
            Followed { name: name.to_string(), path: vfs_join(self.ctx.cwd, name), place: None, given_up: false };
        let (selection, unit) = (self.options.selection, self.options.unit);
        if name == "-" {
            // A pipe is read to its end, and has no more then.
            let input = self.ctx.stdin_to_end().await?;
            let read = self.write(at, name, select(input.as_bytes(), selection, unit), true).await?;
            file.given_up = true;
            return Ok((file, read));
        }
        match self.ctx.fs.read_on(&file.path, 0).await {
            Ok(found) => {
                file.place = Some((found.id, found.size));
                let read = self.write(at, name, select(&found.bytes, selection, unit), true).await?;
                Ok((file, read))
            }
            Err(error) => {
                self.exit_code = 1;
                let reason = bashkit::error::io_error_reason(&error);
                if reason == "Is a directory" {
                    let why = "cannot follow end of this type of file; giving up on this name";
                    self.complain(&format!("tail: error reading '{name}': {reason}\ntail: {name}: {why}\n")).await?;
                    file.given_up = true;
                } else {
                    self.complain(&format!("tail: cannot open '{name}' for reading: {reason}\n")).await?;
                    file.given_up = !self.follow.retry;
                }
                Ok((file, true))
            }
        }
    }

    /// Writes what a file has now and had not before: whether there was
    /// something, and whether somebody reads.
    async fn look(&mut self, at: usize, file: &mut Followed) -> Result<(bool, bool)> {
        if file.given_up {
            return Ok((false, true));
        }
        let offset = file.place.map_or(0, |(_, offset)| offset);
        let mut found = match self.ctx.fs.read_on(&file.path, offset).await {
            Ok(found) => found,
            Err(error) => {
                let reason = bashkit::error::io_error_reason(&error);
                self.see_missing(file, &reason).await?;
                return Ok((false, true));
            }
        };
        let name = &file.name;
        match file.place {
            None => self.complain(&format!("tail: '{name}' has appeared;  following new file\n")).await?,
            Some((id, _)) if id != found.id && !self.follow.by_name => {
                self.see_missing(file, "another file has its name").await?;
                return Ok((false, true));
            }
            Some((id, _)) if id != found.id => {
                self.complain(&format!("tail: '{name}' has been replaced;  following new file\n")).await?;
                found = self.ctx.fs.read_on(&file.path, 0).await?;
            }
            Some(_) if found.size < offset => {
                self.complain(&format!("tail: {name}: file truncated\n")).await?;
                found = self.ctx.fs.read_on(&file.path, 0).await?;
            }
            Some(_) if found.bytes.is_empty() => return Ok((false, true)),
            Some(_) => {}
        }
        file.place = Some((found.id, found.size));
        let read = self.write(at, &file.name.clone(), &found.bytes, false).await?;
        Ok((true, read))
    }

    /// Takes note that a file is not there any more.
    async fn see_missing(&mut self, file: &mut Followed, reason: &str) -> Result<()> {
        if file.place.take().is_none() {
            return Ok(());
        }
        let name = &file.name;
        let message = if self.follow.by_name && self.follow.retry {
            format!("tail: '{name}' has become inaccessible: {reason}\n")
        } else if self.follow.by_name {
            format!("tail: {name}: {reason}\n")
        } else {
            // What GNU's has open still, under whatever name.
            format!("tail: {name}: {reason}: it is not followed any more\n")
        };
        file.given_up = !(self.follow.by_name && self.follow.retry);
        self.complain(&message).await
    }

    /// Waits until something may have changed.
    async fn wait(&self) -> Result<Woken> {
        let changed = self.ctx.run_budgeted(self.ctx.fs.changed(self.follow.interval));
        let mut changed = std::pin::pin!(changed);
        std::future::poll_fn(|task| {
            if self.out.is_closed() {
                return Poll::Ready(Ok(Woken::Reader));
            }
            match changed.as_mut().poll(task) {
                Poll::Ready(Ok(true)) => Poll::Ready(Ok(Woken::Change)),
                Poll::Ready(Ok(false)) => Poll::Ready(Ok(Woken::Nothing)),
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                Poll::Pending if !self.goes_on() => Poll::Ready(Ok(Woken::Change)),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}
