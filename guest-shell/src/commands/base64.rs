//! base64 builtin command - encode/decode base64
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;
use base64::Engine;

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::BuiltinHelper;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::OptArg;

/// The base64 builtin command.
///
/// Usage: base64 [-d|--decode] [-w COLS|--wrap=COLS] [FILE]
///
/// Options:
///   -d, --decode    Decode base64 input
///   -w COLS         Wrap encoded lines after COLS characters (default: 76, 0 = no wrap)
pub(crate) struct Base64;

impl BuiltinHelper for Base64 {
    const NAME: &'static str = "base64";
}

#[async_trait]
impl Builtin for Base64 {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = Self::check_help(
            ctx.args,
            "Usage: base64 [OPTION]... [FILE]\nBase64 encode or decode FILE, or standard input.\n\n  -d, --decode\tdecode data\n  -w COLS, --wrap=COLS\twrap encoded lines after COLS characters (default 76)\n  -i, --ignore-garbage\twhen decoding, ignore non-alphabet characters\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("base64 (bashkit) 0.1"),
        ) {
            return Ok(r);
        }
        let (parsed, operands) = match bashkit::builtins::arg_parser::gnu_getopt(
            "base64",
            ctx.args,
            "diw:",
            &[("decode", OptArg::No, 'd'), ("ignore-garbage", OptArg::No, 'i'), ("wrap", OptArg::Required, 'w')],
            true,
            1,
        ) {
            Ok(v) => v,
            Err(e) => return Ok(e),
        };
        let mut decode = false;
        let mut ignore_garbage = false;
        let mut wrap = 76usize;
        for o in parsed {
            match o.key {
                'd' => decode = true,
                'i' => ignore_garbage = true,
                _ => {
                    let val = o.value.unwrap_or_default();
                    wrap = match val.parse() {
                        Ok(w) => w,
                        Err(_) => {
                            return Ok(Self::err(format!("invalid wrap size: '{val}'"), 1));
                        }
                    };
                }
            }
        }
        if operands.len() > 1 {
            return Ok(Self::err(format!("extra operand '{}'", operands[1]), 1));
        }
        let file = operands.into_iter().next();

        // A stage of a pipeline encodes its input as it arrives.
        if let Some(stream) = ctx.stdout_stream().filter(|_| !decode) {
            let input = match file.as_deref().filter(|name| *name != "-") {
                None => Some(bashkit::builtins::InputChunks::stdin(&ctx)?),
                Some(name) => {
                    let path = bashkit::builtins::resolve_path(ctx.cwd, name);
                    bashkit::builtins::InputChunks::endless_file(&ctx, &path).await?
                }
            };
            if let Some(input) = input {
                return encode_stream(&ctx, input, &stream, wrap).await;
            }
        }

        // Byte streams and files share the same exact representation.
        let input = if let Some(ref path) = file {
            if path == "-" {
                ctx.stdin_to_end().await?.as_bytes().to_vec()
            } else {
                let resolved = bashkit::builtins::resolve_path(ctx.cwd, path);
                match ctx.fs.read_file(&resolved).await {
                    Ok(bytes) => bytes,
                    Err(_) => {
                        return Ok(Self::err_path(path, "No such file or directory", 1));
                    }
                }
            }
        } else {
            ctx.stdin_to_end().await?.as_bytes().to_vec()
        };

        if decode {
            // GNU skips newlines alone, and writes what it decoded before a mistake.
            let significant = |byte: &u8| match ignore_garbage {
                true => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
                false => *byte != b'\n',
            };
            let cleaned: Vec<u8> = input.into_iter().filter(significant).collect();
            let (bytes, valid) = decode_quads(&cleaned);
            let mut result = ExecResult::ok_bytes(bytes);
            if !valid {
                result.stderr = "base64: invalid input\n".into();
                result.exit_code = 1;
            }
            Ok(result)
        } else {
            // Encode exact input bytes, including trailing newlines.
            let mut encoder = Encoder { wrap, column: 0 };
            let mut output = String::new();
            encoder.encode(&input, &mut output);
            encoder.end(&mut output);
            Ok(ExecResult::ok(output))
        }
    }
}

/// Writes base64 in lines. GNU: a newline after every `wrap` columns and after
/// a last line that is shorter; with `-w 0` none at all.
struct Encoder {
    wrap: usize,
    column: usize,
}

impl Encoder {
    /// Encodes a piece, which is a multiple of three bytes unless it is the last.
    fn encode(&mut self, piece: &[u8], output: &mut String) {
        let encoded = base64::engine::general_purpose::STANDARD.encode(piece);
        let mut rest = encoded.as_str();
        while self.wrap > 0 && self.column + rest.len() > self.wrap {
            let (line, behind) = rest.split_at(self.wrap - self.column);
            output.push_str(line);
            output.push('\n');
            self.column = 0;
            rest = behind;
        }
        self.column += rest.len();
        output.push_str(rest);
    }

    fn end(&mut self, output: &mut String) {
        if self.wrap > 0 && self.column > 0 {
            output.push('\n');
        }
    }
}

