//! Check of the sums that lists hold (`-c`).

use bashkit::builtins::Context;
use bashkit::{ExecResult, PlacedMessages, Result};

use super::algorithm::DigestAlgorithm;
use super::options::{Algorithm, ChecksumOptions, Program};
use crate::commands::files::quote_if_needed;
use crate::commands::operands;

/// Sum in a line of a list.
struct ListedSum {
    algorithm: DigestAlgorithm,
    digest: String,
    name: String,
    /// Name as it is printed, with a mark if it has escapes.
    shown: String,
}

/// Counts of the lines of a list by their outcome.
#[derive(Default)]
struct ListCounts {
    formatted: usize,
    malformed: usize,
    failed: usize,
    unreadable: usize,
    verified: usize,
}

/// Check of lists, with what it prints.
struct ListCheck<'a> {
    ctx: &'a Context<'a>,
    program: Program,
    options: &'a ChecksumOptions,
    output: String,
    errors: PlacedMessages,
    status: i32,
}

/// Checks the sums that lists hold.
pub(super) async fn check_lists(
    ctx: &Context<'_>,
    program: Program,
    options: &ChecksumOptions,
    lists: &[String],
) -> Result<ExecResult> {
    let mut check =
        ListCheck { ctx, program, options, output: String::new(), errors: PlacedMessages::new(), status: 0 };
    for list in lists {
        check.list(list).await?;
    }
    Ok(ExecResult {
        stderr: check.errors.beside_text(&check.output),
        ..ExecResult::with_code(check.output, check.status)
    })
}

