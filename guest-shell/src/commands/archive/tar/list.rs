//! Lines about members.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::Context;
use bashkit::fs::Metadata;
use bashkit::{ExecResult, Result};

use super::header::{DIRECTORY, SYMBOLIC_LINK};
use super::input::read_archive;
use super::members::MemberFilter;
use super::options::TarOptions;
use super::reader::{TarMember, TarReader};
use crate::commands::archive::budget::budgeted_string;
use crate::commands::date::Date;
use crate::commands::file_status::mode_string;

/// Lists the members of an archive that names select.
pub(super) async fn list(ctx: &Context<'_>, options: &TarOptions<'_>, names: &[&str]) -> Result<ExecResult> {
    let archive = match read_archive(ctx, options).await? {
        Ok(archive) => archive.bytes,
        Err(result) => return Ok(result),
    };
    let mut members = MemberFilter::new(names, options.matching);
    let mut columns = ListColumns::default();
    let mut output = budgeted_string(ctx)?;
    let mut reader = TarReader::new(&archive);
    while let Some(member) = reader.member() {
        let member = match member {
            Ok(member) => member,
            Err(message) => return Ok(ExecResult::err(message, 2)),
        };
        if !members.selects(&member.name) || options.excludes(&member.name) {
            continue;
        }
        if options.verbose {
            output.try_push_str(&columns.line(&member, ctx.env.get("TZ")))?;
        } else {
            output.try_push_str(&member.name)?;
            output.try_push('\n')?;
        }
    }
    let missing = members.missing();
    let exit_code = if missing.is_empty() { 0 } else { 2 };
    Ok(ExecResult { stderr: missing.into(), ..ExecResult::with_code(output.into_inner(), exit_code) })
}

/// Width of the columns of owner and size together, which GNU's widens as it goes.
struct ListColumns(usize);

impl Default for ListColumns {
    fn default() -> Self {
        Self(19)
    }
}

impl ListColumns {
    /// Returns the line of `-tv` about a member.
    fn line(&mut self, member: &TarMember<'_>, time_zone: Option<&String>) -> String {
        let header = member.header;
        let kind = match header.kind() {
            DIRECTORY => 'd',
            SYMBOLIC_LINK => 'l',
            _ => '-',
        };
        let owner = format!("{}/{}", header.user(), header.group());
        let size = member.size.to_string();
        let taken = owner.len() + 1 + size.len();
        self.0 = self.0.max(taken);
        let size_width = self.0 - taken + size.len();
        let mode = mode_string(&Metadata { mode: header.mode(), ..Metadata::default() });
        let time = i128::from(header.modified()) * 1_000_000_000;
        let date = Date::strftime_nanos(time_zone, time, "%Y-%m-%d %H:%M").unwrap_or_default();
        let arrow = if kind == 'l' { format!(" -> {}", member.target) } else { String::new() };
        format!("{kind}{} {owner} {size:>size_width$} {date} {}{arrow}\n", &mode[1..], member.name)
    }
}
