//! Comparison of the members of an archive with files (`-d`).

use bashkit::builtins::{Context, resolve_path};
use bashkit::{ExecResult, Result};

use super::attributes::seconds;
use super::create::base_directory;
use super::header::{DIRECTORY, FILE, OLD_FILE, SYMBOLIC_LINK};
use super::input::read_archive;
use super::list::ListColumns;
use super::members::MemberFilter;
use super::options::TarOptions;
use super::plan::check_contents;
use super::reader::{TarMember, TarReader};
use super::transform::NameKind;
use crate::commands::operands::file_error_reason;

/// Compares the members that names select with the files of their names.
pub(super) async fn compare(ctx: &Context<'_>, options: &TarOptions<'_>, names: &[&str]) -> Result<ExecResult> {
    let archive = match read_archive(ctx, options).await? {
        Ok(archive) => archive.bytes,
        Err(result) => return Ok(result),
    };
    if let Err(message) = check_contents(ctx, &archive) {
        return Ok(ExecResult::err(message, 2));
    }
    let mut members = MemberFilter::new(names, options.matching);
    let mut columns = ListColumns::default();
    let (mut output, mut errors, mut differs) = (String::new(), String::new(), false);
    let mut reader = TarReader::new(&archive);
    while let Some(member) = reader.member() {
        let member = match member {
            Ok(member) => member,
            Err(message) => return Ok(ExecResult::err(message, 2)),
        };
        if !members.selects(&member.name) || options.exclusion.excludes(&member.name) {
            continue;
        }
        if options.verbosity > 0 {
            output.push_str(&columns.entry(&member, options, ctx));
        }
        match differences(ctx, options, &member, &archive).await? {
            Ok(differences) => {
                for difference in &differences {
                    output.push_str(&format!("{}: {difference}\n", member.name));
                }
                differs |= !differences.is_empty();
            }
            Err(message) => {
                errors.push_str(&message);
                differs = true;
            }
        }
    }
    errors.push_str(&members.missing());
    let status = if members.missing().is_empty() { i32::from(differs) } else { 2 };
    Ok(ExecResult { stderr: errors.into(), ..ExecResult::with_code(output, status) })
}

/// Returns the attributes in which a member and its file differ, as `tar` names them. The error is the message about a
/// file that does not exist.
async fn differences(
    ctx: &Context<'_>,
    options: &TarOptions<'_>,
    member: &TarMember<'_>,
    archive: &[u8],
) -> Result<std::result::Result<Vec<&'static str>, String>> {
    let name = options.transformed(&member.name, NameKind::Member).unwrap_or_default();
    let path = resolve_path(&base_directory(ctx, options, usize::MAX), &name);
    let Ok(status) = ctx.fs.lstat(&path).await else {
        return Ok(Err(format!("tar: {}: Warning: Cannot stat: No such file or directory\n", member.name)));
    };
    let is_directory = member.name.ends_with('/');
    let same_type = match member.header.kind() {
        SYMBOLIC_LINK => status.file_type.is_symlink(),
        DIRECTORY | OLD_FILE if is_directory => status.file_type.is_dir(),
        FILE | OLD_FILE => status.file_type.is_file(),
        _ => return Ok(Ok(Vec::new())),
    };
    if !same_type {
        return Ok(Ok(vec!["File type differs"]));
    }
    let mut found = Vec::new();
    let unreadable = |failure: &str, reason: &str| format!("tar: {}: {failure}: {reason}\n", member.name);
    if status.file_type.is_symlink() {
        let target = match ctx.fs.read_link(&path).await {
            Ok(target) => target,
            Err(error) => return Ok(Err(unreadable("Cannot readlink", &file_error_reason(error)?))),
        };
        if target.to_string_lossy() != member.target {
            found.push("Symlink differs");
        }
        return Ok(Ok(found));
    }
    if status.mode & 0o7777 != member.header.mode() & 0o7777 {
        found.push("Mode differs");
    }
    if is_directory {
        return Ok(Ok(found));
    }
    if seconds(status.modified) != member.header.modified() {
        found.push("Mod time differs");
    }
    let content = match ctx.fs.read_file(&path).await {
        Ok(content) => content,
        Err(error) => return Ok(Err(unreadable("Cannot open", &file_error_reason(error)?))),
    };
    ctx.consume_budget_input(content.len())?;
    if content.len() != member.size {
        found.push("Size differs");
    } else if content != archive[member.start..member.start + member.size] {
        found.push("Contents differ");
    }
    Ok(Ok(found))
}