impl ListCheck<'_> {
    fn complain(&mut self, message: &str) {
        self.errors.push(&format!("{}: {message}\n", self.program.name()), self.output.len());
    }

    async fn list(&mut self, list: &str) -> Result<()> {
        let content = match operands::read(self.ctx, list).await? {
            Ok(content) => content,
            Err(reason) => {
                self.complain(&format!("{}: {reason}", quote_if_needed(list)));
                self.status = 1;
                return Ok(());
            }
        };
        let shown = if list == "-" { "'standard input'" } else { list };
        let mut counts = ListCounts::default();
        for (number, line) in bashkit::text_of(&content).lines().enumerate() {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            match self.parse_line(line) {
                Some(sum) => self.verify(&sum, &mut counts).await?,
                None => {
                    counts.malformed += 1;
                    if self.options.warn {
                        let tag = self.expected_tag();
                        self.complain(&format!("{shown}: {}: improperly formatted {tag} checksum line", number + 1));
                    }
                }
            }
        }
        self.conclude(shown, &counts);
        Ok(())
    }

    fn expected_tag(&self) -> String {
        match self.options.algorithm {
            Algorithm::Digest(algorithm) => algorithm.tag(),
            Algorithm::Sum(_) => "CRC".to_owned(),
        }
    }

    /// Parses a line of a list: `DIGEST  NAME`, `DIGEST *NAME` or `TAG (NAME) = DIGEST`.
    fn parse_line(&self, line: &str) -> Option<ListedSum> {
        let line = line.trim_start_matches([' ', '\t']);
        let (is_escaped, line) = line.strip_prefix('\\').map_or((false, line), |line| (true, line));
        let (algorithm, digest, name) = self.parse_tagged(line).or_else(|| self.parse_untagged(line))?;
        let is_digest = digest.len() == algorithm.digits() && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_digest || name.is_empty() {
            return None;
        }
        let name = if is_escaped { unescaped(name) } else { name.to_owned() };
        // A backslash alone needs no escapes where the name is printed.
        let shown = match name.contains(['\n', '\r']) {
            true => format!("\\{}", name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")),
            false => name.clone(),
        };
        Some(ListedSum { algorithm, digest: digest.to_owned(), name, shown })
    }

    fn parse_tagged<'l>(&self, line: &'l str) -> Option<(DigestAlgorithm, &'l str, &'l str)> {
        let (tag, rest) = line.split_once('(')?;
        let (name, digest) = rest.rsplit_once(')')?;
        let found = DigestAlgorithm::of_tag(tag.trim_end_matches(' '))?;
        // One that the command has not got is no line for it.
        let is_own = match self.options.algorithm {
            Algorithm::Digest(own) => found.digits() == own.digits() || own.with_digits(found.digits()).is_some(),
            Algorithm::Sum(_) => self.program == Program::Cksum,
        };
        let same_kind = match self.options.algorithm {
            Algorithm::Digest(own) => std::mem::discriminant(&own) == std::mem::discriminant(&found),
            Algorithm::Sum(_) => true,
        };
        (is_own && same_kind).then_some((found, digest.trim_start().strip_prefix('=')?.trim(), name))
    }

    fn parse_untagged<'l>(&self, line: &'l str) -> Option<(DigestAlgorithm, &'l str, &'l str)> {
        let length = line.bytes().take_while(u8::is_ascii_hexdigit).count();
        let algorithm = match self.options.algorithm {
            Algorithm::Digest(_) if self.program == Program::Shasum && !self.options.names_algorithm => {
                let lengths = [(40, "SHA1"), (56, "SHA224"), (64, "SHA256"), (96, "SHA384"), (128, "SHA512")];
                let tag = lengths.iter().find(|(digits, _)| *digits == length).map(|(_, tag)| *tag)?;
                DigestAlgorithm::of_tag(tag)?
            }
            Algorithm::Digest(algorithm) => algorithm.with_digits(length)?,
            Algorithm::Sum(_) => return None,
        };
        let rest = &line[length..];
        let name = rest.strip_prefix("  ").or_else(|| rest.strip_prefix(" *")).or_else(|| rest.strip_prefix(' '))?;
        Some((algorithm, &line[..length], name))
    }

    async fn verify(&mut self, sum: &ListedSum, counts: &mut ListCounts) -> Result<()> {
        counts.formatted += 1;
        match operands::read(self.ctx, &sum.name).await? {
            Ok(data) => {
                let is_same = sum.algorithm.hex_digest(&data).eq_ignore_ascii_case(&sum.digest);
                counts.verified += usize::from(is_same);
                counts.failed += usize::from(!is_same);
                let verdict = if is_same { "OK" } else { "FAILED" };
                if !(self.options.status || is_same && self.options.quiet) {
                    self.output.push_str(&format!("{}: {verdict}\n", sum.shown));
                }
            }
            Err(reason) if self.options.ignore_missing && reason.starts_with("No such file") => {}
            Err(reason) => {
                counts.unreadable += 1;
                self.complain(&format!("{}: {reason}", quote_if_needed(&sum.name)));
                if !self.options.status {
                    self.output.push_str(&format!("{}: FAILED open or read\n", sum.shown));
                }
            }
        }
        Ok(())
    }

    /// Tells what came of a list.
    fn conclude(&mut self, shown: &str, counts: &ListCounts) {
        if counts.formatted == 0 {
            self.complain(&format!("{shown}: no properly formatted checksum lines found"));
            self.status = 1;
            return;
        }
        let has_verified_none = self.options.ignore_missing && counts.verified == 0;
        if !self.options.status {
            let warnings = [
                (counts.malformed, "line is improperly formatted", "lines are improperly formatted"),
                (counts.unreadable, "listed file could not be read", "listed files could not be read"),
                (counts.failed, "computed checksum did NOT match", "computed checksums did NOT match"),
            ];
            for (count, one, many) in warnings.into_iter().filter(|(count, ..)| *count > 0) {
                self.complain(&format!("WARNING: {count} {}", if count == 1 { one } else { many }));
            }
            if has_verified_none {
                self.complain(&format!("{shown}: no file was verified"));
            }
        }
        let is_malformed = self.options.strict && counts.malformed > 0;
        if counts.failed > 0 || counts.unreadable > 0 || has_verified_none || is_malformed {
            self.status = 1;
        }
    }
}

/// Returns a name without its escapes: `\\`, `\n` and `\r`.
fn unescaped(name: &str) -> String {
    let mut plain = String::new();
    let mut letters = name.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            letter => letter,
        });
    }
    plain
}
