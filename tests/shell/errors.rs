//! Standard error of the shell: all of it is told, whatever wrote it and however the rest was streamed.

use tollhouse_tests::Home;

#[test]
fn stages_and_substitutions_tell_their_errors() {
    let home = Home::new();
    for script in [
        "nosuch | (echo in)",
        "nosuch | for i in 1; do echo in; done",
        "nosuch | cat | if :; then echo in; fi",
        "nosuch | { cat; echo in; }",
        "nosuch x | xargs echo in",
        "nosuch | eval echo in",
        "nosuch | bash -c 'echo in'",
        "h() { echo in; }; nosuch | h",
        "h() { echo in; }; h $(nosuch)",
        "eval $(nosuch) echo in",
        "x=$(nosuch) eval echo in",
        "echo 'echo in' > t.sh; . ./t.sh $(nosuch)",
        "echo 'echo in' > t.sh; bash t.sh $(nosuch)",
        "timeout 5 bash -c 'echo in' $(nosuch)",
        "find . -maxdepth 0 -exec echo in $(nosuch) \\;",
        "if eval echo in $(nosuch); then :; fi",
    ] {
        let ran = home.sh(script, &[]);
        assert_eq!(ran["stdout"].as_str().map(str::trim_end), Some("in"), "{script}: {ran}");
        let told = ran["stderr"].as_str().unwrap_or_default();
        assert_eq!(told.matches("nosuch: command not found").count(), 1, "{script}: {ran}");
    }
}

#[test]
fn redirections_take_the_errors_of_stages_and_substitutions() {
    let home = Home::new();
    for script in [
        "{ nosuch | (echo in); } 2> err; cat err >&2",
        "exec 2> err; nosuch | (echo in); cat err; exec 2>&1",
        "h() { echo in; }; { h $(nosuch); } 2> err; cat err >&2",
        "x=$({ nosuch | (echo in); } 2>&1); echo \"$x\"",
        "nosuch |& (cat; echo in)",
    ] {
        let ran = home.sh(script, &[]);
        let told = format!("{}{}", ran["stdout"], ran["stderr"]);
        assert_eq!(told.matches("nosuch: command not found").count(), 1, "{script}: {ran}");
    }
    let ran = home.sh("{ nosuch | (echo in); } 2> /dev/null; h() { echo in; }; { h $(nosuch); } 2> /dev/null", &[]);
    assert_eq!((&ran["stdout"], &ran["stderr"]), (&"in\nin\n".into(), &"".into()), "{ran}");
}

#[test]
fn tail_with_follow_ends_when_nothing_can_write() {
    let home = Home::new();
    let ended = "tail: nothing runs any more that could write: following ends\n";
    for (script, written, said) in [
        ("echo a > f; tail -f f", "a\n", ended),
        (": > g; (sleep 0.1; echo b >> g) & tail -f g", "b\n", ended),
        (
            ": > h; (echo 1 >> h; sleep 0.1; echo 2 >> h) & tail -f h | while read -r l; do echo \"<$l>\"; done",
            "<1>\n<2>\n",
            ended,
        ),
        (": > i; (sleep 0.1; echo b >> i) & tail -f i --pid=$!", "b\n", ""),
        (": > j; tail -f j & echo c >> j; sleep 0.1; kill $!", "c\n", ""),
    ] {
        let ran = home.sh(script, &[]);
        assert_eq!((&ran["stdout"], &ran["stderr"]), (&written.into(), &said.into()), "{script}: {ran}");
        assert_eq!(ran["exit_code"], 0, "{script}: {ran}");
    }
}

#[test]
fn shell_command_not_available_says_what_is() {
    let home = Home::new();
    for (command, said) in [
        ("python3 -c 1", "`node` runs JavaScript"),
        ("git status", "`cargo xtask programs git`"),
        ("git status", "`tollhouse programs add git --from DIR`"),
        ("npm install x", "`node FILE` runs JavaScript"),
        ("pip install x", "packages cannot be installed"),
        ("sqlite3 a.db", "the tool `sql`'s"),
        ("lz4 x", "`gzip`, `bzip2`, `xz`, `zstd`"),
    ] {
        let ran = home.sh(command, &[]);
        let stderr = ran["stderr"].as_str().unwrap_or_default();
        assert!(stderr.contains("command not found\nhint: ") && stderr.contains(said), "{command}: {ran}");
        assert_eq!(ran["exit_code"], 127, "{command}");
    }
    for (command, said) in
        [("watch -n 5 date", "`while date; do sleep 5; done`"), ("stty size", "Inappropriate ioctl for device")]
    {
        let ran = home.sh(command, &[]);
        assert!(ran["stderr"].as_str().is_some_and(|stderr| stderr.contains(said)), "{command}: {ran}");
        assert_eq!(ran["exit_code"], 1, "{command}");
    }
    let script = "tput cols; COLUMNS=40 tput cols; tput lines; tput colors; x=$(tput bold)$(tput setaf 1); echo \"$?[$x]\"; tput nope";
    let ran = home.sh(script, &[]);
    assert_eq!((&ran["stdout"], &ran["exit_code"]), (&"80\n40\n24\n-1\n0[]\n".into(), &4.into()), "{ran}");
}
