//! Tests of `fmt`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::options::parse_arguments;
use super::{FmtOutput, format_input};
use bashkit::limits::ExecutionBudget;

fn fmt(args: &[&str], input: &str) -> String {
    let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
    let Ok((opts, _)) = parse_arguments(&args) else {
        panic!("valid args");
    };
    let mut out = FmtOutput::new(None).unwrap();
    format_input(&opts, input.as_bytes(), &mut out).unwrap();
    String::from_utf8(out.bytes.into_parts().0).unwrap()
}

#[test]
fn output_capacity_boundary_is_checked_before_copy() {
    use bashkit::{ExecutionBudgetExceeded, ExecutionLimits, LimitExceeded};
    let token = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let budget = ExecutionBudget::new(&ExecutionLimits::new().max_live_intermediate_bytes(8), token);
    let mut out = FmtOutput::new(Some(budget)).unwrap();
    out.write_all(b"12345678").unwrap();
    assert!(matches!(
        out.write_all(b"9"),
        Err(bashkit::Error::ResourceLimit(LimitExceeded::ExecutionBudget(ExecutionBudgetExceeded::LiveBytes {
            used: 16,
            limit: 8
        })))
    ));
    assert_eq!(&*out.bytes, b"12345678");
}

#[test]
fn synchronous_sink_observes_cancellation_and_deadline() {
    use bashkit::{ExecutionLimits, LimitExceeded};
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };
    for cancel in [true, false] {
        let token = Arc::new(AtomicBool::new(false));
        let budget =
            ExecutionBudget::new(&ExecutionLimits::new().timeout(std::time::Duration::from_millis(1)), token.clone());
        let mut out = FmtOutput::new(Some(budget)).unwrap();
        out.write_all(b"a").unwrap();
        if cancel {
            token.store(true, Ordering::Relaxed);
        } else {
            std::thread::sleep(std::time::Duration::from_millis(120));
        }
        let error = out.write_all(b"b").unwrap_err();
        if cancel {
            assert!(matches!(error, bashkit::Error::Cancelled));
        } else {
            assert!(matches!(error, bashkit::Error::ResourceLimit(LimitExceeded::Timeout(_))));
        }
        assert_eq!(&*out.bytes, b"a");
    }
}

#[test]
fn joins_short_lines() {
    assert_eq!(fmt(&[], "a b\nc d\n"), "a b c d\n");
}

#[test]
fn keeps_blank_line_paragraphs() {
    assert_eq!(fmt(&[], "a\nb\n\nc\n"), "a b\n\nc\n");
}

#[test]
fn two_spaces_after_sentence_end_at_line_end() {
    assert_eq!(fmt(&[], "Hello world.\nNext line.\n"), "Hello world.  Next line.\n");
}

#[test]
fn long_word_stays_whole() {
    let word = "x".repeat(100);
    assert_eq!(fmt(&["-w", "20"], &format!("{word} y\n")), format!("{word}\ny\n"));
}

#[test]
fn no_trailing_newline_input() {
    assert_eq!(fmt(&[], "a b"), "a b\n");
}

#[test]
fn empty_input() {
    assert_eq!(fmt(&[], ""), "");
}

#[test]
fn width_rules() {
    let args = |a: &[&str]| a.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let (o, _) = parse_arguments(&args(&[])).ok().unwrap();
    assert_eq!((o.width, o.goal), (75, 70));
    let (o, _) = parse_arguments(&args(&["-g", "30"])).ok().unwrap();
    assert_eq!((o.width, o.goal), (40, 30));
    let (o, _) = parse_arguments(&args(&["-50"])).ok().unwrap();
    assert_eq!((o.width, o.goal), (50, 46));
    assert!(parse_arguments(&args(&["-w", "3000"])).is_err());
    assert!(parse_arguments(&args(&["-w", "20", "-g", "30"])).is_err());
    assert!(parse_arguments(&args(&["-w", "abc"])).is_err());
    assert!(parse_arguments(&args(&["-z"])).is_err());
}

#[test]
fn last_word_stands_alone_where_that_costs_less_than_a_short_line() {
    let text = "pear apple fig\nApple banana fig\ncherry\n";
    assert_eq!(fmt(&["-w", "20"], text), text);
    assert_eq!(fmt(&["-w", "19"], text), "pear apple fig\nApple banana\nfig cherry\n");
}
