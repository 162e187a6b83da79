//! `zdiff` and `zcmp`: `diff` and `cmp` of files that may be compressed. As in gzip, they run `gzip -cd` and the program
//! that compares, so that its messages have the names `-` and `/dev/fd/5`.

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, ExecutionPlan, SubCommand};
use bashkit::{ExecResult, Result};

/// Options of `diff` whose argument is the next word.
const WITH_ARGUMENT: [&str; 10] = ["-C", "-D", "-F", "-I", "-S", "-U", "-W", "-X", "-x", "-L"];

/// Script that compares two compressed files: these are `$1` and `$2`, behind them is the command that compares.
const BOTH_COMPRESSED: &str = r#"one=$1 two=$2; shift 2
exec 5< <(gzip -cdfq -- "$one")
gzip -cdfq -- "$two" | "$@" -- /dev/fd/5 -
states=("${PIPESTATUS[@]}"); (( states[0] )) && exit 2; exit "${states[1]}""#;

/// Script for a compressed first file.
const FIRST_COMPRESSED: &str = r#"one=$1 two=$2; shift 2
gzip -cdfq -- "$one" | "$@" -- - "$two"
states=("${PIPESTATUS[@]}"); (( states[0] )) && exit 2; exit "${states[1]}""#;

/// Script for a compressed second file.
const SECOND_COMPRESSED: &str = r#"one=$1 two=$2; shift 2
gzip -cdfq -- "$two" | "$@" -- "$one" -
states=("${PIPESTATUS[@]}"); (( states[0] )) && exit 2; exit "${states[1]}""#;

/// Script for two files that are not compressed.
const NONE_COMPRESSED: &str = r#"one=$1 two=$2; shift 2; "$@" -- "$one" "$two""#;

/// Command that compares files which may be compressed.
pub(crate) struct CompressedComparison {
    command: &'static str,
    program: &'static str,
}

impl CompressedComparison {
    /// Returns the command `zdiff`.
    pub(crate) const fn zdiff() -> Self {
        Self { command: "zdiff", program: "diff" }
    }

    /// Returns the command `zcmp`.
    pub(crate) const fn zcmp() -> Self {
        Self { command: "zcmp", program: "cmp" }
    }

    fn help(&self) -> String {
        format!(
            "Usage: {} [OPTION]... FILE1 [FILE2]\nCompare FILE1 to FILE2, using their uncompressed contents if they are\n\
             compressed.  If FILE2 is omitted, compare FILE1 to the uncompressed\ncontents of FILE1.gz.  Do comparisons \
             like '{}' does.\n\nOPTIONs are the same as for '{}'.\n",
            self.command, self.program, self.program
        )
    }

    /// Returns the result of a call that compares nothing, or the arguments of the shell that compares.
    fn plan(&self, words: &[String]) -> std::result::Result<Vec<String>, ExecResult> {
        let refusal = |message: &str| ExecResult::err(format!("/usr/bin/{}: {message}\n", self.command), 2);
        let (mut options, mut files) = (Vec::new(), Vec::new());
        let mut words = words.iter();
        let mut files_only = false;
        while let Some(word) = words.next() {
            if files_only || word == "-" || !word.starts_with('-') {
                files.push(word.clone());
            } else if word.starts_with("--h") {
                return Err(ExecResult::ok(self.help()));
            } else if word.starts_with("--v") {
                return Err(ExecResult::ok(format!("{} (gzip) 1.12\n", self.command)));
            } else if word == "--" {
                files_only = true;
            } else {
                options.push(word.clone());
                if WITH_ARGUMENT.contains(&&**word) {
                    let missing = || refusal(&format!("option requires an argument -- '{word}'"));
                    options.push(words.next().ok_or_else(missing)?.clone());
                }
            }
        }
        let (first, second) = match files.as_slice() {
            [] => return Err(refusal("missing operand")),
            [only] => {
                let stem = compressed_stem(only)
                    .ok_or_else(|| refusal(&format!("{only}: unknown compressed file extension")))?;
                (only.clone(), stem.to_owned())
            }
            [first, second] => (first.clone(), second.clone()),
            [_, _, extra, ..] => return Err(refusal(&format!("extra operand '{extra}'"))),
        };
        let is_packed = |file: &str| file == "-" || compressed_stem(file).is_some();
        let script = match (is_packed(&first), is_packed(&second)) {
            (true, true) => BOTH_COMPRESSED,
            (true, false) => FIRST_COMPRESSED,
            (false, true) => SECOND_COMPRESSED,
            (false, false) => NONE_COMPRESSED,
        };
        let mut arguments: Vec<String> = ["-c", script, self.command].map(str::to_owned).to_vec();
        arguments.extend([first, second, self.program.to_owned()]);
        arguments.extend(options);
        Ok(arguments)
    }
}

