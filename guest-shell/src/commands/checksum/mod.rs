//! Checksums: `md5sum` and its like, `b2sum`, `cksum`, `shasum` and `sum`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`algorithm`] | digests and sums |
//! | [`options`] | options of the command lines |
//! | [`list`] | check of the sums that lists hold (`-c`) |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

pub(super) mod algorithm;
mod list;
mod options;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use self::algorithm::{DigestAlgorithm, LONGEST_BLAKE2B};
use self::list::check_lists;
use self::options::{Algorithm, ChecksumOptions, Program};
use crate::commands::operands;

/// Command that prints checksums.
pub(crate) struct Checksum(Program);

/// Returns the commands with their names.
pub(super) fn commands() -> impl Iterator<Item = (&'static str, Checksum)> {
    let digests = [
        ("b2sum", DigestAlgorithm::Blake2b(LONGEST_BLAKE2B)),
        ("md5sum", DigestAlgorithm::Md5),
        ("sha1sum", DigestAlgorithm::Sha1),
        ("sha224sum", DigestAlgorithm::Sha224),
        ("sha256sum", DigestAlgorithm::Sha256),
        ("sha384sum", DigestAlgorithm::Sha384),
        ("sha512sum", DigestAlgorithm::Sha512),
    ];
    let programs = digests.map(|(name, algorithm)| Program::Digest(name, algorithm)).into_iter();
    programs.chain([Program::Cksum, Program::Shasum]).map(|program| (program.name(), Checksum(program)))
}

fn help(program: Program) -> String {
    let name = program.name();
    let own = match program {
        Program::Cksum => {
            "  -a, --algorithm=TYPE\tbsd, sysv, crc (default), md5, sha1, sha224, sha256, sha384, sha512 or blake2b\n  \
             -l, --length=BITS\tlength of a digest of blake2b\n      --untagged\tlines without the name of the digest\n"
        }
        Program::Shasum => "  -a, --algorithm\t1 (default), 224, 256, 384, 512\n",
        Program::Digest(_, DigestAlgorithm::Blake2b(_)) => "  -l, --length=BITS\tlength of the digest\n",
        Program::Digest(..) => "",
    };
    format!(
        "Usage: {name} [OPTION]... [FILE]...\nPrint or check checksums.\n\n{own}  -b, -t\tread in binary or in text mode \
         (no difference but the mark)\n  -c, --check\tread checksums from the FILEs and check them\n      --tag\tcreate a \
         BSD-style checksum\n  -z, --zero\tend each output line with NUL, and disable file name escaping\n      \
         --ignore-missing\tdon't fail or report status for missing files\n      --quiet\tdon't print OK for each \
         successfully verified file\n      --status\tdon't output anything, status code shows success\n      --strict\texit \
         non-zero for improperly formatted checksum lines\n  -w, --warn\twarn about improperly formatted checksum lines\n  \
         --help\tdisplay this help and exit\n  --version\toutput version information and exit\n"
    )
}

#[async_trait]
impl Builtin for Checksum {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let program = self.0;
        let version = format!("{} (GNU coreutils) 9.1", program.name());
        if let Some(result) = check_help_version(ctx.args, &help(program), Some(&version)) {
            return Ok(result);
        }
        let (options, mut files) = match program.parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        let is_named = !files.is_empty();
        if !is_named {
            files.push("-".to_owned());
        }
        if options.check {
            return check_lists(&ctx, program, &options, &files).await;
        }
        let operands = operands::read_all(&ctx, program.name(), &files).await?;
        let mut output = String::new();
        let mut ends = Vec::with_capacity(operands.contents.len());
        for (name, data) in &operands.contents {
            output += &line(program, &options, name, data, is_named);
            ends.push(output.len());
        }
        Ok(operands.finish_text(output, &ends))
    }
}

/// Returns the line about a file.
fn line(program: Program, options: &ChecksumOptions, name: &str, data: &[u8], is_named: bool) -> String {
    let end = if options.zero_terminated { '\0' } else { '\n' };
    let algorithm = match options.algorithm {
        Algorithm::Sum(sum) => {
            let name = if is_named { format!(" {name}") } else { String::new() };
            return format!("{}{name}{end}", sum.text(data));
        }
        Algorithm::Digest(algorithm) => algorithm,
    };
    let digest = algorithm.hex_digest(data);
    let (mark, name) = escaped_name(name, options.zero_terminated);
    if options.tag {
        return format!("{mark}{} ({name}) = {digest}{end}", algorithm.tag());
    }
    let kind = if options.binary == Some(true) && program != Program::Cksum { '*' } else { ' ' };
    format!("{mark}{digest} {kind}{name}{end}")
}

/// Returns a file name as it stands in a line, and the mark of a name with escapes.
fn escaped_name(file: &str, zero_terminated: bool) -> (&'static str, String) {
    if zero_terminated || !file.contains(['\\', '\n', '\r']) {
        return ("", file.to_owned());
    }
    ("\\", file.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r"))
}
