//! `zdiff`, `bzdiff`, `xzdiff` and the like with `cmp`: comparisons of files that may be compressed. As in gzip, they run
//! `gzip -cd` and the program that compares, so that its messages have the names `-` and `/dev/fd/5`.

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, ExecutionPlan, SubCommand};
use bashkit::{ExecResult, Result};

/// Options of `diff` whose argument is the next word.
const WITH_ARGUMENT: [&str; 10] = ["-C", "-D", "-F", "-I", "-S", "-U", "-W", "-X", "-x", "-L"];

/// Script that compares two compressed files: these are `$1` and `$2`, the commands that unpack them `$3` and `$4`, and
/// behind them is the command that compares.
const BOTH_COMPRESSED: &str = r#"one=$1 two=$2 unpack_one=$3 unpack_two=$4; shift 4
exec 5< <($unpack_one -- "$one")
$unpack_two -- "$two" | "$@" -- /dev/fd/5 -
states=("${PIPESTATUS[@]}"); (( states[0] )) && exit 2; exit "${states[1]}""#;

/// Script for a compressed first file.
const FIRST_COMPRESSED: &str = r#"one=$1 two=$2 unpack_one=$3; shift 4
$unpack_one -- "$one" | "$@" -- - "$two"
states=("${PIPESTATUS[@]}"); (( states[0] )) && exit 2; exit "${states[1]}""#;

/// Script for a compressed second file.
const SECOND_COMPRESSED: &str = r#"one=$1 two=$2 unpack_two=$4; shift 4
$unpack_two -- "$two" | "$@" -- "$one" -
states=("${PIPESTATUS[@]}"); (( states[0] )) && exit 2; exit "${states[1]}""#;

/// Script for two files that are not compressed.
const NONE_COMPRESSED: &str = r#"one=$1 two=$2; shift 4; "$@" -- "$one" "$two""#;

/// Commands that unpack, with the endings of the names of what they unpack, and of what is in archives.
const UNPACKERS: [(&str, &[&str]); 4] = [
    (GZIP, &[".gz", "-gz", ".z", "-z", ".Z", "-Z", ".tgz", ".taz"]),
    (BZIP2, &[".bz2", "-bz2", ".bz", ".tbz", ".tbz2"]),
    (XZ, &[".xz", "-xz", ".lzma", "-lzma", ".txz", ".tlz"]),
    ("zstd -cdfq", &[".zst", ".tzst"]),
];

const GZIP: &str = "gzip -cdfq";
const BZIP2: &str = "bzip2 -cdfq";
const XZ: &str = "xz -cdfqQ";

/// Command that compares files which may be compressed.
pub(crate) struct CompressedComparison {
    command: &'static str,
    program: &'static str,
    /// First line of `--version`.
    version: &'static str,
    /// Command that unpacks standard input.
    unpacker: &'static str,
}

impl CompressedComparison {
    /// Returns all commands of this kind. Those of gzip know its endings only.
    pub(crate) fn family() -> [Self; 6] {
        let of = |command, program, version, unpacker| Self { command, program, version, unpacker };
        [
            of("zdiff", "diff", "zdiff (gzip) 1.12", GZIP),
            of("zcmp", "cmp", "zcmp (gzip) 1.12", GZIP),
            of("bzdiff", "diff", "bzdiff (bzip2) 1.0.8", BZIP2),
            of("bzcmp", "cmp", "bzcmp (bzip2) 1.0.8", BZIP2),
            of("xzdiff", "diff", "xzdiff (XZ Utils) 5.4.1", XZ),
            of("xzcmp", "cmp", "xzcmp (XZ Utils) 5.4.1", XZ),
        ]
    }

    /// Returns the name of the command.
    pub(crate) fn name(&self) -> &'static str {
        self.command
    }

    /// Returns the command that unpacks a file, and the file's name without its ending. None if it is not compressed.
    fn unpacker<'n>(&self, name: &'n str) -> Option<(&'static str, &'n str)> {
        let known = UNPACKERS.iter().filter(|(unpacker, _)| self.unpacker != GZIP || *unpacker == GZIP);
        known.into_iter().find_map(|(unpacker, endings)| {
            endings.iter().find_map(|ending| Some((*unpacker, name.strip_suffix(ending)?)))
        })
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
                return Err(ExecResult::ok(format!("{}\n", self.version)));
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
                let unpacker = self.unpacker(only);
                let (_, stem) =
                    unpacker.ok_or_else(|| refusal(&format!("{only}: unknown compressed file extension")))?;
                (only.clone(), stem.to_owned())
            }
            [first, second] => (first.clone(), second.clone()),
            [_, _, extra, ..] => return Err(refusal(&format!("extra operand '{extra}'"))),
        };
        let unpackers = [&first, &second].map(|file| match self.unpacker(file) {
            Some((unpacker, _)) => Some(unpacker),
            None => (file == "-").then_some(self.unpacker),
        });
        let script = match unpackers {
            [Some(_), Some(_)] => BOTH_COMPRESSED,
            [Some(_), None] => FIRST_COMPRESSED,
            [None, Some(_)] => SECOND_COMPRESSED,
            [None, None] => NONE_COMPRESSED,
        };
        let mut arguments: Vec<String> = ["-c", script, self.command].map(str::to_owned).to_vec();
        arguments.extend([first, second]);
        arguments.extend(unpackers.map(|unpacker| unpacker.unwrap_or_default().to_owned()));
        arguments.push(self.program.to_owned());
        arguments.extend(options);
        Ok(arguments)
    }
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
            ("xz -k a; bzip2 -k b; xzdiff a.xz b.bz2; xzcmp a.xz", "2c2\n< b\n---\n> c\n", 0),
            ("bzip2 -k b; bzdiff b.bz2; bzcmp a b.bz2", "a - differ: byte 3, line 2\n", 1),
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
