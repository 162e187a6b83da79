//! Tests of command lines that are built, and of the command in a shell.

use super::options::{XargsOptions, parse_delimiter};
use super::plan::CommandPlan;
use crate::commands::testing::run;

/// Returns the command lines for a call, and the message that ends them.
fn plan(words: &[&str], input: &str) -> (Vec<String>, Option<String>) {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let options = XargsOptions::parse(&words).unwrap_or_else(|answer| panic!("{}", answer.stderr));
    let plan = CommandPlan::new(&options, input);
    (plan.commands.iter().map(|command| command.join("|")).collect(), plan.error)
}

#[test]
fn items_end_at_blanks_outside_of_quotes_and_at_nulls() {
    assert_eq!(plan(&["-n1"], "\"a b\" 'c' d\\ e x\0y\n").0, ["echo|a b", "echo|c", "echo|d e", "echo|x"]);
    assert_eq!(plan(&[], "''\na\n").0, ["echo|a"]);
}

#[test]
fn unmatched_quote_ends_the_input_behind_what_was_read() {
    let (commands, error) = plan(&[], "a 'b\nc\n");
    assert_eq!(commands, ["echo|a"]);
    assert!(error.expect("a message").contains("unmatched single quote"));
}

#[test]
fn line_that_ends_in_a_blank_goes_on_in_the_next() {
    assert_eq!(plan(&["-L1"], "a b \nc\nd\n").0, ["echo|a|b|c", "echo|d"]);
}

#[test]
fn end_item_ends_the_input() {
    assert_eq!(plan(&["-E", "STOP"], "a STOP b\n").0, ["echo|a"]);
}

#[test]
fn replacement_takes_whole_lines_and_ends_with_a_number_of_items() {
    assert_eq!(plan(&["-I{}", "-n1", "x", "[{}]"], "  a b  \n\nc\n").0, ["x|[a b  ]", "x|[c]"]);
    assert_eq!(plan(&["-I{}", "-n2", "x", "{}"], "a\nb\n").0, ["x|{}|a|b"]);
}

#[tokio::test]
async fn options_that_others_override_cause_warnings_before_the_output() {
    let ignored = |dropped: &str, by: &str| {
        format!(
            "xargs: warning: options {dropped} and {by} are mutually exclusive, ignoring previous {dropped} value\n"
        )
    };
    for (options, output, warnings) in [
        ("-n1 -I{}", "a1\na2\n", ignored("--max-args", "--replace/-I/-i")),
        ("-I{} -n1", "a1\na2\n", String::new()),
        ("-I{} -n2", "a{} 1 2\n", ignored("--replace", "--max-args/-n")),
        ("-i -l", "a{} 1\na{} 2\n", ignored("--replace", "--max-lines/-l")),
        ("-n1 -L1", "a{} 1\na{} 2\n", ignored("--max-args", "-L")),
    ] {
        let script = format!("printf '1\\n2\\n' | xargs {options} echo a{{}} 2>&1");
        assert_eq!(&*run(&script).await.stdout, warnings + output, "{options}");
    }
}

#[test]
fn delimited_items_may_be_empty() {
    assert_eq!(plan(&["-d", "\\x2c"], "a,,b").0, ["echo|a||b"]);
    assert_eq!(plan(&["-0", "-n1"], "a b\0\0c\0").0, ["echo|a b", "echo|", "echo|c"]);
    assert_eq!(plan(&["-d", ":"], "a:b:c").0, ["echo|a|b|c"]);
    for wrong in ["\\xg", "ab", "\\400", "\\x100"] {
        assert!(parse_delimiter(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn command_lines_keep_to_their_size() {
    assert_eq!(plan(&["-s", "9"], "a b c\n").0, ["echo|a|b", "echo|c"]);
    let (commands, error) = plan(&["-I{}", "-s", "6", "echo", "x{}"], "abcde\n");
    assert!(commands.is_empty() && error.is_some());
    // A template that is too long fails only with an item.
    assert_eq!(plan(&["-I{}", "-s", "3", "echo", "{}"], ""), (Vec::new(), None));
}

#[test]
fn empty_input_runs_the_command_once_unless_it_must_not() {
    assert_eq!(plan(&[], "").0, ["echo"]);
    assert!(plan(&["-r"], "  \n").0.is_empty());
}

#[tokio::test]
async fn commands_run_in_order_with_their_slots_and_an_empty_input() {
    for (script, stdout) in [
        ("echo foo bar | xargs", "foo bar\n"),
        ("echo a b c | xargs -n 1 echo", "a\nb\nc\n"),
        ("printf 'f1\\nf2\\n' | xargs -I {} echo {} {}.bak", "f1 f1.bak\nf2 f2.bak\n"),
        ("echo a b c | xargs -P 2 -n 1 --process-slot-var=S sh -c 'echo $S$0'", "0a\n1b\n0c\n"),
        ("echo a b | xargs -P 0 -n 1 --process-slot-var S sh -c 'echo $S'", "0\n1\n"),
        ("printf '' | xargs wc -l", "0\n"),
    ] {
        assert_eq!(&*run(script).await.stdout, stdout, "{script}");
    }
}

#[tokio::test]
async fn status_tells_how_the_commands_ended() {
    for (script, stdout, stderr, status) in [
        ("echo a b | xargs -n1 sh -c 'echo $0; exit 3'", "a\nb\n", "", 123),
        ("echo a b | xargs -n1 sh -c 'exit 255'", "", "xargs: sh: exited with status 255; aborting\n", 124),
        (
            "echo \"a 'b\" | xargs -t echo",
            "a\n",
            "echo a\nxargs: unmatched single quote; by default quotes are special to xargs unless you use the -0 option\n",
            1,
        ),
        ("echo a | xargs -P abc", "", "xargs: invalid number \"abc\" for -P option\n", 1),
        ("echo a | xargs -n 0", "", "xargs: value 0 for -n option should be >= 1\n", 1),
        ("echo a | xargs -a missing", "", "xargs: Cannot open input file 'missing': No such file or directory\n", 1),
        ("xargs -a /tmp -r echo", "", "", 0),
    ] {
        let result = run(script).await;
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (stdout, stderr, status), "{script}");
    }
    let refused = run("echo a | xargs -Z").await;
    assert_eq!(refused.exit_code, 1);
    assert!(refused.stderr.contains("invalid option"), "{}", refused.stderr);
}
