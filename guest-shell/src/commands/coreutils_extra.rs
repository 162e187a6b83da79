//! Front ends of other commands: `egrep`, `fgrep`, `chgrp`, `shasum`, `sum`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;

/// Re-run a builtin with different arguments.
async fn run_with_args(builtin: &dyn Builtin, ctx: Context<'_>, args: &[String]) -> Result<ExecResult> {
    let new_ctx = Context {
        args,
        env: ctx.env,
        variables: ctx.variables,
        cwd: ctx.cwd,
        fs: ctx.fs,
        stdin: ctx.stdin,
        shell: ctx.shell,
    };
    builtin.execute(new_ctx).await
}

/// Commands `egrep` and `fgrep`, which are `grep -E` and `grep -F`. GNU grep 3.8+ also warns that they are obsolescent;
/// that warning is left out.
pub(crate) struct GrepAlias {
    flag: &'static str,
}

impl GrepAlias {
    /// `egrep` = `grep -E`
    pub(crate) fn egrep() -> Self {
        Self { flag: "-E" }
    }
    /// `fgrep` = `grep -F`
    pub(crate) fn fgrep() -> Self {
        Self { flag: "-F" }
    }
}

#[async_trait]
impl Builtin for GrepAlias {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let mut args = vec![self.flag.to_string()];
        args.extend(ctx.args.iter().cloned());
        run_with_args(&crate::commands::grep::Grep, ctx, &args).await
    }
}

/// Command `chgrp GROUP FILE...`, where ownership is not modeled, like in `chown`.
pub(crate) struct Chgrp;

#[async_trait]
impl Builtin for Chgrp {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: chgrp [OPTION]... GROUP FILE...\nChange the group of each FILE to GROUP.\n\n  -R, --recursive\toperate on files and directories recursively\n",
            Some("chgrp (bashkit) 0.1"),
        ) {
            return Ok(r);
        }
        let args = ctx.args.to_vec();
        let mut r = run_with_args(&bashkit::builtins::Chown, ctx, &args).await?;
        // Each message begins with the name of the command; names of files in it are left as they are.
        let messages = r.stderr.as_bytes().split_inclusive(|byte| *byte == b'\n');
        let renamed = messages.flat_map(|message| match message.strip_prefix(b"chown:") {
            Some(rest) => [&b"chgrp:"[..], rest].concat(),
            None => message.to_vec(),
        });
        r.stderr = renamed.collect::<Vec<u8>>().into();
        Ok(r)
    }
}

/// `shasum [-a ALG] ...`: the Perl front end over the SHA family.
pub(crate) struct Shasum;

#[async_trait]
impl Builtin for Shasum {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: shasum [OPTION]... [FILE]...\nPrint or check SHA checksums.\n\n  -a, --algorithm\t1 (default), 224, 256, 384, 512\n  -c, --check\tread SHA sums from the FILEs and check them\n  -b, -t\taccepted for compatibility (no effect)\n",
            Some("shasum (bashkit) 0.1"),
        ) {
            return Ok(r);
        }
        let mut alg = "1".to_string();
        let mut rest: Vec<String> = Vec::new();
        let mut it = ctx.args.iter();
        while let Some(arg) = it.next() {
            match arg.as_str() {
                "-a" | "--algorithm" => match it.next() {
                    Some(v) => alg = v.clone(),
                    None => {
                        return Ok(ExecResult::err("shasum: option requires an argument -- 'a'\n".to_string(), 1));
                    }
                },
                a if a.starts_with("--algorithm=") => alg = a[12..].to_string(),
                a if a.starts_with("-a") && a.len() > 2 => alg = a[2..].to_string(),
                "-U" | "--UNIVERSAL" | "-0" | "--01" => {}
                _ => rest.push(arg.clone()),
            }
        }
        let cmd = "shasum";
        match alg.as_str() {
            "1" => crate::commands::checksum::checksum_execute_args::<Sha1>(&ctx, cmd, &rest).await,
            "224" => crate::commands::checksum::checksum_execute_args::<Sha224>(&ctx, cmd, &rest).await,
            "256" => crate::commands::checksum::checksum_execute_args::<Sha256>(&ctx, cmd, &rest).await,
            "384" => crate::commands::checksum::checksum_execute_args::<Sha384>(&ctx, cmd, &rest).await,
            "512" => crate::commands::checksum::checksum_execute_args::<Sha512>(&ctx, cmd, &rest).await,
            other => Ok(ExecResult::err(format!("shasum: Unrecognized algorithm '{other}'\n"), 1)),
        }
    }
}

/// BSD 16-bit rotating checksum (`sum -r`, the GNU default).
fn bsd_sum(data: &[u8]) -> (u32, u64) {
    let mut checksum: u32 = 0;
    for &b in data {
        checksum = (checksum >> 1) + ((checksum & 1) << 15);
        checksum = (checksum + u32::from(b)) & 0xffff;
    }
    (checksum, (data.len() as u64).div_ceil(1024))
}

/// System V checksum (`sum -s`).
fn sysv_sum(data: &[u8]) -> (u32, u64) {
    let s: u32 = data.iter().fold(0u32, |a, &b| a.wrapping_add(u32::from(b)));
    let r = (s & 0xffff) + (s >> 16);
    ((r & 0xffff) + (r >> 16), (data.len() as u64).div_ceil(512))
}

/// Command `sum [-r|-s] [FILE]...` with its two checksums.
pub(crate) struct Sum;

#[async_trait]
impl Builtin for Sum {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: sum [OPTION]... [FILE]...\nPrint checksum and block counts for each FILE.\n\n  -r\tuse BSD sum algorithm (the default), use 1K blocks\n  -s, --sysv\tuse System V sum algorithm, use 512 bytes blocks\n",
            Some("sum (bashkit) 0.1"),
        ) {
            return Ok(r);
        }
        let mut sysv = false;
        let mut files: Vec<&str> = Vec::new();
        for arg in ctx.args {
            match arg.as_str() {
                "-r" => sysv = false,
                "-s" | "--sysv" => sysv = true,
                "-" => files.push("-"),
                a if a.starts_with('-') => return Ok(bashkit::builtins::invalid_option("sum", a, 1)),
                a => files.push(a),
            }
        }
        let named = !files.is_empty();
        if files.is_empty() {
            files.push("-");
        }
        let mut out = String::new();
        let mut err = String::new();
        for file in files {
            let data = if file == "-" {
                ctx.stdin_to_end().await?.as_bytes().to_vec()
            } else {
                let path = bashkit::builtins::resolve_path(ctx.cwd, file);
                match ctx.fs.read_file(&path).await {
                    Ok(d) => d,
                    Err(_) => {
                        err.push_str(&format!("sum: {file}: No such file or directory\n"));
                        continue;
                    }
                }
            };
            let line = if sysv {
                let (c, blocks) = sysv_sum(&data);
                format!("{c} {blocks}")
            } else {
                let (c, blocks) = bsd_sum(&data);
                format!("{c:05} {blocks:>5}")
            };
            out.push_str(&line);
            if named {
                out.push(' ');
                out.push_str(file);
            }
            out.push('\n');
        }
        let mut r = ExecResult::with_code(out, i32::from(!err.is_empty()));
        r.stderr = err.into();
        Ok(r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_matches_gnu() {
        assert_eq!(bsd_sum(b"hello\n"), (36979, 1));
        assert_eq!(sysv_sum(b"hello\n"), (542, 1));
        let big = vec![b'x'; 3000];
        assert_eq!(bsd_sum(&big), (5357, 3));
        assert_eq!(sysv_sum(&big), (32325, 6));
    }
}
