//! `openssl`: digests (`dgst`, `sha256`, …), Base64 (`base64`, `enc -base64`), `rand` and `version`, as of OpenSSL 3.0.
//!
//! Ciphers, keys and certificates are not here; their commands are errors by name.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bashkit::builtins::{Builtin, Context, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::{ExecResult, Result};

use super::checksum::algorithm::{DigestAlgorithm, hexadecimal};
use super::operands;

const VERSION: &str = "OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)\n";

/// Letters of a line of Base64.
const LINE: usize = 64;

/// Digests by their names as commands and options, with the names that are printed.
const DIGESTS: [(&str, DigestAlgorithm, &str); 6] = [
    ("md5", DigestAlgorithm::Md5, "MD5"),
    ("sha1", DigestAlgorithm::Sha1, "SHA1"),
    ("sha224", DigestAlgorithm::Sha224, "SHA2-224"),
    ("sha256", DigestAlgorithm::Sha256, "SHA2-256"),
    ("sha384", DigestAlgorithm::Sha384, "SHA2-384"),
    ("sha512", DigestAlgorithm::Sha512, "SHA2-512"),
];

/// Command `openssl` of the shell.
pub(crate) struct Openssl;

#[async_trait]
impl Builtin for Openssl {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let (command, words) = match ctx.args.split_first() {
            Some((command, words)) => (command.as_str(), words),
            None => ("", ctx.args),
        };
        if let Some((name, ..)) = DIGESTS.iter().find(|(name, ..)| *name == command) {
            return digest(&ctx, Some(name), words).await;
        }
        match command {
            "version" if words.is_empty() => Ok(ExecResult::ok(VERSION.to_owned())),
            "dgst" => digest(&ctx, None, words).await,
            "base64" => base64(&ctx, command, words, true).await,
            "enc" => base64(&ctx, command, words, false).await,
            "rand" => bashkit::builtins::Openssl.execute(ctx).await,
            "" | "list" | "help" | "version" => {
                Ok(failure("openssl: only dgst, base64, enc -base64, rand and version are here"))
            }
            _ => Ok(failure(&format!(
                "openssl: `{command}` is not here; dgst, base64, enc -base64, rand and version are"
            ))),
        }
    }
}

fn failure(message: &str) -> ExecResult {
    ExecResult::err(format!("{message}\n"), 1)
}

/// Returns the result of a command line that a command does not take.
fn usage_error(command: &str, what: &str) -> ExecResult {
    failure(&format!("{command}: Unknown option{what}\n{command}: Use -help for summary."))
}

/// Options of a digest.
#[derive(Default)]
struct DigestOptions {
    algorithm: Option<&'static str>,
    key: Option<String>,
    /// Bytes and not digits.
    binary: bool,
    /// Lines as of `sha256sum`.
    reversed: bool,
    colons: bool,
    output: Option<String>,
    files: Vec<String>,
}

impl DigestOptions {
    /// Reads a command line. The error is the result of a wrong call.
    fn parse(algorithm: Option<&'static str>, words: &[String]) -> std::result::Result<Self, ExecResult> {
        let mut options = Self { algorithm, ..Self::default() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_prefix('-').filter(|name| !name.is_empty()) else {
                options.files.push(word.clone());
                options.files.extend(words.by_ref().cloned());
                break;
            };
            match name.strip_prefix('-').unwrap_or(name) {
                "hex" => options.binary = false,
                "binary" => options.binary = true,
                "r" => options.reversed = true,
                "c" => options.colons = true,
                name @ ("hmac" | "out") => {
                    let value = words.next().cloned();
                    let missing =
                        || failure(&format!("dgst: Option -{name} needs a value\ndgst: Use -help for summary."));
                    let value = Some(value.ok_or_else(missing)?);
                    match name {
                        "hmac" => options.key = value,
                        _ => options.output = value,
                    }
                }
                name => match DIGESTS.iter().find(|(known, ..)| *known == name) {
                    Some((known, ..)) => options.algorithm = Some(known),
                    None => return Err(usage_error("dgst", &format!(" or message digest: {name}"))),
                },
            }
        }
        Ok(options)
    }

