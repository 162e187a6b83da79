//! Tests of limits.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::{out, run_sed};

#[tokio::test]
async fn grouped_command_nesting_depth_is_capped() {
    let depth = crate::commands::sed::script::MAX_GROUP_DEPTH + 1;
    let script = format!("{}p{}", "{".repeat(depth), "}".repeat(depth));
    let result = run_sed(&[&script], Some("a\n")).await;
    assert_eq!(result.exit_code, 1);
    assert!(result.stderr.contains("nesting exceeds max depth"), "{}", result.stderr);
}

/// THREAT[TM-DOS]: `D` reruns the script without reading input; that ends if each restart makes the text shorter.
#[tokio::test]
async fn restart_that_makes_progress_ends() {
    let progressing = run_sed(&["-s", "1,2!h;2,+1G;2,$D"], Some("abc\nABC\n")).await;
    assert_eq!((progressing.exit_code, &*progressing.stdout), (0, "abc\n\n\n"));
    assert!(progressing.stderr.is_empty(), "{}", progressing.stderr);
}

#[tokio::test]
async fn loop_of_thousands_of_steps_in_one_line_runs_to_its_end() {
    let text = "x".repeat(3_000) + "\n";
    let branched = run_sed(&[":a;s/x/y/;ta"], Some(&text)).await;
    assert_eq!((&*branched.stdout, &*branched.stderr), (&*text.replace('x', "y"), ""));
    let restarted = run_sed(&["s/x/x\\n/g;:a;P;s/^[^\\n]*\\n//;ta;d"], Some(&text)).await;
    assert_eq!((&*restarted.stdout, &*restarted.stderr), (&*("x\n".repeat(3_000) + "\n"), ""));
}

#[tokio::test]
async fn loops_that_read_input_are_not_capped() {
    // `$!N;P;D` restarts once per line and `:b;$b;N;...;bb` loops once per
    // line; both are bounded by the input, so long inputs must finish.
    let input: String = (1..=3000).map(|n| format!("{n}\n")).collect();
    assert_eq!(out(&["$!N;P;D"], &input).await, input);
    let dups = "x\n".repeat(3000) + "y\n";
    let r = run_sed(&["h;:b;$b;N;/^\\(.*\\)\\n\\1$/{g;bb;};$b;P;D"], Some(&dups)).await;
    assert_eq!(r.stdout, "x\ny\n");
    assert_eq!(r.stderr, "");
}

#[tokio::test]
async fn long_messages_are_cut_between_characters() {
    let long = "\u{e9}".repeat(600);
    let result = run_sed(&[&format!("b {long}")], Some("a\n")).await;
    assert_eq!(result.exit_code, 4);
    assert!(result.stderr.starts_with("sed: can't find label for jump to `\u{e9}"), "{}", &*result.stderr);
    let result = run_sed(&["p", &format!("x{long}")], None).await;
    assert_eq!((result.exit_code, result.stderr.starts_with("sed: can't read x\u{e9}")), (2, true));
}
