//! Order of standard output and standard error in one place, compared with the real programs.

use super::super::testing::run;

/// Files of all cases.
const FILES: &str = "printf 'a1\\na2\\n' > a; printf 'b1\\n' > b; mkdir d; echo c > d/c; echo 1 > j\n";

/// Captures of both streams, in which a command stands for `@`.
const CAPTURES: [&str; 9] = [
    "@ 2>&1",
    "{ @; } 2>&1",
    "f() { @; }; f 2>&1",
    "@ > out 2>&1; cat out",
    "@ &> out; cat out",
    "x=$(@ 2>&1); echo \"$x\"",
    "@ 2>&1 | cat",
    "(exec > out 2>&1; @); cat out",
    "bash -c '@' 2>&1",
];

async fn check_in_all_captures(cases: &[(&str, &str)]) {
    for (command, expected) in cases {
        for capture in CAPTURES.iter().filter(|capture| !(capture.contains('\'') && command.contains('\''))) {
            let script = format!("{FILES}{}", capture.replace('@', command));
            let result = run(&script).await;
            assert_eq!(&*result.stdout, *expected, "{script}\n{}", &*result.stderr);
        }
    }
}

#[tokio::test]
async fn messages_of_commands_that_flush_stand_behind_the_output_before_them() {
    check_in_all_captures(&[
        ("cat a missing b", "a1\na2\ncat: missing: No such file or directory\nb1\n"),
        ("cat -n a missing b", "     1\ta1\n     2\ta2\ncat: missing: No such file or directory\n     3\tb1\n"),
        ("head -n1 a missing b", "==> a <==\na1\nhead: cannot open 'missing' for reading: No such file or directory\n\n==> b <==\nb1\n"),
        ("tail -qn1 a missing b", "a2\ntail: cannot open 'missing' for reading: No such file or directory\nb1\n"),
        ("wc -l a missing b", "2 a\nwc: missing: No such file or directory\n1 b\n3 total\n"),
        ("cut -c1 a missing b", "a\na\ncut: missing: No such file or directory\nb\n"),
        ("nl a missing b", "     1\ta1\n     2\ta2\nnl: missing: No such file or directory\n     3\tb1\n"),
        ("expand a missing b", "a1\na2\nexpand: missing: No such file or directory\nb1\n"),
        ("grep 1 a missing b", "a:a1\ngrep: missing: No such file or directory\nb:b1\n"),
        ("find a missing b", "a\nfind: 'missing': No such file or directory\nb\n"),
        ("rm -v a missing b", "removed 'a'\nrm: cannot remove 'missing': No such file or directory\nremoved 'b'\n"),
        ("ls b missing a", "ls: cannot access 'missing': No such file or directory\na\nb\n"),
        ("stat -c %n a missing b", "a\nstat: cannot statx 'missing': No such file or directory\nb\n"),
        ("paste a d", "a1\tpaste: d: Is a directory\n\na2\t\n"),
        ("numfmt --to=si 1000 x 2000", "1.0K\nnumfmt: invalid number: 'x'\n"),
        (
            "tar cvf t.tar a missing b",
            "a\ntar: missing: Cannot stat: No such file or directory\nb\ntar: Exiting with failure status due to previous errors\n",
        ),
    ])
    .await;
}

#[tokio::test]
async fn messages_of_commands_that_hold_their_output_back_stand_in_front_of_it() {
    check_in_all_captures(&[
        ("sed p b missing", "sed: can't read missing: No such file or directory\nb1\nb1\n"),
        ("tac b missing a", "tac: failed to open 'missing' for reading: No such file or directory\nb1\na2\na1\n"),
        ("rev b missing", "rev: cannot open missing: No such file or directory\n1b\n"),
        ("factor 12 x", "factor: 'x' is not a valid positive integer\n12: 2 2 3\n"),
        ("jq . j missing", "jq: error: Could not open file missing: No such file or directory\n1\n"),
        ("awk '{ print; print \"e\" > \"/dev/stderr\" }' b", "e\nb1\n"),
    ])
    .await;
}

#[tokio::test]
async fn messages_of_builtins_stand_behind_whole_lines() {
    for (script, expected) in [
        ("printf '%d\n' 1 x 2 2>&1", "1\nbash: line 2: printf: x: invalid number\n0\n2\n"),
        ("printf '%s %d\n' a x b 3 2>&1", "bash: line 2: printf: x: invalid number\na 0\nb 3\n"),
        (
            "type cd nosuch if 2>&1",
            "cd is a shell builtin\nbash: line 1: type: nosuch: not found\nif is a shell keyword\n",
        ),
        (
            "v=1; declare -p v nosuch v 2>&1",
            "declare -- v=\"1\"\nbash: line 1: declare: nosuch: not found\ndeclare -- v=\"1\"\n",
        ),
        (
            "command -V cd nosuch if 2>&1",
            "cd is a shell builtin\nbash: line 1: command: nosuch: not found\nif is a shell keyword\n",
        ),
    ] {
        let result = run(script).await;
        assert_eq!(&*result.stdout, expected, "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn order_is_kept_by_what_runs_other_commands() {
    for (script, expected) in [
        ("echo 'a missing b' | xargs -n1 ls 2>&1", "a\nls: cannot access 'missing': No such file or directory\nb\n"),
        ("echo x | xargs -I{} cat a missing b 2>&1", "a1\na2\ncat: missing: No such file or directory\nb1\n"),
        ("find . -name a -exec cat {} missing b \\; 2>&1", "a1\na2\ncat: missing: No such file or directory\nb1\n"),
        ("timeout 5 wc -l a missing 2>&1", "2 a\nwc: missing: No such file or directory\n2 total\n"),
        ("env cat a missing b 2>&1", "a1\na2\ncat: missing: No such file or directory\nb1\n"),
        ("cat a missing b 3>&1 2>&3", "a1\na2\ncat: missing: No such file or directory\nb1\n"),
        ("{ echo x; ls nosuch; echo y; } 2>&1", "x\nls: cannot access 'nosuch': No such file or directory\ny\n"),
        ("if column -t missing b; then echo y; fi 2>&1", "column: missing: No such file or directory\nb1\ny\n"),
        ("exec 2>&1; cat a missing b", "a1\na2\ncat: missing: No such file or directory\nb1\n"),
    ] {
        let result = run(&format!("{FILES}{script}")).await;
        assert_eq!(&*result.stdout, expected, "{script}\n{}", &*result.stderr);
    }
}
