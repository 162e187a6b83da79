//! `who`, as that of GNU coreutils 9.1. Nobody is logged in on a terminal, and no records of logins are kept.

use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use super::operands;
use super::option_parser::gnu_getopt;

const HELP: &str = "\
Usage: who [OPTION]... [ FILE | ARG1 ARG2 ]
Print information about users who are currently logged in.

  -a, --all         same as -b -d --login -p -r -t -T -u
  -b, --boot        time of last system boot
  -d, --dead        print dead processes
  -H, --heading     print line of column headings
  -l, --login       print system login processes
      --lookup      attempt to canonicalize hostnames via DNS
  -m                only hostname and user associated with stdin
  -p, --process     print active processes spawned by init
  -q, --count       all login names and number of users logged on
  -r, --runlevel    print current runlevel
  -s, --short       print only name, line, and time (default)
  -t, --time        print last system clock change
  -T, -w, --mesg    add user's message status as +, - or ?
  -u, --users       list users logged in
      --message     same as -T
      --writable    same as -T
      --help        display this help and exit
      --version     output version information and exit
";

const LONG: [(&str, OptArg, char); 15] = [
    ("all", OptArg::No, 'a'),
    ("boot", OptArg::No, 'b'),
    ("count", OptArg::No, 'q'),
    ("dead", OptArg::No, 'd'),
    ("heading", OptArg::No, 'H'),
    ("ips", OptArg::No, 'I'),
    ("login", OptArg::No, 'l'),
    ("lookup", OptArg::No, 'L'),
    ("mesg", OptArg::No, 'T'),
    ("message", OptArg::No, 'T'),
    ("process", OptArg::No, 'p'),
    ("runlevel", OptArg::No, 'r'),
    ("short", OptArg::No, 's'),
    ("time", OptArg::No, 't'),
    ("users", OptArg::No, 'u'),
];

/// Another name of `--mesg`, behind the table, in which it would make `--w` ambiguous.
const WRITABLE: (&str, OptArg, char) = ("writable", OptArg::No, 'T');

/// Command `who` of the shell.
pub(crate) struct Who;

/// Returns the line of column headings for the letters of the options.
fn heading(letters: &[char]) -> String {
    let has = |of: &str| letters.iter().any(|letter| of.contains(*letter));
    let mesg = if has("Ta") { "  " } else { "" };
    let details = if has("adlru") && !has("s") { " IDLE          PID" } else { "" };
    let exit = if has("ad") { " EXIT" } else { "" };
    let line = format!("{:<8}{mesg} {:<12} {:<16}{details} {:<8}{exit}", "NAME", "LINE", "TIME", "COMMENT");
    format!("{}\n", line.trim_end())
}

#[async_trait]
impl Builtin for Who {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("who (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let mut long = LONG.to_vec();
        long.push(WRITABLE);
        let (given, files) = match gnu_getopt("who", ctx.args, "abdlmpqrstuwHT", &long, true, 1) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        if let Some(extra) = files.get(2) {
            let hint = "Try 'who --help' for more information.";
            return Ok(ExecResult::err(format!("who: extra operand '{extra}'\n{hint}\n"), 1));
        }
        if let [file] = files.as_slice() {
            match operands::read(&ctx, file).await? {
                Ok(records) if !records.is_empty() => {
                    return Ok(ExecResult::err(format!("who: {file}: records of logins are not read here\n"), 1));
                }
                // GNU's is silent about a file that is missing, too.
                _ => {}
            }
        }
        let letters: Vec<char> = given.iter().map(|option| if option.key == 'w' { 'T' } else { option.key }).collect();
        Ok(ExecResult::ok(match () {
            () if letters.contains(&'q') => "\n# users=0\n".to_owned(),
            () if letters.contains(&'H') => heading(&letters),
            () => String::new(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn who_counts_nobody_and_checks_its_command_line() {
        for (script, output, status) in [
            ("who; who -b; who am i; who -m; who -u", "", 0),
            ("who -q", "\n# users=0\n", 0),
            (
                "who -H; who -uH",
                "NAME     LINE         TIME             COMMENT\nNAME     LINE         TIME             IDLE          PID COMMENT\n",
                0,
            ),
            ("who -T -H", "NAME       LINE         TIME             COMMENT\n", 0),
            ("who -x 2>&1", "who: invalid option -- 'x'\nTry 'who --help' for more information.\n", 1),
            ("who a b c 2>&1 | head -n 1", "who: extra operand 'c'\n", 0),
            ("who /none; who -aH", "NAME       LINE         TIME             IDLE          PID COMMENT  EXIT\n", 0),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, status), "{script}\n{}", &*result.stderr);
        }
    }
}
