//! The shell's standard input from outside: a pipe that may stay open, and every way in which a script is given one.
//! Scripts that read it in every form are cases of `tests/conformance/stdin.jsonl`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use tollhouse_tests::Home;

#[test]
fn script_that_reads_nothing_ends_while_its_input_stays_open() {
    let home = Home::new();
    for code in ["echo hi; ls; date > /dev/null; jq -n 1", "true", "x=$(pwd); [ -d \"$x\" ]; mkdir d; rg -c x || :"] {
        let mut command = home.command(["run", "--lang", "sh", "-e", code]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary is built");
        // Held open until the script has ended.
        let input = child.stdin.take();
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{code}: {output:?}");
        drop(input);
    }
}

#[test]
fn command_reads_no_further_than_it_needs() {
    let home = Home::new();
    let code = "read -r a; echo \"first $a\"; head -c 2; echo; while read -r line; do echo \"line $line\"; done";
    let mut command = home.command(["run", "--lang", "sh", "-e", code]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary is built");
    let mut input = child.stdin.take().expect("it is piped");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut next = || lines.next().expect("a line comes").expect("it can be read");
    // Each answer comes before the next part is written.
    input.write_all(b"one\n").expect("it reads");
    assert_eq!(next(), "first one");
    input.write_all(b"ab").expect("it reads");
    assert_eq!(next(), "ab");
    input.write_all(b"cd\n").expect("it reads");
    assert_eq!(next(), "line cd");
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn read_gives_up_at_its_timeout_and_keeps_what_came() {
    let home = Home::new();
    let mut command = home.command(["run", "--lang", "sh", "-e", "read -t 0.2 x; echo \"$? [$x]\""]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary is built");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(b"part").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "142 [part]\n");
    drop(input);
}

#[test]
fn shell_within_javascript_reads_the_input_it_is_given() {
    let home = Home::new();
    for (script, expected) in [
        ("cat \"$@\"", "a\nb\n"),
        ("c=cat; $c", "a\nb\n"),
        ("while read -r l; do echo \"[$l]\"; done < \"${1:-/dev/stdin}\"", "[a]\n[b]\n"),
        ("exec 3<&0; sort -r <&3", "b\na\n"),
    ] {
        let code = format!("return (await shell({script:?}, {{ input: 'a\\nb\\n' }})).stdout");
        assert_eq!(home.js(&code, &[])["value"], expected, "{script}");
    }
}

#[test]
fn script_file_and_command_string_end_with_the_statuses_of_bash() {
    let home = Home::new();
    let code = "set -u; echo $unset # then exit";
    let file = home.file("unset.sh", code);
    assert_eq!(home.run(["run", "--lang", "sh", "-e", code]).status, 127);
    assert_eq!(home.run(["run".as_ref(), file.as_os_str()]).status, 1);
    assert_eq!(home.run(["run", "--lang", "sh", "-e", "set -eu; echo $unset"]).status, 1);
}
