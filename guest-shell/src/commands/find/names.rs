//! Files and dates that an expression names. `find` examines them before it visits any file.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;
use std::path::PathBuf;

use bashkit::builtins::{Context, place, resolve_path};
use bashkit::error::io_error_reason;

use super::expression::{Expression, FileAction, FileTest, NewerReference};
use super::parse::{FindOptions, LinkFollowing};
use crate::commands::date::Date;
use crate::commands::file_status::{self, nanos_of};

/// Output file of `-fprint` and its like.
pub(super) struct OutputFile {
    pub(super) path: PathBuf,
    /// Text that is written once the search ends.
    pub(super) text: String,
}

/// File or date that an expression names.
enum NamedObject {
    Output(usize),
    Newer(String),
    Date(String),
    SameFile(String),
}

/// Resolved names of an expression.
pub(super) struct ResolvedNames {
    pub(super) output_files: Vec<OutputFile>,
    /// Times of files and dates, in nanoseconds since the epoch.
    pub(super) times: HashMap<String, i128>,
    pub(super) inodes: HashMap<String, u64>,
}

impl ResolvedNames {
    /// Resolves the names in order, as GNU's does: output files before the first failing name are created, and later
    /// ones are not. The error is a message.
    pub(super) async fn resolve(
        expression: &Expression,
        output_names: &[String],
        options: &FindOptions,
        ctx: &Context<'_>,
        clock: &Date,
    ) -> Result<Self, String> {
        let path = |name: &String| OutputFile { path: resolve_path(ctx.cwd, name), text: String::new() };
        let output_files = output_names.iter().map(path).collect();
        let mut resolved = Self { output_files, times: HashMap::new(), inodes: HashMap::new() };
        for object in named_objects(expression) {
            match object {
                NamedObject::Output(file) => resolved.make_output(file, &output_names[file], ctx).await?,
                NamedObject::Newer(name) => resolved.look_at_time(name, ctx).await?,
                NamedObject::Date(date) => resolved.read_date(date, ctx, clock)?,
                NamedObject::SameFile(name) => resolved.look_at_inode(name, options, ctx).await?,
            }
        }
        Ok(resolved)
    }

    async fn make_output(&mut self, file: usize, name: &str, ctx: &Context<'_>) -> Result<(), String> {
        let made = ctx.fs.write_file(&self.output_files[file].path, b"").await;
        made.map_err(|error| format!("find: '{name}': {}\n", io_error_reason(&error)))
    }

    async fn look_at_time(&mut self, name: String, ctx: &Context<'_>) -> Result<(), String> {
        let status = ctx.fs.stat(&resolve_path(ctx.cwd, &name)).await.map_err(|_| missing(&name))?;
        self.times.insert(name, nanos_of(status.modified));
        Ok(())
    }

    fn read_date(&mut self, date: String, ctx: &Context<'_>, clock: &Date) -> Result<(), String> {
        let time = clock
            .parse_date(ctx.env.get("TZ"), &date)
            .map_err(|_| format!("find: I cannot figure out how to interpret `{date}' as a date or time\n"))?;
        let nanos = i128::from(time.timestamp()) * 1_000_000_000 + i128::from(time.timestamp_subsec_nanos());
        self.times.insert(date, nanos);
        Ok(())
    }

    async fn look_at_inode(&mut self, name: String, options: &FindOptions, ctx: &Context<'_>) -> Result<(), String> {
        let path = resolve_path(ctx.cwd, &name);
        if ctx.fs.lstat(&path).await.is_err() {
            return Err(missing(&name));
        }
        let follows = options.following != LinkFollowing::Never;
        let place = place(ctx.fs.as_ref(), &path, follows).await;
        self.inodes.insert(name, file_status::inode(&place));
        Ok(())
    }
}

fn named_objects(expression: &Expression) -> Vec<NamedObject> {
    let mut objects = Vec::new();
    expression.walk(&mut |part| match part {
        Expression::Action(FileAction::ToFile { file, .. }) => objects.push(NamedObject::Output(*file)),
        Expression::Test(FileTest::SameFile { name, .. }) => objects.push(NamedObject::SameFile(name.clone())),
        Expression::Test(FileTest::Newer { reference, .. }) => match reference {
            NewerReference::File(name) => objects.push(NamedObject::Newer(name.clone())),
            NewerReference::Date(date) => objects.push(NamedObject::Date(date.clone())),
            NewerReference::Nanoseconds(_) => {}
        },
        _ => {}
    });
    objects
}

fn missing(name: &str) -> String {
    format!("find: '{name}': No such file or directory\n")
}
