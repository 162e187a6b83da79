//! Tests of commands.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::{out, run_sed};
use crate::commands::sed::machine;

#[tokio::test]
async fn substitute_basics() {
    assert_eq!(out(&["s/hello/goodbye/"], "hello world\nhello again\n").await, "goodbye world\ngoodbye again\n");
    assert_eq!(out(&["s/o/0/g"], "hello world\n").await, "hell0 w0rld\n");
    assert_eq!(out(&["s/o/0/"], "hello world\n").await, "hell0 world\n");
    assert_eq!(out(&["s/world/[&]/"], "hello world\n").await, "hello [world]\n");
    assert_eq!(out(&["s/hello/hi/i"], "Hello World\n").await, "hi World\n");
    assert_eq!(out(&["s/hello/hi/; s/world/there/"], "hello world\n").await, "hi there\n");
}

#[tokio::test]
async fn addresses_and_hold_space() {
    assert_eq!(out(&["2d"], "line1\nline2\nline3\n").await, "line1\nline3\n");
    assert_eq!(out(&["-n", "2p"], "line1\nline2\nline3\n").await, "line2\n");
    assert_eq!(out(&["2,3d"], "line1\nline2\nline3\nline4\n").await, "line1\nline4\n");
    assert_eq!(out(&["$d"], "line1\nline2\nline3\n").await, "line1\nline2\n");
    assert_eq!(out(&["2c\\replaced"], "line1\nline2\nline3\n").await, "line1\nreplaced\nline3\n");
    assert_eq!(out(&["/one/a\\inserted"], "one\ntwo\n").await, "one\ninserted\ntwo\n");
    assert_eq!(out(&["/two/i\\inserted"], "one\ntwo\n").await, "one\ninserted\ntwo\n");
    assert_eq!(out(&["-e", "1h", "-e", "2g"], "first\nsecond\nthird\n").await, "first\nfirst\nthird\n");
    assert_eq!(out(&["-e", "1h", "-e", "2H", "-e", "3G"], "a\nb\nc\n").await, "a\nb\nc\na\nb\n");
    assert_eq!(out(&["-e", "1h", "-e", "2x"], "first\nsecond\nthird\n").await, "first\nfirst\nthird\n");
    assert_eq!(out(&["/start/,/end/d"], "before\nstart\nmiddle\nend\nafter\n").await, "before\nafter\n");
    assert_eq!(
        out(&["/begin/,/end/s/x/y/g"], "ax\nbeginx\nmiddlex\nendx\nax\n").await,
        "ax\nbeginy\nmiddley\nendy\nax\n"
    );
}

#[tokio::test]
async fn ordinary_scripts_write_nothing_to_stderr() {
    let result = run_sed(&["s/hello/world/"], Some("hello\n")).await;
    assert!(result.stderr.is_empty());
    assert_eq!(result.stdout, "world\n");
}

#[tokio::test]
async fn dollar_in_replacement_is_literal() {
    assert_eq!(out(&["s/a/$x/"], "ab\n").await, "$xb\n");
    assert_eq!(out(&["s/\\(a\\)/[$1]/"], "ab\n").await, "[$1]b\n");
    assert_eq!(out(&["s/a/$$/"], "ab\n").await, "$$b\n");
    assert_eq!(out(&["s/a/${x}/"], "ab\n").await, "${x}b\n");
    // GNU drops the backslash before an ordinary character.
    assert_eq!(out(&["s/a/\\$/"], "ab\n").await, "$b\n");
    assert_eq!(out(&["s/a/\\q/"], "ab\n").await, "qb\n");
    assert_eq!(out(&["s/^/$PREFIX-/"], "x\n").await, "$PREFIX-x\n");
}

#[tokio::test]
async fn replacement_case_conversion() {
    assert_eq!(out(&["s/a\\(b\\)c/\\U\\1x\\E-\\1/"], "abc\n").await, "BX-b\n");
    assert_eq!(out(&["s/.*/\\u&/"], "abc\n").await, "Abc\n");
    assert_eq!(out(&["s/.*/\\L&/"], "ABC\n").await, "abc\n");
}

#[tokio::test]
async fn hold_space_carries_its_own_newline_flag() {
    // The hold space starts out terminated, so `G` re-terminates a final line
    // that arrived without a newline.
    assert_eq!(out(&["G"], "ab").await, "ab\n\n");
    assert_eq!(out(&["x"], "a\nb\n").await, "\na\n");
    assert_eq!(out(&["-n", "1!G;h;$p"], "a\nb\nc\nd\n").await, "d\nc\nb\na\n");
}