    /// Returns the line about a file, or its digest in bytes.
    fn line(&self, file: Option<&str>, data: &[u8]) -> Vec<u8> {
        let name = file.unwrap_or("stdin");
        let wanted = self.algorithm.unwrap_or("sha256");
        let known = DIGESTS.iter().find(|(known, ..)| *known == wanted).unwrap_or(&DIGESTS[3]);
        let (_, algorithm, mut shown) = *known;
        if self.algorithm.is_none() {
            // The name of a digest that nobody named.
            shown = "SHA256";
        }
        let digest = match &self.key {
            Some(key) => keyed_digest(algorithm, &bashkit::bytes_of(key), data),
            None => algorithm.digest(data),
        };
        if self.binary {
            return digest;
        }
        let mut digits = hexadecimal(&digest);
        if self.colons {
            digits = digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":");
        }
        // Of standard input, OpenSSL does not say that a key was used.
        let mark = if self.key.is_some() && file.is_some() { "HMAC-" } else { "" };
        match self.reversed {
            true => format!("{digits} *{name}\n"),
            false => format!("{mark}{shown}({name})= {digits}\n"),
        }
        .into_bytes()
    }
}

/// Digest with a key (HMAC, RFC 2104).
fn keyed_digest(algorithm: DigestAlgorithm, key: &[u8], data: &[u8]) -> Vec<u8> {
    let block = if matches!(algorithm, DigestAlgorithm::Sha384 | DigestAlgorithm::Sha512) { 128 } else { 64 };
    let mut padded = if key.len() > block { algorithm.digest(key) } else { key.to_vec() };
    padded.resize(block, 0);
    let mixed = |byte: u8| padded.iter().map(|key| key ^ byte).collect::<Vec<u8>>();
    let inner = algorithm.digest(&[&mixed(0x36), data].concat());
    algorithm.digest(&[mixed(0x5c), inner].concat())
}

async fn digest(ctx: &Context<'_>, algorithm: Option<&'static str>, words: &[String]) -> Result<ExecResult> {
    let options = match DigestOptions::parse(algorithm, words) {
        Ok(options) => options,
        Err(result) => return Ok(result),
    };
    let (mut output, mut errors) = (Vec::new(), String::new());
    if options.files.is_empty() {
        let input = ctx.stdin_to_end().await?;
        output = options.line(None, input.as_bytes());
    }
    for file in &options.files {
        let path = resolve_path(ctx.cwd, file);
        match ctx.fs.read_file(&path).await {
            Ok(data) => {
                ctx.consume_budget_input(data.len())?;
                output.extend_from_slice(&options.line(Some(file), &data));
            }
            Err(error) => errors.push_str(&format!("{file}: {}\n", io_error_reason(&error))),
        }
    }
    finish(ctx, options.output.as_deref(), output, errors).await
}

/// Writes the output to a file, or returns it.
async fn finish(ctx: &Context<'_>, file: Option<&str>, output: Vec<u8>, mut errors: String) -> Result<ExecResult> {
    let mut result = ExecResult::ok("");
    match file {
        None => result = ExecResult::ok_bytes(output),
        Some(file) => {
            if let Err(error) = ctx.fs.write_file(&resolve_path(ctx.cwd, file), &output).await {
                errors.push_str(&format!("Can't open \"{file}\" for writing, {}\n", io_error_reason(&error)));
            }
        }
    }
    Ok(ExecResult { exit_code: i32::from(!errors.is_empty()), stderr: errors.into(), ..result })
}

/// Encodes or decodes Base64; `chosen` unless an option has to choose it.
async fn base64(ctx: &Context<'_>, command: &str, words: &[String], mut chosen: bool) -> Result<ExecResult> {
    let (mut decodes, mut one_line, mut input, mut output) = (false, false, None, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--").or_else(|| word.strip_prefix('-')) {
            Some("d") => decodes = true,
            Some("e") => decodes = false,
            Some("A") => one_line = true,
            Some("a" | "base64") => chosen = true,
            Some("in") => input = words.next().cloned(),
            Some("out") => output = words.next().cloned(),
            Some(cipher) => {
                let message = format!("{command}: `-{cipher}` is not here: there are no ciphers, only -base64");
                return Ok(failure(&message));
            }
            None => return Ok(failure(&format!("{command}: Extra (unknown) options: \"{word}\""))),
        }
    }
    if !chosen {
        return Ok(failure("enc: there are no ciphers here, only -base64"));
    }
    let data = match operands::read(ctx, input.as_deref().unwrap_or("-")).await? {
        Ok(data) => data,
        Err(reason) => {
            let name = input.unwrap_or_default();
            return Ok(failure(&format!("Can't open \"{name}\" for reading, {reason}")));
        }
    };
    let converted = if decodes { decoded(&data, one_line) } else { encoded(&data, one_line) };
    finish(ctx, output.as_deref(), converted, String::new()).await
}

