//! printf builtin - formatted output
//!
//! What is printed is in `printf_format`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod format;

use async_trait::async_trait;

use crate::commands::date::Date;
use bashkit::builtins::Builtin;
use bashkit::builtins::BuiltinSideEffect;
use bashkit::builtins::Context;
use bashkit::interpreter::{ExecResult, is_internal_variable, is_valid_var_name};
use bashkit::{Result, StreamData};

const HELP: &str = "\
printf: printf [-v var] format [arguments]
    Formats and prints ARGUMENTS under control of the FORMAT.
    
    Options:
      -v var\tassign the output to shell variable VAR rather than
    \t\tdisplay it on the standard output
    
    FORMAT is a character string which contains three types of objects: plain
    characters, which are simply copied to standard output; character escape
    sequences, which are converted and copied to the standard output; and
    format specifications, each of which causes printing of the next successive
    argument.
    
    In addition to the standard format specifications described in printf(1),
    printf interprets:
    
      %b\texpand backslash escape sequences in the corresponding argument
      %q\tquote the argument in a way that can be reused as shell input
      %Q\tlike %q, but apply any precision to the unquoted argument before
    \t\tquoting
      %(fmt)T\toutput the date-time string resulting from using FMT as a format
    \t        string for strftime(3)
    
    The format is re-used as necessary to consume all of the arguments.  If
    there are fewer arguments than the format requires,  extra format
    specifications behave as if a zero value or null string, as appropriate,
    had been supplied.
    
    Exit Status:
    Returns success unless an invalid option is given or a write or assignment
    error occurs.
";

/// printf builtin - formatted string output
///
/// Holds the sandbox clock so `%(fmt)T` reads the same virtual time as `date`.
#[derive(Default)]
pub(crate) struct Printf {
    clock: Date,
}

impl Printf {
    /// printf whose `%(fmt)T` uses `clock` (fixed epoch / offset aware).
    pub(crate) fn with_clock(clock: Date) -> Self {
        Self { clock }
    }
}

#[async_trait]
impl Builtin for Printf {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let call = match PrintfCall::parse(ctx.args) {
            Ok(call) => call,
            Err(result) => return Ok(result),
        };
        let zone = ctx.env.get("TZ");
        let mut time = |seconds, format: &str| self.clock.strftime(zone, seconds, format);
        let printed = crate::commands::printf::format::render(call.format, call.operands, &mut time);
        let output = printed.bytes;
        let status = i32::from(printed.failed);
        let counts = printed
            .counts
            .into_iter()
            .map(|(name, count)| BuiltinSideEffect::SetVariable { name, value: count.to_string() });

        if let Some(name) = call.variable {
            // THREAT[TM-INJ-009]: Block internal variable prefix injection via printf -v
            if is_internal_variable(&name) {
                return Ok(ExecResult::ok(String::new()));
            }
            // The interpreter assigns it as for `read`: locals, namerefs, `a[i]` targets, `declare -i` arithmetic and
            // readonly all apply.
            let mut result = ExecResult::with_code(String::new(), status);
            result.stderr = printed.stderr.into();
            result.side_effects.extend(counts);
            result.side_effects.push(BuiltinSideEffect::SetVariable {
                name,
                // The value of a variable ends at a NUL, as in C.
                value: bashkit::text_of(output.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned(),
            });
            Ok(result)
        } else {
            let mut result = ExecResult::ok_bytes(output);
            result.exit_code = status;
            result.stderr = printed.stderr.into();
            result.side_effects.extend(counts);
            Ok(result)
        }
    }
}

/// Command line of one call.
struct PrintfCall<'w> {
    /// Variable that the output is assigned to (`-v`).
    variable: Option<String>,
    format: &'w str,
    operands: &'w [String],
}

impl<'w> PrintfCall<'w> {
    /// Reads a command line as bash's getopt("v:") does: `-v NAME`, `-vNAME`, repeated `-v` (last wins), `--` ends
    /// options. A lone `-` is the format. The error is the result of a call that prints nothing by a format.
    fn parse(words: &'w [String]) -> std::result::Result<Self, ExecResult> {
        let mut rest = words;
        let mut variable: Option<String> = None;
        while let Some((word, behind)) = rest.split_first() {
            if word == "--" {
                rest = behind;
                break;
            }
            let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else { break };
            if word == "--help" {
                return Err(ExecResult::with_code(HELP.to_owned(), 2));
            }
            rest = behind;
            match option.strip_prefix('v') {
                Some("") => {
                    let missing = || usage_error("bash: printf: -v: option requires an argument\n");
                    let (name, behind) = rest.split_first().ok_or_else(missing)?;
                    variable = Some(name.clone());
                    rest = behind;
                }
                Some(name) => variable = Some(name.to_owned()),
                None => {
                    let letter: String = option.chars().take(1).collect();
                    return Err(usage_error(&format!("bash: printf: -{letter}: invalid option\n")));
                }
            }
        }
        let (format, operands) = rest.split_first().ok_or_else(|| usage_error(""))?;
        match variable.as_ref().filter(|name| !valid_var_target(name)) {
            Some(name) => Err(ExecResult::err(format!("bash: printf: `{name}': not a valid identifier\n"), 2)),
            None => Ok(Self { variable, format, operands }),
        }
    }
}

/// Returns the usage failure of bash: optional diagnostic, then the usage line, status 2.
fn usage_error(diag: &str) -> ExecResult {
    ExecResult::err(format!("{diag}printf: usage: printf [-v var] format [arguments]\n"), 2)
}

/// Returns true if the text is a target of `-v`: an identifier, or `name[subscript]`.
fn valid_var_target(name: &str) -> bool {
    match name.find('[') {
        Some(b) => is_valid_var_name(&name[..b]) && name.ends_with(']') && name.len() > b + 2,
        None => is_valid_var_name(name),
    }
}

/// Renders operands by a format without `%(FORMAT)T`, for `seq`.
pub(super) fn render_printf_bytes(format: &str, operands: &[String]) -> std::result::Result<Vec<u8>, String> {
    let mut no_time = |_, _: &str| Err(String::new());
    let printed = crate::commands::printf::format::render(format, operands, &mut no_time);
    if printed.failed { Err(StreamData::from(printed.stderr).to_string()) } else { Ok(printed.bytes) }
}
