//! Lines about members.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::Context;
use bashkit::fs::Metadata;
use bashkit::{ExecResult, Result};

use super::attributes::Principal;
use super::header::{DIRECTORY, HARD_LINK, NewMember, SYMBOLIC_LINK};
use super::input::read_archive;
use super::members::MemberFilter;
use super::options::{TarOptions, TarTask};
use super::reader::{TarMember, TarReader};
use super::transform::NameKind;
use crate::commands::budget::budgeted_string;
use crate::commands::date::Date;
use crate::commands::file_status::mode_string;

/// Notice that absolute names of members are relative ones without `-P`.
pub(super) const STRIPPED_SLASH: &str = "tar: Removing leading `/' from member names\n";

/// Lists the members of an archive that names select.
pub(super) async fn list(ctx: &Context<'_>, options: &TarOptions<'_>, names: &[&str]) -> Result<ExecResult> {
    let archive = match read_archive(ctx, options).await? {
        Ok(archive) => archive.bytes,
        Err(result) => return Ok(result),
    };
    let mut members = MemberFilter::new(names, options.matching);
    let mut columns = ListColumns::default();
    let mut output = budgeted_string(ctx)?;
    let mut notice = "";
    let mut reader = TarReader::new(&archive);
    while let Some(member) = reader.member() {
        let member = match member {
            Ok(member) => member,
            Err(message) => return Ok(ExecResult::err(message, 2)),
        };
        if !members.selects(&member.name) || options.exclusion.excludes(&member.name) {
            continue;
        }
        if member.name.starts_with('/') && !options.absolute_names {
            notice = STRIPPED_SLASH;
        }
        output.try_push_str(&columns.entry(&member, options, ctx))?;
    }
    let missing = members.missing();
    let exit_code = if missing.is_empty() { 0 } else { 2 };
    Ok(ExecResult {
        stderr: (notice.to_owned() + &missing).into(),
        ..ExecResult::with_code(output.into_inner(), exit_code)
    })
}

/// Width of the columns of owner and size together, which GNU's widens as it goes.
pub(super) struct ListColumns(usize);

impl Default for ListColumns {
    fn default() -> Self {
        Self(19)
    }
}

/// Attributes of a member that a line of the list shows.
struct ListedMember<'a> {
    kind: u8,
    mode: u32,
    owner: String,
    size: usize,
    modified: u64,
    name: &'a str,
    target: &'a str,
}

impl ListColumns {
    /// Returns the line about a member, as long as the options ask for.
    pub(super) fn entry(&mut self, member: &TarMember<'_>, options: &TarOptions<'_>, ctx: &Context<'_>) -> String {
        let transformed = options.transformed(&member.name, NameKind::Member).unwrap_or_default();
        let name = options.shown(&member.name, &transformed);
        // To extract and to compare, one `-v` is for the names.
        let names_first = options.task().is_ok_and(|task| matches!(task, TarTask::Extract | TarTask::Compare));
        if options.verbosity <= usize::from(names_first) {
            return format!("{name}\n");
        }
        let header = member.header;
        let numeric = options.attributes.numeric;
        let listed = ListedMember {
            kind: header.kind(),
            mode: header.mode(),
            owner: format!("{}/{}", header.user(numeric), header.group(numeric)),
            size: member.size,
            modified: header.modified(),
            name,
            target: &member.target,
        };
        self.line(&listed, options.full_time, ctx)
    }

    /// Returns the line about a member that is added to an archive.
    pub(super) fn new_member_line(
        &mut self,
        member: &NewMember<'_>,
        name: &str,
        modified: u64,
        ctx: &Context<'_>,
    ) -> String {
        let principal = |principal: &Principal| match principal.name.as_str() {
            "" => principal.number.to_string(),
            name => name.to_owned(),
        };
        let listed = ListedMember {
            kind: member.kind,
            mode: if member.kind == SYMBOLIC_LINK { 0o777 } else { member.mode },
            owner: format!("{}/{}", principal(member.user), principal(member.group)),
            size: member.size,
            modified,
            name,
            target: member.target,
        };
        self.line(&listed, false, ctx)
    }

    fn line(&mut self, member: &ListedMember<'_>, full_time: bool, ctx: &Context<'_>) -> String {
        let kind = match member.kind {
            DIRECTORY => 'd',
            SYMBOLIC_LINK => 'l',
            HARD_LINK => 'h',
            _ => '-',
        };
        let size = member.size.to_string();
        let taken = member.owner.len() + 1 + size.len();
        self.0 = self.0.max(taken);
        let size_width = self.0 - taken + size.len();
        let mode = mode_string(&Metadata { mode: member.mode, ..Metadata::default() });
        let time = i128::from(member.modified) * 1_000_000_000;
        let format = if full_time { "%Y-%m-%d %H:%M:%S" } else { "%Y-%m-%d %H:%M" };
        let date = Date::strftime_nanos(ctx.env.get("TZ"), time, format).unwrap_or_default();
        let arrow = match kind {
            'l' => format!(" -> {}", member.target),
            'h' => format!(" link to {}", member.target),
            _ => String::new(),
        };
        format!("{kind}{} {} {size:>size_width$} {date} {}{arrow}\n", &mode[1..], member.owner, member.name)
    }
}
