//! Checksum builtins - md5sum, sha1sum, sha2 family, b2sum, cksum
//!
//! Decision: one generic driver (`checksum_execute`) for every `*sum` tool,
//! including GNU `-c/--check` verification, since agents use
//! `sha256sum -c SUMS` to verify downloads. `cksum` is POSIX CRC-32 with the
//! byte length folded in, computed by a small table-driven implementation
//! rather than a crate.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;
use blake2::Blake2b512;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::fs::vfs_join;

macro_rules! digest_builtin {
    ($ty:ident, $name:literal, $label:literal, $digest:ty) => {
        #[doc = concat!("`", $name, "` builtin - compute ", $label, " message digests")]
        pub(crate) struct $ty;

        #[async_trait]
        impl Builtin for $ty {
            async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
                if let Some(r) = bashkit::builtins::check_help_version(
                    ctx.args,
                    concat!(
                        "Usage: ",
                        $name,
                        " [OPTION]... [FILE]...\n",
                        "Print or check ",
                        $label,
                        " checksums.\n\n",
                        "  -c, --check\tread checksums from the FILEs and check them\n",
                        "  --quiet\tdon't print OK for each successfully verified file\n",
                        "  --status\tdon't output anything, status code shows success\n",
                        "  -b, -t\taccepted for compatibility (no effect)\n",
                        "  --help\tdisplay this help and exit\n",
                        "  --version\toutput version information and exit\n"
                    ),
                    Some(concat!($name, " (bashkit) 0.1")),
                ) {
                    return Ok(r);
                }
                checksum_execute::<$digest>(&ctx, $name).await
            }
        }
    };
}

digest_builtin!(Md5sum, "md5sum", "MD5", Md5);
digest_builtin!(Sha1sum, "sha1sum", "SHA1", Sha1);
digest_builtin!(Sha224sum, "sha224sum", "SHA224", Sha224);
digest_builtin!(Sha256sum, "sha256sum", "SHA256", Sha256);
digest_builtin!(Sha384sum, "sha384sum", "SHA384", Sha384);
digest_builtin!(Sha512sum, "sha512sum", "SHA512", Sha512);
digest_builtin!(B2sum, "b2sum", "BLAKE2b-512", Blake2b512);

#[derive(Default)]
struct CheckOpts {
    check: bool,
    quiet: bool,
    status: bool,
    warn: bool,
    strict: bool,
    ignore_missing: bool,
    /// `-b`, `-t` or neither.
    binary: Option<bool>,
    /// Lines of BSD's form, with the name of the digest.
    tag: bool,
    zero_terminated: bool,
}

impl CheckOpts {
    /// Returns the reason why these options do not go together.
    fn conflict(&self) -> Option<&'static str> {
        if self.tag && self.binary == Some(false) {
            Some("--tag does not support --text mode")
        } else if self.zero_terminated && self.check {
            Some("the --zero option is not supported when verifying checksums")
        } else if self.tag && self.check {
            Some("the --tag option is meaningless when verifying checksums")
        } else if self.binary.is_some() && self.check {
            Some("the --binary and --text options are meaningless when verifying checksums")
        } else if self.ignore_missing && !self.check {
            Some("the --ignore-missing option is meaningful only when verifying checksums")
        } else if self.status && !self.check {
            Some("the --status option is meaningful only when verifying checksums")
        } else if self.warn && !self.check {
            Some("the --warn option is meaningful only when verifying checksums")
        } else if self.quiet && !self.check {
            Some("the --quiet option is meaningful only when verifying checksums")
        } else if self.strict && !self.check {
            Some("the --strict option is meaningful only when verifying checksums")
        } else {
            None
        }
    }
}

/// Name of the digest in lines of BSD's form.
fn tag_name(cmd: &str) -> String {
    match cmd {
        "b2sum" => "BLAKE2b".to_string(),
        cmd => cmd.trim_end_matches("sum").to_uppercase(),
    }
}

/// A file name as it stands in a line, and the mark of a name with escapes.
fn escaped_name(file: &str, zero_terminated: bool) -> (&'static str, String) {
    if zero_terminated || !file.contains(['\\', '\n', '\r']) {
        return ("", file.to_string());
    }
    let escaped = file.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    ("\\", escaped)
}

async fn read_operand(ctx: &Context<'_>, file: &str) -> std::result::Result<Vec<u8>, String> {
    if file == "-" {
        let input = ctx.stdin_to_end().await.map_err(|e| e.to_string())?;
        return Ok(input.as_bytes().to_vec());
    }
    let path = if file.starts_with('/') { std::path::PathBuf::from(file) } else { vfs_join(ctx.cwd, file) };
    ctx.fs.read_file(&path).await.map_err(|e| bashkit::error::io_error_reason(&e))
}

