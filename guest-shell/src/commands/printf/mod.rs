//! printf builtin - formatted output
//!
//! What is printed is in `printf_format`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod format;

use async_trait::async_trait;

use crate::commands::date::Date;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::BuiltinSideEffect;
use bashkit::builtins::Context;
use bashkit::interpreter::{ExecResult, is_internal_variable, is_valid_var_name};

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
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: printf FORMAT [ARGUMENT]...\n  or:  printf OPTION\nPrint ARGUMENT(s) according to FORMAT.\n\n  FORMAT controls the output, supports:\n    %s\tstring\n    %d, %i\tsigned integer\n    %u\tunsigned integer\n    %o\toctal\n    %x, %X\thexadecimal\n    %f, %e, %g\tfloating point\n    %c\tcharacter\n    %b\tstring with backslash escapes\n    %q\tshell-quoted string\n    \\n, \\t, \\\\, \\xHH, \\uHHHH, \\UHHHHHHHH\tescape sequences\n  -v VAR\tassign to shell variable VAR instead of printing\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("printf (GNU coreutils) 9.1"),
        ) {
            return Ok(r);
        }
        // Options as parsed by bash's getopt("v:"): `-v NAME`, `-vNAME`, repeated `-v` (last wins), `--` ends them. A
        // lone `-` is the format.
        let mut args_iter = ctx.args.iter().peekable();
        let mut var_name: Option<String> = None;
        while let Some(arg) = args_iter.peek() {
            if arg.as_str() == "--" {
                args_iter.next();
                break;
            }
            let Some(rest) = arg.strip_prefix('-').filter(|r| !r.is_empty()) else {
                break;
            };
            if let Some(name) = rest.strip_prefix('v') {
                args_iter.next();
                if !name.is_empty() {
                    var_name = Some(name.to_string());
                } else if let Some(name) = args_iter.next() {
                    var_name = Some(name.clone());
                } else {
                    return Ok(usage_error("bash: printf: -v: option requires an argument\n"));
                }
            } else {
                let opt: String = rest.chars().take(1).collect();
                return Ok(usage_error(&format!("bash: printf: -{opt}: invalid option\n")));
            }
        }
        let Some(format) = args_iter.next().cloned() else {
            return Ok(usage_error(""));
        };
        if let Some(name) = &var_name
            && !valid_var_target(name)
        {
            return Ok(ExecResult::err(format!("bash: printf: `{name}': not a valid identifier\n"), 2));
        }

        let operands: Vec<String> = args_iter.cloned().collect();
        let zone = ctx.env.get("TZ");
        let mut time = |seconds, format: &str| self.clock.strftime(zone, seconds, format);
        let printed = crate::commands::printf::format::render(&format, &operands, &mut time);
        let output = printed.bytes;
        let status = i32::from(printed.failed);
        let counts = printed
            .counts
            .into_iter()
            .map(|(name, count)| BuiltinSideEffect::SetVariable { name, value: count.to_string() });

        if let Some(name) = var_name {
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
    if printed.failed { Err(printed.stderr) } else { Ok(printed.bytes) }
}