fn encoded(data: &[u8], one_line: bool) -> Vec<u8> {
    let text = STANDARD.encode(data).into_bytes();
    if one_line {
        return text;
    }
    text.chunks(LINE).flat_map(|line| [line, b"\n"].concat()).collect()
}

/// Decodes what is Base64 at the start of a text. As in OpenSSL, a lone line without an end is none, but with `-A`, and
/// what is no Base64 is no error.
fn decoded(data: &[u8], one_line: bool) -> Vec<u8> {
    if !one_line && !data.contains(&b'\n') {
        return Vec::new();
    }
    let text: Vec<u8> = data.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let valid = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)).count();
    let whole = &text[..valid - valid % 4];
    STANDARD.decode(whole).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    async fn check(cases: &[(&str, &str, i32)]) {
        for (script, output, status) in cases {
            let result = run(&format!("echo 'hello world' > h; {script}")).await;
            assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
        }
    }

    #[tokio::test]
    async fn openssl_digests_have_openssls_lines() {
        check(&[
            ("openssl md5 h", "MD5(h)= 6f5902ac237024bdd0c176cb93063dc4\n", 0),
            ("openssl dgst -md5 -r h", "6f5902ac237024bdd0c176cb93063dc4 *h\n", 0),
            ("openssl sha1 < h", "SHA1(stdin)= 22596363b3de40b06f981fb85d82312e8c0ed511\n", 0),
            (
                "openssl sha256 h | cut -c 1-20; openssl dgst h | cut -c 1-20",
                "SHA2-256(h)= a948904\nSHA256(h)= a948904f2\n",
                0,
            ),
            ("openssl dgst -sha256 -binary h | xxd -p -c 64 | cut -c 1-10", "a948904f2f\n", 0),
            ("openssl sha256 -hmac k h | cut -c 1-30", "HMAC-SHA2-256(h)= 49c53bf59b2b\n", 0),
            ("printf x | openssl dgst -sha1 -hmac key", "SHA1(stdin)= 2a00e8e8343df86c4c188b263eeca331afa31548\n", 0),
            ("openssl dgst -md5 -c h", "MD5(h)= 6f:59:02:ac:23:70:24:bd:d0:c1:76:cb:93:06:3d:c4\n", 0),
            ("openssl dgst -md5 -out o h; cat o", "MD5(h)= 6f5902ac237024bdd0c176cb93063dc4\n", 0),
            ("openssl md5 none h 2>/dev/null", "MD5(h)= 6f5902ac237024bdd0c176cb93063dc4\n", 1),
        ])
        .await;
    }

    #[tokio::test]
    async fn openssl_base64_is_encoded_and_decoded() {
        check(&[
            (
                "openssl base64 -in h; openssl base64 -A < h; openssl enc -base64 -A -in h",
                "aGVsbG8gd29ybGQK\naGVsbG8gd29ybGQKaGVsbG8gd29ybGQK",
                0,
            ),
            ("head -c 60 /dev/zero | openssl base64 | awk '{print length}'", "64\n16\n", 0),
            ("echo aGVsbG8= | openssl base64 -d; printf aGVsbG8= | openssl enc -base64 -d -A", "hellohello", 0),
            ("printf aGVsbG8= | openssl base64 -d; echo '!!' | openssl base64 -d", "", 0),
            ("openssl base64 -in h -out o; openssl base64 -d -in o", "hello world\n", 0),
        ])
        .await;
    }

    #[tokio::test]
    async fn openssl_command_that_is_not_here_is_an_error() {
        check(&[
            ("openssl version | cut -d ' ' -f 1; openssl rand -hex 4 | wc -c", "OpenSSL\n9\n", 0),
            ("openssl enc -aes-256-cbc -k x -in h", "", 1),
            ("openssl x509 -in h", "", 1),
            ("openssl dgst -md4x h 2>&1 | head -1", "dgst: Unknown option or message digest: md4x\n", 0),
        ])
        .await;
    }
}