async fn checksum_execute<D: Digest>(ctx: &Context<'_>, cmd: &str) -> Result<ExecResult> {
    checksum_execute_args::<D>(ctx, cmd, ctx.args).await
}

/// [`checksum_execute`] over explicit arguments (`shasum` strips `-a N`).
pub(super) async fn checksum_execute_args<D: Digest>(
    ctx: &Context<'_>,
    cmd: &str,
    args: &[String],
) -> Result<ExecResult> {
    let mut files: Vec<&str> = Vec::new();
    let mut end_of_options = false;
    let mut opts = CheckOpts::default();

    for arg in args {
        if end_of_options || arg == "-" || !arg.starts_with('-') {
            files.push(arg);
            continue;
        }
        match arg.as_str() {
            "--" => end_of_options = true,
            "--check" => opts.check = true,
            "--quiet" => opts.quiet = true,
            "--status" => opts.status = true,
            "--binary" => opts.binary = Some(true),
            "--text" => opts.binary = Some(false),
            "--warn" => opts.warn = true,
            "--strict" => opts.strict = true,
            "--ignore-missing" => opts.ignore_missing = true,
            "--tag" => (opts.tag, opts.binary) = (true, Some(true)),
            "--zero" => opts.zero_terminated = true,
            long if long.starts_with("--") => {
                return Ok(ExecResult::err(format!("{}: unrecognized option '{}'\n", cmd, long), 1));
            }
            short => {
                for c in short[1..].chars() {
                    match c {
                        'c' => opts.check = true,
                        'b' => opts.binary = Some(true),
                        't' => opts.binary = Some(false),
                        'w' => opts.warn = true,
                        'z' => opts.zero_terminated = true,
                        _ => {
                            return Ok(ExecResult::err(format!("{}: invalid option -- '{}'\n", cmd, c), 1));
                        }
                    }
                }
            }
        }
    }
    if files.is_empty() {
        files.push("-");
    }

    if let Some(conflict) = opts.conflict() {
        return Ok(ExecResult::err(format!("{cmd}: {conflict}\nTry '{cmd} --help' for more information.\n"), 1));
    }

    if opts.check {
        return check_sums::<D>(ctx, cmd, &files, &opts).await;
    }

    let files: Vec<String> = files.into_iter().map(str::to_string).collect();
    let operands = crate::commands::operands::read_all(ctx, cmd, &files).await?;
    let mut output = String::new();
    let end = if opts.zero_terminated { '\0' } else { '\n' };
    for (file, content) in &operands.contents {
        let digest = hex_digest::<D>(content);
        let (mark, name) = escaped_name(file, opts.zero_terminated);
        output.push_str(mark);
        if opts.tag {
            output.push_str(&format!("{} ({name}) = {digest}{end}", tag_name(cmd)));
        } else {
            let kind = if opts.binary == Some(true) { '*' } else { ' ' };
            output.push_str(&format!("{digest} {kind}{name}{end}"));
        }
    }
    Ok(operands.finish(output))
}

/// Checks the sums that lists hold (`-c`): each line is `HASH  NAME` or `HASH *NAME`.
async fn check_sums<D: Digest>(ctx: &Context<'_>, cmd: &str, files: &[&str], opts: &CheckOpts) -> Result<ExecResult> {
    let hex_len = <D as Digest>::output_size() * 2;
    let tag = tag_name(cmd);
    let mut out = String::new();
    let mut err = String::new();
    let mut code = 0;
    for list in files {
        let content = match read_operand(ctx, list).await {
            Ok(c) => c,
            Err(e) => {
                err.push_str(&format!("{cmd}: {list}: {e}\n"));
                code = 1;
                continue;
            }
        };
        let shown = if *list == "-" { "standard input" } else { list };
        let (mut failed, mut unreadable, mut malformed, mut verified) = (0, 0, 0, 0);
        let mut formatted = 0;
        for (number, line) in bashkit::text_of(&content).lines().enumerate() {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            let Some((hash, name)) = parse_check_line(line, hex_len, &tag) else {
                malformed += 1;
                if opts.warn {
                    err.push_str(&format!(
                        "{cmd}: {shown}: {}: improperly formatted {tag} checksum line\n",
                        number + 1
                    ));
                }
                continue;
            };
            formatted += 1;
            match read_operand(ctx, &name).await {
                Ok(data) => {
                    let same = hex_digest::<D>(&data).eq_ignore_ascii_case(hash);
                    verified += usize::from(same);
                    failed += usize::from(!same);
                    let verdict = if same { "OK" } else { "FAILED" };
                    if !(opts.status || same && opts.quiet) {
                        out.push_str(&format!("{name}: {verdict}\n"));
                    }
                }
                Err(reason) if opts.ignore_missing && reason.starts_with("No such file") => {}
                Err(reason) => {
                    unreadable += 1;
                    err.push_str(&format!("{cmd}: {name}: {reason}\n"));
                    if !opts.status {
                        out.push_str(&format!("{name}: FAILED open or read\n"));
                    }
                }
            }
        }
        if formatted == 0 {
            err.push_str(&format!("{cmd}: {shown}: no properly formatted checksum lines found\n"));
            code = 1;
            continue;
        }
        if !opts.status {
            let mut warn = |count: usize, one: &str, many: &str| {
                if count > 0 {
                    let what = if count == 1 { one } else { many };
                    err.push_str(&format!("{cmd}: WARNING: {count} {what}\n"));
                }
            };
            warn(malformed, "line is improperly formatted", "lines are improperly formatted");
            warn(unreadable, "listed file could not be read", "listed files could not be read");
            warn(failed, "computed checksum did NOT match", "computed checksums did NOT match");
            if opts.ignore_missing && verified == 0 {
                err.push_str(&format!("{cmd}: {shown}: no file was verified\n"));
            }
        }
        let none = opts.ignore_missing && verified == 0;
        if failed > 0 || unreadable > 0 || none || opts.strict && malformed > 0 {
            code = 1;
        }
    }
    Ok(finish(out, err, code))
}

