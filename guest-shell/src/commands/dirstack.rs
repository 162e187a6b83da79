//! Builtins of the directory stack: `pushd`, `popd` and `dirs`.
//!
//! The stack of the shell is bottom-to-top: index 0 is the oldest entry. The current directory is not part of it.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bashkit::builtins::{Builtin, BuiltinSideEffect, Context, resolve_path};
use bashkit::fs::vfs_join;
use bashkit::{ExecResult, Result};

/// Largest number of directories in the stack.
const MAX_ENTRIES: usize = 4096;

fn normalize_path(base: &Path, target: &str) -> PathBuf {
    let path = if target.starts_with('/') { PathBuf::from(target) } else { vfs_join(base, target) };
    resolve_path(Path::new("/"), &path.to_string_lossy())
}

/// Returns a directory as it is printed: below `$HOME` with `~`, unless that is `/` or unset.
fn polite(dir: &str, home: Option<&str>) -> String {
    if let Some(home) = home.filter(|h| h.len() > 1)
        && let Some(rest) = dir.strip_prefix(home)
        && (rest.is_empty() || rest.starts_with('/'))
    {
        return format!("~{rest}");
    }
    dir.to_string()
}

/// Returns the current directory, followed by the stack from top to bottom.
fn stack(ctx: &Context<'_>) -> Vec<String> {
    let mut entries = vec![ctx.cwd.to_string_lossy().into_owned()];
    if let Some(shell) = ctx.shell.as_ref() {
        entries.extend(shell.dir_stack.iter().rev().cloned());
    }
    entries
}

/// Returns the line that `dirs` prints without options.
fn format_stack(ctx: &Context<'_>) -> String {
    let home = ctx.variables.get("HOME").map(String::as_str);
    let shown: Vec<String> = stack(ctx).iter().map(|dir| polite(dir, home)).collect();
    shown.join(" ")
}

/// Returns the result of a command that changed the stack.
fn changed(shown: String) -> ExecResult {
    let mut result = ExecResult::ok(shown);
    result.side_effects.push(BuiltinSideEffect::DirectoryStackChanged);
    result
}

/// Operand of `pushd` and `popd`.
enum Operand {
    None,
    /// Number of an entry, with its word, and true if it counts from the bottom (`-N`).
    Entry(String, usize, bool),
    Directory(String),
}

/// Parsed arguments of `pushd` and `popd`.
struct Request {
    /// True with `-n`: only the stack changes, not the directory.
    stay: bool,
    operand: Operand,
}

/// Returns the number of a `+N` or `-N`.
fn entry_number(word: &str) -> Option<usize> {
    let digits = word.strip_prefix(['+', '-'])?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().unwrap_or(usize::MAX))
}

fn failure(message: String, status: i32) -> Box<ExecResult> {
    Box::new(ExecResult::err(message, status))
}

/// Parses the arguments of `pushd` and `popd`. Options end at `--`, an entry, or a directory; a `-x` that is no number is
/// a usage error.
fn parse(args: &[String], name: &str, usage: &str) -> std::result::Result<Request, Box<ExecResult>> {
    let mut request = Request { stay: false, operand: Operand::None };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-n" => request.stay = true,
            "--" => {
                let rest: Vec<&String> = args.collect();
                return operand_of(request, &rest, name);
            }
            "-" => {
                request.operand = Operand::Directory(arg.clone());
                return operand_of(request, &args.collect::<Vec<_>>(), name);
            }
            word => {
                if let Some(number) = entry_number(word) {
                    request.operand = Operand::Entry(arg.clone(), number, word.starts_with('-'));
                    continue;
                }
                if word.starts_with('-') {
                    return Err(failure(format!("{name}: {word}: invalid number\n{name}: usage: {usage}\n"), 2));
                }
                let rest: Vec<&String> = std::iter::once(arg).chain(args).collect();
                return operand_of(request, &rest, name);
            }
        }
    }
    Ok(request)
}

/// Returns the request with the directory behind the options, if there is one.
fn operand_of(mut request: Request, rest: &[&String], name: &str) -> std::result::Result<Request, Box<ExecResult>> {
    let taken = usize::from(!matches!(request.operand, Operand::None));
    if rest.len() + taken > 1 {
        return Err(failure(format!("{name}: too many arguments\n"), 1));
    }
    if let Some(word) = rest.first() {
        request.operand = Operand::Directory((*word).clone());
    }
    Ok(request)
}

