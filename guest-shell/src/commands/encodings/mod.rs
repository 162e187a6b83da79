//! `base64`, `base32` and `basenc`: encode bytes as text, and decode it.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod encoding;
mod wrap;

use crate::commands::option_parser::getopt_long;
use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, InputChunks, StdoutStream, check_help_version, resolve_path};
use bashkit::{ExecResult, Result};

use self::encoding::TextEncoding;
use self::wrap::LineWrapper;
use super::operands;
use crate::commands::files::quote_if_needed;

/// Length of a line, unless an option changes it.
const USUAL_WIDTH: usize = 76;

/// Command that encodes and decodes: `base64`, `base32` or `basenc`.
pub(crate) struct EncodingCommand {
    name: &'static str,
    /// Encoding of a command that has only one.
    encoding: Option<TextEncoding>,
}

impl EncodingCommand {
    /// Returns the command `base64`.
    pub(crate) const fn base64() -> Self {
        Self { name: "base64", encoding: Some(TextEncoding::Base64) }
    }

    /// Returns the command `base32`.
    pub(crate) const fn base32() -> Self {
        Self { name: "base32", encoding: Some(TextEncoding::Base32) }
    }

    /// Returns the command `basenc`.
    pub(crate) const fn basenc() -> Self {
        Self { name: "basenc", encoding: None }
    }

    fn help(&self) -> String {
        let name = self.name;
        let encodings = if self.encoding.is_none() {
            "  --base64, --base64url, --base32, --base32hex, --base16, --base2msbf, --base2lsbf, --z85\tencoding\n"
        } else {
            ""
        };
        format!(
            "Usage: {name} [OPTION]... [FILE]\n\
             Encode or decode FILE, or standard input, to standard output.\n\n\
             {encodings}  \
             -d, --decode\tdecode data\n  \
             -i, --ignore-garbage\twhen decoding, ignore non-alphabet characters\n  \
             -w, --wrap=COLS\twrap encoded lines after COLS characters (default 76)\n  \
             --help\tdisplay this help and exit\n  \
             --version\toutput version information and exit\n"
        )
    }

    fn failure(&self, message: &str) -> ExecResult {
        ExecResult::err(format!("{}: {message}\n", self.name), 1)
    }

    fn usage(&self, message: &str) -> ExecResult {
        self.failure(&format!("{message}\nTry '{} --help' for more information.", self.name))
    }
}

/// Command line of one call.
struct EncodingCall {
    encoding: TextEncoding,
    decode: bool,
    ignore_garbage: bool,
    /// Length of a line, or 0 for a single one.
    width: usize,
    file: String,
}

impl EncodingCall {
    /// Reads a command line. The error is the result of a wrong call.
    fn parse(command: &EncodingCommand, words: &[String]) -> std::result::Result<Self, ExecResult> {
        let mut longs =
            vec![("decode", OptArg::No, 'd'), ("ignore-garbage", OptArg::No, 'i'), ("wrap", OptArg::Required, 'w')];
        if command.encoding.is_none() {
            longs.extend(TextEncoding::OPTIONS.map(|(name, letter, _)| (name, OptArg::No, letter)));
        }
        let (given, operands) = getopt_long(command.name, words, "diw:", &longs, true, 1)
            .map_err(|refusal| command.usage(refusal_message(command.name, &refusal)))?;
        let (mut encoding, mut decode, mut ignore_garbage, mut width) = (command.encoding, false, false, USUAL_WIDTH);
        for option in given {
            let value = option.value.unwrap_or_default();
            match option.key {
                'd' => decode = true,
                'i' => ignore_garbage = true,
                'w' => {
                    width =
                        parse_width(&value).ok_or_else(|| command.failure(&format!("invalid wrap size: '{value}'")))?
                }
                letter => encoding = TextEncoding::of_option(letter),
            }
        }
        if let Some(extra) = operands.get(1) {
            return Err(command.usage(&format!("extra operand '{extra}'")));
        }
        let encoding = encoding.ok_or_else(|| command.usage("missing encoding type"))?;
        let file = operands.into_iter().next().unwrap_or_else(|| "-".to_owned());
        Ok(Self { encoding, decode, ignore_garbage, width, file })
    }
}

