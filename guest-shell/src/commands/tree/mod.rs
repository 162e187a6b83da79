//! `tree`: directories with their contents, drawn as trees, as `tree` 2.1.0 does.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`walk`] | reading of the directories that are shown |
//! | [`filter`] | patterns that select files |
//! | [`ignore`] | files `.gitignore` |
//! | [`order`] | order of the files in a directory |
//! | [`details`] | what stands in brackets in front of a name |
//! | [`text`], [`json`], [`xml`] | forms of the output |

mod details;
mod filter;
mod ignore;
mod json;
mod options;
mod order;
#[cfg(test)]
mod tests;
mod text;
mod walk;
mod xml;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, resolve_path};
use bashkit::{ExecResult, Result};

use self::options::{Form, Request, TreeOptions};
use self::walk::{Root, Walk};
use crate::commands::date::Date;
use crate::commands::file_status::FmtEnv;

const VERSION: &str =
    "tree v2.1.0 © 1996 - 2022 by Steve Baker, Thomas Moore, Francesc Rocher, Florian Sesser, Kyosuke Tokoro \n";

/// Status of a call with a directory that cannot be read.
const UNREADABLE: i32 = 2;

/// Command `tree` of the shell.
pub(crate) struct Tree {
    clock: Date,
    user: String,
}

impl Tree {
    /// Returns the command with the clock that decides which dates are recent, and the owner of all files.
    pub(crate) fn new(clock: Date, user: &str) -> Self {
        Self { clock, user: user.to_owned() }
    }
}

#[async_trait]
impl Builtin for Tree {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let options = match TreeOptions::parse(ctx.args) {
            Ok(Request::Listing(options)) => options,
            Ok(Request::Help) => return Ok(ExecResult::ok(format!("{}{}", options::USAGE, options::HELP))),
            Ok(Request::Version) => return Ok(ExecResult::ok(VERSION.to_owned())),
            Err(message) => return Ok(ExecResult::err(message, 1)),
        };
        if options.colored && ctx.env.get("TERM").is_some_and(|terminal| !terminal.is_empty()) {
            return Ok(ExecResult::err("tree: -C is not supported here while TERM is set\n", 1));
        }
        let mut roots = Vec::new();
        for operand in &options.directories {
            let mut walk = Walk::new(&ctx, &options);
            roots.push(walk.root(operand).await?);
        }
        let environment = FmtEnv { clock: self.clock, tz: ctx.env.get("TZ").cloned(), username: self.user.clone() };
        let listing = match options.form {
            Form::Text => text::listing(&roots, &options, &environment),
            Form::Json => json::listing(&roots, &options, &environment),
            Form::Xml => xml::listing(&roots, &options, &environment),
        };
        let status = if roots.iter().any(Root::is_missing) { UNREADABLE } else { 0 };
        finish(&ctx, &options, listing, status).await
    }
}

/// Writes the listing to the file of `-o`, or returns it.
async fn finish(ctx: &Context<'_>, options: &TreeOptions, listing: String, status: i32) -> Result<ExecResult> {
    let Some(name) = &options.output else {
        return Ok(ExecResult::with_code(listing, status));
    };
    let written = ctx.fs.write_file(&resolve_path(ctx.cwd, name), listing.as_bytes()).await;
    Ok(match written {
        Ok(()) => ExecResult::with_code(String::new(), status),
        Err(_) => ExecResult::err(format!("tree: invalid filename '{name}'\n"), 1),
    })
}