/// Returns the index of an entry in the list that begins with the current directory.
fn position(number: usize, from_bottom: bool, count: usize) -> Option<usize> {
    let at = match from_bottom {
        true => (count - 1).checked_sub(number)?,
        false => number,
    };
    (at < count).then_some(at)
}

fn out_of_range(name: &str, word: &str, count: usize) -> Box<ExecResult> {
    let why = match count {
        1 => "directory stack empty".to_string(),
        _ => format!("{word}: directory stack index out of range"),
    };
    failure(format!("{name}: {why}\n"), 1)
}

/// Makes `entries` (top first, the current directory at its head) the stack. With `go` the head becomes the current
/// directory.
async fn install(
    ctx: &mut Context<'_>,
    name: &str,
    entries: Vec<String>,
    go: bool,
) -> std::result::Result<(), Box<ExecResult>> {
    if go {
        let head = &entries[0];
        let path = normalize_path(ctx.cwd, head);
        match ctx.fs.stat(&path).await {
            Ok(meta) if meta.file_type.is_dir() => {}
            Ok(_) => return Err(failure(format!("{name}: {head}: Not a directory\n"), 1)),
            Err(_) => {
                return Err(failure(format!("{name}: {head}: No such file or directory\n"), 1));
            }
        }
        let old = ctx.cwd.to_string_lossy().into_owned();
        ctx.variables.insert("OLDPWD".to_string(), old);
        *ctx.cwd = path;
        let now = ctx.cwd.to_string_lossy().into_owned();
        ctx.variables.insert("PWD".to_string(), now);
    }
    if let Some(shell) = ctx.shell.as_mut() {
        // The stack belongs to the shell, and its size to the limits.
        if entries.len() > MAX_ENTRIES {
            return Err(failure(format!("{name}: directory stack full\n"), 1));
        }
        shell.dir_stack.clear();
        shell.dir_stack.extend(entries.into_iter().skip(1).rev());
    }
    Ok(())
}

/// Builtin `pushd [-n] [+N | -N | dir]`.
///
/// Without an operand, swaps the two top entries; `+N`/`-N` rotates the stack
/// so that the entry is on top; a directory is pushed. `-n` leaves the current
/// directory as it is.
pub(super) struct Pushd;

impl Pushd {
    /// Returns true if the stack is printed: `-n` prints only what it adds.
    async fn run(ctx: &mut Context<'_>) -> std::result::Result<bool, Box<ExecResult>> {
        let request = parse(ctx.args, "pushd", "pushd [-n] [+N | -N | dir]")?;
        let mut entries = stack(ctx);
        match request.operand {
            Operand::None => {
                if request.stay {
                    return Ok(false);
                }
                if entries.len() == 1 {
                    return Err(failure("pushd: no other directory\n".to_string(), 1));
                }
                entries.swap(0, 1);
            }
            Operand::Entry(word, number, from_bottom) => {
                let count = entries.len();
                let at = position(number, from_bottom, count).ok_or_else(|| out_of_range("pushd", &word, count))?;
                if request.stay {
                    // The current directory stays at the head, whatever the
                    // rotation put there.
                    let cwd = entries[0].clone();
                    entries.rotate_left(at);
                    entries[0] = cwd;
                    install(ctx, "pushd", entries, false).await?;
                    return Ok(false);
                }
                entries.rotate_left(at);
            }
            Operand::Directory(word) if request.stay => entries.insert(1, word),
            Operand::Directory(word) => {
                let word = match word.as_str() {
                    "-" => ctx.variables.get("OLDPWD").cloned().unwrap_or_default(),
                    _ => word,
                };
                entries.insert(0, word);
            }
        }
        install(ctx, "pushd", entries, !request.stay).await?;
        Ok(true)
    }
}

#[async_trait]
impl Builtin for Pushd {
    async fn execute(&self, mut ctx: Context<'_>) -> Result<ExecResult> {
        Ok(match Self::run(&mut ctx).await {
            Ok(false) => changed(String::new()),
            Ok(true) => changed(format!("{}\n", format_stack(&ctx))),
            Err(failed) => *failed,
        })
    }
}

/// Builtin `popd [-n] [+N | -N]`.
///
/// Removes the top entry and goes to the next; `+N`/`-N` removes that entry;
/// `-n` leaves the current directory as it is.
pub(super) struct Popd;