/// Returns the message of a refused command line, without the name of the command.
fn refusal_message<'r>(name: &str, refusal: &'r ExecResult) -> &'r str {
    let message = refusal.stderr.trim_end();
    message.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message)
}

/// Returns a length of lines. One beyond the largest number is as good as none.
fn parse_width(text: &str) -> Option<usize> {
    let digits = text.trim_start().trim_start_matches('+');
    let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    valid.then(|| digits.parse().unwrap_or(0))
}

#[async_trait]
impl Builtin for EncodingCommand {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let version = format!("{} (GNU coreutils) 9.1", self.name);
        if let Some(result) = check_help_version(ctx.args, &self.help(), Some(&version)) {
            return Ok(result);
        }
        let call = match EncodingCall::parse(self, ctx.args) {
            Ok(call) => call,
            Err(refusal) => return Ok(refusal),
        };
        // A stage of a pipeline encodes its input as it arrives.
        if let Some(stream) = ctx.stdout_stream().filter(|_| !call.decode && call.encoding != TextEncoding::Z85) {
            let input = match &*call.file {
                "-" => Some(InputChunks::stdin(&ctx)?),
                name => InputChunks::endless_file(&ctx, &resolve_path(ctx.cwd, name)).await?,
            };
            if let Some(input) = input {
                return encode_stream(&ctx, input, &stream, &call).await;
            }
        }
        let input = match operands::read(&ctx, &call.file).await? {
            Ok(input) => input,
            Err(reason) if reason == "Is a directory" => return Ok(self.failure("read error: Is a directory")),
            Err(reason) => return Ok(self.failure(&format!("{}: {reason}", quote_if_needed(&call.file)))),
        };
        Ok(if call.decode { self.decode(&call, &input) } else { self.encode(&call, &input) })
    }
}

impl EncodingCommand {
    /// Returns the text of bytes in lines.
    fn encode(&self, call: &EncodingCall, input: &[u8]) -> ExecResult {
        if call.encoding == TextEncoding::Z85 && !input.len().is_multiple_of(4) {
            return self.failure("invalid input (length must be multiple of 4 characters)");
        }
        let mut wrapper = LineWrapper::new(call.width);
        let mut output = String::new();
        wrapper.push(&call.encoding.encode(input), &mut output);
        wrapper.end(&mut output);
        ExecResult::ok(output)
    }

    /// Returns the bytes of a text, up to the first mistake in it.
    fn decode(&self, call: &EncodingCall, input: &[u8]) -> ExecResult {
        let significant = |byte: &u8| match call.ignore_garbage {
            true => call.encoding.has_symbol(*byte),
            false => *byte != b'\n',
        };
        let text: Vec<u8> = input.iter().copied().filter(significant).collect();
        let (bytes, is_valid) = call.encoding.decode(&text);
        let mut result = if is_valid { ExecResult::ok("") } else { self.failure("invalid input") };
        result.stdout = bytes.into();
        result
    }
}