#[tokio::test]
async fn quit_terminates_the_line_it_printed() {
    // Falling off the end of input keeps a missing newline missing, but `q`
    // flushes it; `Q`, which prints nothing, does not.
    assert_eq!(out(&["q"], "ab").await, "ab\n");
    assert_eq!(out(&["-n", "p;q"], "ab").await, "ab\n");
    assert_eq!(out(&["-n", "p"], "ab").await, "ab");
    assert_eq!(out(&["Q"], "ab").await, "");
    assert_eq!(out(&["2q"], "a\nb").await, "a\nb\n");
}

#[tokio::test]
async fn occurrence_and_global_compose() {
    assert_eq!(out(&["s/L/x/2g"], "heLLo\n").await, "heLxo\n");
    assert_eq!(out(&["s/a/X/3g"], "aaa\n").await, "aaX\n");
    assert_eq!(out(&["s/a/X/3"], "aaaa\n").await, "aaXa\n");
    assert_eq!(out(&["s/a/X/4"], "aaa\n").await, "aaa\n");
    assert_eq!(out(&["s/o/0/3"], "hello world\n").await, "hello world\n");
}

#[tokio::test]
async fn previously_missing_commands_work() {
    assert_eq!(out(&["-n", "$="], "a\nb\n").await, "2\n");
    assert_eq!(out(&["N;s/\\n/ /"], "a\nb\nc\n").await, "a b\nc\n");
    assert_eq!(out(&["y/abc/xyz/"], "abc\n").await, "xyz\n");
    assert_eq!(out(&["-n", "/a/{n;p}"], "a\nb\nc\n").await, "b\n");
    // `T` branches when *no* substitution has happened yet.
    assert_eq!(out(&["T end;s/a/X/;:end"], "abc\n").await, "abc\n");
    assert_eq!(out(&["s/a/X/;T end;s/b/Y/;:end"], "abc\n").await, "XYc\n");
    assert_eq!(out(&["# comment"], "a\nb\n").await, "a\nb\n");
    assert_eq!(out(&["-n", "N;P"], "a\nb\n").await, "a\n");
    assert_eq!(out(&["z;s/^$/EMPTY/"], "abc\n").await, "EMPTY\n");
    assert_eq!(out(&["-n", "l"], "a\tb\\c\n").await, "a\\tb\\\\c$\n");
    // `#n` on the first line implies -n.
    assert_eq!(out(&["#n\np"], "a\n").await, "a\n");
}

#[tokio::test]
async fn delete_first_line_restarts_the_cycle() {
    // Classic "squeeze repeated blank lines" idiom.
    assert_eq!(out(&["/^$/{N;/^\\n$/D}"], "a\n\n\n\nb\n").await, "a\n\nb\n");
}

#[tokio::test]
async fn transliterate_rejects_unequal_lengths() {
    let result = run_sed(&["y/ab/x/"], Some("a\n")).await;
    assert_eq!(result.exit_code, 1);
    assert!(result.stderr.contains("different lengths"), "{}", result.stderr);
}

#[tokio::test]
async fn the_e_command_is_refused_not_silently_ignored() {
    for script in ["1e echo hi", "s/a/b/e"] {
        let result = run_sed(&[script], Some("a\n")).await;
        assert_eq!(result.exit_code, 1, "{script}");
        assert!(result.stderr.contains("not available"), "{script}: {}", result.stderr);
    }
}

#[tokio::test]
async fn quit_carries_an_exit_status() {
    let quit = run_sed(&["1q5"], Some("a\nb\n")).await;
    assert_eq!((quit.stdout.to_string(), quit.exit_code), ("a\n".to_string(), 5));
    let silent = run_sed(&["1Q3"], Some("a\nb\n")).await;
    assert_eq!((silent.stdout.to_string(), silent.exit_code), (String::new(), 3));
}

#[test]
fn list_format_wraps_and_escapes() {
    assert_eq!(machine::listed("a\tb", 70, '\n'), "a\\tb$");
    assert_eq!(machine::listed("é", 70, '\n'), "\\303\\251$");
    assert_eq!(machine::listed(&"x".repeat(80), 70, '\n'), format!("{}\\\n{}$", "x".repeat(69), "x".repeat(11)));
    assert_eq!(machine::listed(&"x".repeat(3), 0, '\n'), "xxx$");
}

#[tokio::test]
async fn unresolvable_branch_targets_exit_four() {
    let result = run_sed(&["b nowhere"], Some("a\n")).await;
    assert_eq!(result.exit_code, 4);
    assert!(result.stderr.contains("can't find label"), "{}", result.stderr);
}

#[tokio::test]
async fn bare_append_backslash_adds_nothing() {
    assert_eq!(out(&["a\\"], "a\n").await, "a\n");
}