/// Returns the name without the ending of a compressed file, or nothing if it has none.
fn compressed_stem(name: &str) -> Option<&str> {
    let endings = [".gz", "-gz", ".z", "-z", ".Z", "-Z", ".tgz", ".taz"];
    let ending = endings.iter().find(|ending| name.ends_with(**ending))?;
    Some(&name[..name.len() - ending.len()])
}

#[async_trait]
impl Builtin for CompressedComparison {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        // Whatever compares is run by the plan.
        Ok(self.plan(ctx.args).err().unwrap_or_else(|| ExecResult::ok(String::new())))
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        let Ok(arguments) = self.plan(ctx.args) else { return Ok(None) };
        // A file that is missing is told of in the shell's words, before anything runs.
        for file in arguments[3..5].iter().filter(|file| *file != "-") {
            let path = bashkit::builtins::resolve_path(ctx.cwd, file);
            if !ctx.fs.exists(&path).await.unwrap_or(false) {
                let script = "printf '/usr/bin/%s: 92: cannot open %s: No such file\\n' \"$0\" \"$1\" >&2; exit 2";
                let args = ["-c", script, self.command, file].map(str::to_owned).to_vec();
                return Ok(Some(batch(args, ctx)));
            }
        }
        Ok(Some(batch(arguments, ctx)))
    }
}

/// Returns the plan that runs a shell with arguments.
fn batch(args: Vec<String>, ctx: &Context<'_>) -> ExecutionPlan {
    let command = SubCommand { name: "bash".to_owned(), args, stdin: ctx.stdin.cloned(), assignments: Vec::new() };
    ExecutionPlan::Batch { commands: vec![command] }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn compressed_files_are_compared_unpacked() {
        let files = "printf 'a\\nb\\n' >a; printf 'a\\nc\\n' >b; gzip -k a b; cp a c; gzip c; ";
        for (script, output, status) in [
            ("zdiff a.gz b.gz", "2c2\n< b\n---\n> c\n", 1),
            ("zdiff a c.gz; zcmp a c.gz; zdiff a.gz c.gz; zdiff a a", "", 0),
            ("zdiff a.gz", "", 0),
            ("zdiff -u a.gz b | tail -n +3", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", 0),
            ("zcmp a.gz b", "- b differ: byte 3, line 2\n", 1),
            ("zdiff -q a.gz b", "Files - and b differ\n", 1),
        ] {
            let result = run(&format!("{files}{script}")).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, status), "{script}: {}", &*result.stderr);
        }
    }

    #[tokio::test]
    async fn comparison_without_its_files_is_an_error() {
        for (script, message) in [
            ("zdiff", "/usr/bin/zdiff: missing operand\n"),
            ("zdiff x", "/usr/bin/zdiff: x: unknown compressed file extension\n"),
            ("zcmp x y z", "/usr/bin/zcmp: extra operand 'z'\n"),
            ("zdiff nope nope", "/usr/bin/zdiff: 92: cannot open nope: No such file\n"),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stderr, result.exit_code), (message, 2), "{script}");
        }
    }
}