fn finish(out: String, err: String, code: i32) -> ExecResult {
    ExecResult { stdout: out.into(), stderr: err.into(), exit_code: code, ..Default::default() }
}

/// The digest and the name in a line: `HASH  NAME`, `HASH *NAME` or `TAG (NAME) = HASH`.
fn parse_check_line<'l>(line: &'l str, hex_len: usize, tag: &str) -> Option<(&'l str, String)> {
    let line = line.trim_start_matches([' ', '\t']);
    let (escaped, line) = match line.strip_prefix('\\') {
        Some(line) => (true, line),
        None => (false, line),
    };
    let tagged = line.strip_prefix(tag).map(|rest| rest.trim_start_matches(' '));
    let (hash, name) = match tagged.and_then(|rest| rest.strip_prefix('(')) {
        Some(rest) => {
            let (name, hash) = rest.rsplit_once(')')?;
            (hash.trim_start().strip_prefix('=')?.trim(), name)
        }
        None => {
            let (hash, rest) = (line.get(..hex_len)?, &line[hex_len..]);
            let name = rest.strip_prefix("  ").or_else(|| rest.strip_prefix(" *"));
            (hash, name.or_else(|| rest.strip_prefix(' '))?)
        }
    };
    let hexadecimal = hash.len() == hex_len && hash.bytes().all(|b| b.is_ascii_hexdigit());
    if !hexadecimal || name.is_empty() {
        return None;
    }
    let name = match escaped {
        true => name.replace("\\n", "\n").replace("\\r", "\r").replace("\\\\", "\\"),
        false => name.to_string(),
    };
    Some((hash, name))
}

fn hex_digest<D: Digest>(data: &[u8]) -> String {
    let result = D::digest(data);
    result.iter().map(|b| format!("{:02x}", b)).collect()
}

/// `cksum` builtin - POSIX CRC-32 checksum and byte count.
pub(crate) struct Cksum;

/// Computes the CRC of POSIX `cksum`: polynomial 0x04C11DB7, MSB-first, length appended.
fn posix_cksum(data: &[u8]) -> u32 {
    fn update(mut crc: u32, byte: u8) -> u32 {
        crc ^= u32::from(byte) << 24;
        for _ in 0..8 {
            crc = if crc & 0x8000_0000 != 0 { (crc << 1) ^ 0x04C1_1DB7 } else { crc << 1 };
        }
        crc
    }
    let mut crc = data.iter().fold(0u32, |c, &b| update(c, b));
    let mut len = data.len() as u64;
    while len > 0 {
        crc = update(crc, (len & 0xff) as u8);
        len >>= 8;
    }
    !crc
}