impl Popd {
    async fn run(ctx: &mut Context<'_>) -> std::result::Result<(), Box<ExecResult>> {
        const USAGE: &str = "popd [-n] [+N | -N]";
        let request = parse(ctx.args, "popd", USAGE)?;
        let mut entries = stack(ctx);
        let count = entries.len();
        let at = match request.operand {
            Operand::Directory(word) => {
                return Err(failure(format!("popd: {word}: invalid argument\npopd: usage: {USAGE}\n"), 2));
            }
            Operand::None if count == 1 => return Err(out_of_range("popd", "", 1)),
            Operand::None => 0,
            Operand::Entry(word, number, from_bottom) => position(number, from_bottom, count)
                .filter(|_| count > 1)
                .ok_or_else(|| out_of_range("popd", &word, count))?,
        };
        // `-n` never removes the current directory: the one below it goes.
        let at = if request.stay && at == 0 { 1 } else { at };
        entries.remove(at);
        install(ctx, "popd", entries, at == 0).await
    }
}

#[async_trait]
impl Builtin for Popd {
    async fn execute(&self, mut ctx: Context<'_>) -> Result<ExecResult> {
        Ok(match Self::run(&mut ctx).await {
            Ok(()) => changed(format!("{}\n", format_stack(&ctx))),
            Err(failed) => *failed,
        })
    }
}

/// Builtin `dirs [-clpv] [+N] [-N]`.
pub(super) struct Dirs;

#[async_trait]
impl Builtin for Dirs {
    async fn execute(&self, mut ctx: Context<'_>) -> Result<ExecResult> {
        const USAGE: &str = "dirs: usage: dirs [-clpv] [+N] [-N]\n";
        let mut clear = false;
        let mut per_line = false;
        let mut verbose = false;
        let mut long = false;
        let mut entry = None;
        for arg in ctx.args {
            if arg == "--" {
                break;
            }
            if let Some(number) = entry_number(arg) {
                entry = Some((arg.clone(), number, arg.starts_with('-')));
                continue;
            }
            let Some(letters) = arg.strip_prefix('-').filter(|l| !l.is_empty()) else {
                return Ok(ExecResult::err(format!("dirs: {arg}: invalid option\n{USAGE}"), 2));
            };
            for letter in letters.chars() {
                match letter {
                    'c' => clear = true,
                    'p' => per_line = true,
                    'v' => {
                        verbose = true;
                        per_line = true;
                    }
                    'l' => long = true,
                    _ => {
                        return Ok(ExecResult::err(format!("dirs: {arg}: invalid number\n{USAGE}"), 2));
                    }
                }
            }
        }

        if clear {
            if let Some(shell) = ctx.shell.as_mut() {
                shell.dir_stack.clear();
            }
            return Ok(changed(String::new()));
        }

        let home = ctx.variables.get("HOME").map(String::as_str);
        let home = if long { None } else { home };
        let entries: Vec<String> = stack(&ctx).iter().map(|dir| polite(dir, home)).collect();
        if let Some((word, number, from_bottom)) = entry {
            return Ok(match position(number, from_bottom, entries.len()) {
                Some(at) if verbose => ExecResult::ok(format!(" {at}  {}\n", entries[at])),
                Some(at) => ExecResult::ok(format!("{}\n", entries[at])),
                None => *out_of_range("dirs", &word, entries.len()),
            });
        }
        let output = if verbose {
            entries.iter().enumerate().map(|(n, dir)| format!("{n:2}  {dir}\n")).collect()
        } else if per_line {
            entries.iter().map(|dir| format!("{dir}\n")).collect()
        } else {
            format!("{}\n", entries.join(" "))
        };
        Ok(ExecResult::ok(output))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn pushd_and_popd_change_the_directory_and_the_stack() {
        let script =
            "cd /; mkdir -p a b; pushd /a; pushd /b; pushd +1; popd -n; dirs -v; popd; pwd; echo \"${DIRSTACK[*]}\"";
        let result = run(script).await;
        assert_eq!(
            &*result.stdout, "/a /\n/b /a /\n/a / /b\n/a /b\n 0  /a\n 1  /b\n/b\n/b\n/b\n",
            "{}",
            &*result.stderr
        );
    }

    #[tokio::test]
    async fn pushd_and_popd_of_what_is_not_there_fail() {
        for (script, message, status) in [
            ("popd", "popd: directory stack empty\n", 1),
            ("pushd", "pushd: no other directory\n", 1),
            ("pushd /missing", "pushd: /missing: No such file or directory\n", 1),
            ("dirs -x", "dirs: -x: invalid number\n", 2),
        ] {
            let result = run(script).await;
            assert!(result.stderr.contains(message), "{script}: {}", &*result.stderr);
            assert_eq!(result.exit_code, status, "{script}");
        }
    }
}
