//! Tests of limits.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::{out, run_sed};

#[tokio::test]
async fn grouped_command_nesting_depth_is_capped() {
    let depth = bashkit::builtins::limits::SED_MAX_GROUP_NESTING_DEPTH + 1;
    let script = format!("{}p{}", "{".repeat(depth), "}".repeat(depth));
    let result = run_sed(&[&script], Some("a\n")).await;
    assert_eq!(result.exit_code, 1);
    assert!(result.stderr.contains("nesting exceeds max depth"), "{}", result.stderr);
}

#[tokio::test]
async fn branch_loop_limit_emits_a_warning() {
    let result = run_sed(&[":loop; s/a/aa/; /a\\{2000\\}/!b loop"], Some("a\n")).await;
    assert!(result.stderr.contains("loop limit"), "{}", result.stderr);
    assert_eq!(result.exit_code, 0);
}

/// THREAT[TM-DOS]: `D` reruns the script without reading input, so `G;D` never
/// terminates and grows the pattern space without bound. GNU hangs here; the
/// sandbox must not.
#[tokio::test]
async fn a_non_progressing_delete_restart_loop_terminates() {
    let result = run_sed(&["G;D"], Some("a\nb\n")).await;
    assert_eq!(result.exit_code, 0);
    assert!(result.stderr.contains("loop limit"), "{}", result.stderr);
    // A `D` loop that does make progress still terminates on its own.
    let progressing = run_sed(&["-s", "1,2!h;2,+1G;2,$D"], Some("abc\nABC\n")).await;
    assert_eq!(progressing.exit_code, 0);
    assert_eq!(progressing.stdout, "abc\n\n\n");
    assert!(progressing.stderr.is_empty(), "{}", progressing.stderr);
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
    // A loop that reads nothing is still stopped.
    let r = run_sed(&[":a;s/^/x/;ta"], Some("a\n")).await;
    assert!(r.stderr.contains("loop limit"), "{}", r.stderr);
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