async fn encode_stream(
    ctx: &Context<'_>,
    mut input: InputChunks<'_>,
    stream: &StdoutStream,
    call: &EncodingCall,
) -> Result<ExecResult> {
    let group = call.encoding.group_bytes();
    let mut wrapper = LineWrapper::new(call.width);
    let mut output = String::new();
    while let Some(piece) = input.next(|data| data.len() / group * group).await? {
        ctx.consume_budget_work(1)?;
        wrapper.push(&call.encoding.encode(&piece), &mut output);
        if !stream.write(output.as_bytes()).await? {
            return Ok(ExecResult::with_code(String::new(), 141));
        }
        output.clear();
    }
    wrapper.end(&mut output);
    let code = if stream.write(output.as_bytes()).await? { 0 } else { 141 };
    Ok(ExecResult::with_code(String::new(), code))
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn text_of_each_encoding_is_that_of_gnu() {
        for (command, text) in [
            ("base64", "bm8gbmV3bGluZQ==\n"),
            ("base64 -w4", "bm8g\nbmV3\nbGlu\nZQ==\n"),
            ("base64 -w 0", "bm8gbmV3bGluZQ=="),
            ("base64 -w 18446744073709551616", "bm8gbmV3bGluZQ=="),
            ("base32 -w 0", "NZXSA3TFO5WGS3TF"),
            ("basenc --base64url", "bm8gbmV3bGluZQ==\n"),
            ("basenc --base32hex", "DPNI0RJ5ETM6IRJ5\n"),
            ("basenc --base16 -w 0", "6E6F206E65776C696E65"),
            ("basenc --base2msbf -w 8 | head -2", "01101110\n01101111\n"),
            ("basenc --base2lsbf -w 8 | head -2", "01110110\n11110110\n"),
            ("head -c 8 | basenc --z85", "zF{UnwP}%8\n"),
        ] {
            let result = run(&format!("printf 'no newline' | {command}")).await;
            assert_eq!((&*result.stdout, result.exit_code), (text, 0), "{command}");
        }
    }

    #[tokio::test]
    async fn encoded_bytes_are_decoded_to_themselves() {
        for command in [
            "base64",
            "base32",
            "basenc --base64",
            "basenc --base64url",
            "basenc --base32",
            "basenc --base32hex",
            "basenc --base16",
            "basenc --base2msbf",
            "basenc --base2lsbf",
            "basenc --z85",
        ] {
            let script = format!(
                r"for n in 4 8 12 200; do head -c $n f | {command} | {command} -d | cmp - <(head -c $n f); done; echo $?"
            );
            let bytes: String = (0..=255_u8).map(|byte| format!("\\x{byte:02x}")).collect();
            let result = run(&format!("printf '{bytes}' > f; {script}")).await;
            assert_eq!((&*result.stdout, &*result.stderr), ("0\n", ""), "{command}");
        }
    }

    #[tokio::test]
    async fn invalid_text_is_decoded_up_to_the_mistake() {
        for (script, bytes, status) in [
            ("base64 -d <<< 'YW JjZA=='", "a", 1),
            ("base64 -di <<< 'YW JjZA=='", "abcd", 0),
            ("base64 -d <<< Zh==", "f", 0),
            ("base64 -d <<< 'YQ==YQ=='", "aa", 0),
            ("base64 -d <<< 'YWJjZ!'", "abc", 1),
            ("base64 -d <<< bm8", "no", 1),
            ("base32 -d <<< MZXQ", "", 1),
            ("base32 -d <<< 'MZXW!Y=='", "fo", 1),
            ("base32 -d <<< 'nzxq===='", "", 1),
            ("base32 -di <<< 'NZ!XQ===='", "no", 0),
            ("basenc --base16 -d <<< 61g2", "a", 1),
            ("basenc --base16 -d <<< 4b", "", 1),
            ("basenc --base16 -di <<< 'AB CD' | od -An -c", " 253 315\n", 0),
            ("basenc --base2msbf -d <<< 0110000101", "a", 1),
            ("basenc --base64url -d <<< a+b/", "", 1),
            ("basenc --z85 -d <<< nm=QNz", "Hell", 1),
            ("basenc --z85 -d <<< '#####'", "", 1),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (bytes, status), "{script}");
            assert_eq!(result.stderr.ends_with(": invalid input\n"), status == 1, "{script}");
        }
    }

    #[tokio::test]
    async fn wrong_calls_have_messages() {
        for (script, message) in [
            ("base32 -w x", "base32: invalid wrap size: 'x'\n"),
            ("base64 nope", "base64: nope: No such file or directory\n"),
            ("basenc", "basenc: missing encoding type\nTry 'basenc --help' for more information.\n"),
            ("base64 -x", "base64: invalid option -- 'x'\nTry 'base64 --help' for more information.\n"),
            ("base64 --base16", "base64: unrecognized option '--base16'\nTry 'base64 --help' for more information.\n"),
            ("base32 a b", "base32: extra operand 'b'\nTry 'base32 --help' for more information.\n"),
            ("echo abcd | basenc --z85", "basenc: invalid input (length must be multiple of 4 characters)\n"),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), ("", message, 1), "{script}");
        }
    }
}