async fn encode_stream(
    ctx: &Context<'_>,
    mut input: bashkit::builtins::InputChunks<'_>,
    stream: &bashkit::builtins::StdoutStream,
    wrap: usize,
) -> Result<ExecResult> {
    let mut encoder = Encoder { wrap, column: 0 };
    let mut output = String::new();
    while let Some(piece) = input.next(|data| data.len() / 3 * 3).await? {
        ctx.consume_budget_work(1)?;
        encoder.encode(&piece, &mut output);
        if !stream.write(output.as_bytes()).await? {
            return Ok(ExecResult::with_code(String::new(), 141));
        }
        output.clear();
    }
    encoder.end(&mut output);
    let code = if stream.write(output.as_bytes()).await? { 0 } else { 141 };
    Ok(ExecResult::with_code(String::new(), code))
}

/// Decodes groups of four characters up to the first mistake, of which the
/// characters before it still count; padding may stand within the text.
fn decode_quads(text: &[u8]) -> (Vec<u8>, bool) {
    let value = |byte: &u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3);
    for quad in text.chunks(4) {
        let values: Vec<u8> = quad.iter().map_while(value).collect();
        let rest = &quad[values.len()..];
        let bits = values.iter().fold(0u32, |bits, value| bits << 6 | u32::from(*value));
        let bits = bits << (6 * (4 - values.len()));
        let bytes = bits.to_be_bytes();
        let whole = values.len().saturating_sub(1);
        decoded.extend_from_slice(&bytes[1..=whole]);
        let padded = quad.len() == 4 && rest.iter().all(|byte| *byte == b'=') && rest.len() <= 2;
        let clean = whole < 3 && bytes[whole + 1..].iter().any(|byte| *byte != 0);
        if !padded || clean {
            return (decoded, false);
        }
    }
    (decoded, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bashkit::fs::{FileSystem, InMemoryFs};
    use std::collections::HashMap;
    use std::path::PathBuf;
    use std::sync::Arc;

    async fn run_base64(args: &[&str], stdin: Option<&str>) -> ExecResult {
        let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
        let env = HashMap::new();
        let mut variables = HashMap::new();
        let mut cwd = PathBuf::from("/");
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn bashkit::fs::FileSystem>;
        let ctx = Context::new_for_test(&args, &env, &mut variables, &mut cwd, fs, stdin);
        Base64.execute(ctx).await.expect("base64 execute failed")
    }

    #[tokio::test]
    async fn test_encode_basic() {
        let result = run_base64(&[], Some("hello world")).await;
        assert_eq!(result.stdout.trim(), "aGVsbG8gd29ybGQ=");
    }

    #[tokio::test]
    async fn test_decode_basic() {
        let result = run_base64(&["-d"], Some("aGVsbG8gd29ybGQ=")).await;
        assert_eq!(result.stdout, "hello world");
    }

    #[tokio::test]
    async fn test_decode_long_flag() {
        let result = run_base64(&["--decode"], Some("aGVsbG8gd29ybGQ=")).await;
        assert_eq!(result.stdout, "hello world");
    }

    #[tokio::test]
    async fn test_wrap_zero() {
        // Long input that would normally wrap
        let input = "a]".repeat(50);
        let result = run_base64(&["-w", "0"], Some(&input)).await;
        // Should be single line (no internal newlines except trailing)
        assert!(!result.stdout.trim().contains('\n'), "should not wrap with -w 0");
    }

    #[tokio::test]
    async fn test_encode_preserves_trailing_newline() {
        let result = run_base64(&["-w", "0"], Some("hello\n")).await;
        assert_eq!(result.stdout, "aGVsbG8K");
    }

    #[tokio::test]
    async fn test_encode_binary_file_preserves_bytes() {
        let args = vec!["-w".to_string(), "0".to_string(), "/blob".to_string()];
        let env = HashMap::new();
        let mut variables = HashMap::new();
        let mut cwd = PathBuf::from("/");
        let fs = Arc::new(InMemoryFs::new());
        fs.write_file(PathBuf::from("/blob").as_path(), &[0xff, b'\n', b'\n']).await.unwrap();
        let ctx = Context::new_for_test(&args, &env, &mut variables, &mut cwd, fs, None);

        let result = Base64.execute(ctx).await.expect("base64 execute failed");

        assert_eq!(result.stdout, "/woK");
    }

    #[tokio::test]
    async fn test_decode_binary_preserves_stdout_bytes() {
        let result = run_base64(&["-d"], Some("AAH//kIAfw==")).await;
        assert_eq!(result.stdout.as_bytes(), &[0x00, 0x01, 0xff, 0xfe, b'B', 0x00, 0x7f]);
    }

    #[tokio::test]
    async fn test_decode_invalid() {
        let result = run_base64(&["-d"], Some("!!!not-base64!!!")).await;
        assert_ne!(result.exit_code, 0);
        assert!(result.stderr.contains("invalid input"));
    }

    #[tokio::test]
    async fn test_roundtrip() {
        let original = "The quick brown fox jumps over the lazy dog";
        let encoded = run_base64(&["-w", "0"], Some(original)).await;
        let decoded = run_base64(&["-d"], Some(encoded.stdout.trim())).await;
        assert_eq!(decoded.stdout, original);
    }
}