#[async_trait]
impl Builtin for Cksum {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: cksum [FILE]...\nPrint CRC checksum and byte counts of each FILE.\n\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("cksum (bashkit) 0.1"),
        ) {
            return Ok(r);
        }
        let mut files: Vec<String> = Vec::new();
        for arg in ctx.args {
            if arg.starts_with('-') && arg != "-" && arg != "--" {
                return Ok(ExecResult::err(format!("cksum: unrecognized option '{arg}'\n"), 1));
            }
            if arg != "--" {
                files.push(arg.clone());
            }
        }
        let operands = crate::commands::operands::read_all(&ctx, "cksum", &files).await?;
        let mut out = String::new();
        for (file, data) in &operands.contents {
            out.push_str(&format!("{} {}", posix_cksum(data), data.len()));
            if !files.is_empty() {
                out.push(' ');
                out.push_str(file);
            }
            out.push('\n');
        }
        Ok(operands.finish(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::path::PathBuf;
    use std::sync::Arc;

    use bashkit::fs::InMemoryFs;

    async fn run_checksum<B: Builtin>(builtin: &B, args: &[&str], stdin: Option<&str>) -> ExecResult {
        let fs = Arc::new(InMemoryFs::new());
        let mut variables = HashMap::new();
        let env = HashMap::new();
        let mut cwd = PathBuf::from("/");

        let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
        let ctx = Context {
            args: &args,
            env: &env,
            variables: &mut variables,
            cwd: &mut cwd,
            fs,
            stdin: crate::commands::testing::test_stream_opt(stdin),
            shell: None,
        };

        builtin.execute(ctx).await.unwrap()
    }

    #[tokio::test]
    async fn test_md5sum_stdin() {
        let result = run_checksum(&Md5sum, &[], Some("hello\n")).await;
        assert_eq!(result.exit_code, 0);
        // md5("hello\n") = b1946ac92492d2347c6235b4d2611184
        assert!(result.stdout.starts_with("b1946ac92492d2347c6235b4d2611184"));
        assert!(result.stdout.contains("  -"));
    }

    #[tokio::test]
    async fn test_sha256sum_stdin() {
        let result = run_checksum(&Sha256sum, &[], Some("hello\n")).await;
        assert_eq!(result.exit_code, 0);
        // sha256("hello\n") = 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
        assert!(result.stdout.starts_with("5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"));
    }

    #[tokio::test]
    async fn test_sha1sum_stdin() {
        let result = run_checksum(&Sha1sum, &[], Some("hello\n")).await;
        assert_eq!(result.exit_code, 0);
        // sha1("hello\n") = f572d396fae9206628714fb2ce00f72e94f2258f
        assert!(result.stdout.starts_with("f572d396fae9206628714fb2ce00f72e94f2258f"));
    }

    #[tokio::test]
    async fn sha256sum_check_verifies_stdin_list() {
        let sums = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03  -\n";
        // `-` names stdin, which is also the list here; GNU behaves the same.
        let result = run_checksum(&Sha256sum, &["-c"], Some(sums)).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stdout.contains("-: FAILED"));
        assert!(result.stderr.contains("1 computed checksum did NOT match"));
    }

    #[tokio::test]
    async fn sha256sum_check_rejects_list_without_checksums() {
        let result = run_checksum(&Sha256sum, &["--check"], Some("junk\n")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("no properly formatted checksum lines found"));
    }

    #[tokio::test]
    async fn checksum_unknown_options_are_rejected() {
        let result = run_checksum(&Sha256sum, &["-q"], Some("")).await;
        assert!(result.stderr.contains("sha256sum: invalid option -- 'q'"));
        let result = run_checksum(&Sha256sum, &["--nope"], Some("")).await;
        assert!(result.stderr.contains("sha256sum: unrecognized option '--nope'"));
    }

    #[tokio::test]
    async fn sha2_family_and_b2sum_known_vectors() {
        let r = run_checksum(&Sha512sum, &[], Some("")).await;
        assert!(r.stdout.starts_with("cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"));
        let r = run_checksum(&Sha224sum, &[], Some("")).await;
        assert!(r.stdout.starts_with("d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"));
        let r = run_checksum(&Sha384sum, &[], Some("")).await;
        assert!(r.stdout.starts_with("38b060a751ac96384cd9327eb1b1e36a21fdb71114be0743"));
        let r = run_checksum(&B2sum, &[], Some("")).await;
        assert!(r.stdout.starts_with("786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419"));
    }

    #[test]
    fn posix_cksum_matches_gnu() {
        // `printf 'hello\n' | cksum` => 3015617425 6; empty => 4294967295 0
        assert_eq!(posix_cksum(b"hello\n"), 3_015_617_425);
        assert_eq!(posix_cksum(b""), 4_294_967_295);
    }

    #[tokio::test]
    async fn test_sha256sum_dash_reads_stdin() {
        let result = run_checksum(&Sha256sum, &["-"], Some("hello\n")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.starts_with("5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"));
        assert!(result.stdout.contains("  -"));
    }

    #[tokio::test]
    async fn test_md5sum_empty() {
        let result = run_checksum(&Md5sum, &[], Some("")).await;
        assert_eq!(result.exit_code, 0);
        // md5("") = d41d8cd98f00b204e9800998ecf8427e
        assert!(result.stdout.starts_with("d41d8cd98f00b204e9800998ecf8427e"));
    }
}
