//! `time` as a command: `command time`, `env time` and `\time` run it instead of the reserved word of the shell.
//!
//! As GNU's (`time` 1.9), it runs a command and reports the elapsed time on standard error. The sandbox does not
//! measure processor time and memory, which are 0.

use async_trait::async_trait;

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::ExecutionPlan;
use bashkit::builtins::PlanDriver;
use bashkit::builtins::PlanStep;
use bashkit::builtins::SubCommand;
use bashkit::time_compat::Instant;

const USAGE: &str = "Usage: time [-apvqV] [-f format] [-o file] [--append] [--verbose]\n       [--portability] [--format=format] [--output=file] [--version]\n       [--help] command [arg...]\n";
const DEFAULT: &str = "%Uuser %Ssystem %Eelapsed %PCPU (%Xavgtext+%Davgdata %Mmaxresident)k\n%Iinputs+%Ooutputs (%Fmajor+%Rminor)pagefaults %Wswaps";
const PORTABLE: &str = "real %e\nuser %U\nsys %S";

/// Command that measures another, as GNU `time`.
pub(crate) struct GnuTime;

/// Action that the command line requests.
struct Request {
    format: String,
    output: Option<String>,
    append: bool,
    quiet: bool,
    command: Vec<String>,
}

fn parse(words: &[String]) -> std::result::Result<Request, String> {
    let mut request =
        Request { format: DEFAULT.to_string(), output: None, append: false, quiet: false, command: Vec::new() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = |attached: &str| match attached {
            "" => words.next().cloned(),
            attached => Some(attached.to_string()),
        };
        let missing = || format!("time: option requires an argument -- '{word}'\n{USAGE}");
        match word.as_str() {
            "--" => {
                request.command = words.cloned().collect();
                break;
            }
            "-p" | "--portability" => request.format = PORTABLE.to_string(),
            "-a" | "--append" => request.append = true,
            "-q" | "--quiet" => request.quiet = true,
            "-v" | "--verbose" => request.format = DEFAULT.to_string(),
            option if option.starts_with("-f") => {
                request.format = value(&option[2..]).ok_or_else(missing)?;
            }
            option if option.starts_with("-o") => {
                request.output = Some(value(&option[2..]).ok_or_else(missing)?);
            }
            option if option.starts_with("--format=") => {
                request.format = option["--format=".len()..].to_string();
            }
            option if option.starts_with("--output=") => {
                request.output = Some(option["--output=".len()..].to_string());
            }
            option if option.len() > 1 && option.starts_with('-') => {
                return Err(format!("time: invalid option -- '{option}'\n{USAGE}"));
            }
            command => {
                request.command.push(command.to_string());
                request.command.extend(words.cloned());
                break;
            }
        }
    }
    if request.command.is_empty() {
        return Err(format!("time: missing program to run\n{USAGE}"));
    }
    Ok(request)
}

/// Returns the report about a command that took this number of seconds.
fn report(request: &Request, seconds: f64, status: i32) -> String {
    let mut text = String::new();
    if status != 0 && !request.quiet {
        text.push_str(&format!("Command exited with non-zero status {status}\n"));
    }
    let mut chars = request.format.chars();
    while let Some(ch) = chars.next() {
        match ch {
            '%' => match chars.next() {
                Some('e') => text.push_str(&format!("{seconds:.2}")),
                Some('E') => text.push_str(&clock(seconds)),
                Some('U' | 'S') => text.push_str("0.00"),
                Some('P') => text.push_str("0%"),
                Some('C') => text.push_str(&request.command.join(" ")),
                Some('x') => text.push_str(&status.to_string()),
                Some('%') => text.push('%'),
                Some('c' | 'D' | 'F' | 'I' | 'K' | 'M' | 'O' | 'R' | 'r' | 's' | 't' | 'W' | 'w' | 'X' | 'k') => {
                    text.push('0');
                }
                Some('Z') => text.push_str("4096"),
                Some(other) => text.extend(['?', other]),
                None => text.push('?'),
            },
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('\\') => text.push('\\'),
                Some(other) => text.extend(['?', '\\', other]),
                None => text.push_str("?\\"),
            },
            other => text.push(other),
        }
    }
    text.push('\n');
    text
}

/// Formats seconds as `[hours:]minutes:seconds`.
fn clock(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole / 3600 {
        0 => format!("{}:{:05.2}", whole / 60, seconds - (whole / 60 * 60) as f64),
        hours => format!("{hours}:{:02}:{:02}", whole / 60 % 60, whole % 60),
    }
}

#[async_trait]
impl Builtin for GnuTime {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(ctx.args, USAGE, Some("time (bashkit) 1.9")) {
            return Ok(r);
        }
        // Reached only if there is no plan.
        Ok(ExecResult::err(parse(ctx.args).err().unwrap_or_default(), 125))
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        if matches!(ctx.args.first().map(String::as_str), Some("--help" | "--version")) {
            return Ok(None);
        }
        let Ok(request) = parse(ctx.args) else {
            return Ok(None);
        };
        Ok(Some(ExecutionPlan::Driver(Box::new(Timed {
            begun: Instant::now(),
            fs: std::sync::Arc::clone(&ctx.fs),
            cwd: ctx.cwd.clone(),
            stdin: ctx.stdin.cloned(),
            request,
        }))))
    }
}

struct Timed {
    begun: Instant,
    fs: std::sync::Arc<dyn bashkit::fs::FileSystem>,
    cwd: std::path::PathBuf,
    stdin: Option<bashkit::StreamData>,
    request: Request,
}

#[async_trait]
impl PlanDriver for Timed {
    async fn next(&mut self, last: Option<ExecResult>) -> Result<PlanStep> {
        let Some(mut result) = last else {
            let command = SubCommand {
                name: self.request.command[0].clone(),
                args: self.request.command[1..].to_vec(),
                stdin: self.stdin.take(),
                assignments: Vec::new(),
            };
            return Ok(PlanStep::Run { command, cwd: None });
        };
        let text = report(&self.request, self.begun.elapsed().as_secs_f64(), result.exit_code);
        match &self.request.output {
            None => result.stderr.append(&bashkit::StreamData::from(text)),
            Some(path) => {
                let path = bashkit::builtins::resolve_path(&self.cwd, path);
                let written = match self.request.append {
                    true => self.fs.append_file(&path, text.as_bytes()).await,
                    false => self.fs.write_file(&path, text.as_bytes()).await,
                };
                if let Err(error) = written {
                    let message = format!("time: cannot open {}: {error}\n", path.display());
                    result.stderr.append(&bashkit::StreamData::from(message));
                }
            }
        }
        Ok(PlanStep::Done(result))
    }
}
