use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bashkit::ExecutionLimits;
use bashkit::limits::{BudgetedString, ExecutionBudget};

use super::budget::{BoundedText, MAX_OUTPUT, add_row_bytes};
use super::options::PrOptions;
use super::pages::PageWriter;
use crate::commands::testing::run;

#[tokio::test]
async fn pr_arranges_lines_in_columns() {
    for (call, output) in [
        ("seq 3 | pr -t2", "1\t\t\t\t    3\n2\n"),
        ("seq 7 | pr -t3", "1\t\t\t4\t\t\t6\n2\t\t\t5\t\t\t7\n3\n"),
        ("seq 4 | pr -t3a", "1\t\t\t2\t\t\t3\n4\n"),
        ("seq 2 | pr -t2s,", "1,2\n"),
        ("printf 'a\\nb\\n' | pr -tn", "    1\ta\n    2\tb\n"),
        ("echo a | pr -tn:3", "  1:a\n"),
        ("printf 'a\\nb\\nc\\nd\\n' | pr -t -2 -J -n", "    1\ta\t    3\t  c\n    2\tb\t    4\t  d\n"),
        ("seq 2 > f; seq 3 > g; pr -tm f g", "1\t\t\t\t    1\n2\t\t\t\t    2\n\t\t\t\t    3\n"),
        ("seq 2 | pr -tdo3", "   1\n\n   2\n\n"),
        ("echo abcdef | pr -tW3", "abc\n"),
    ] {
        let result = run(call).await;
        assert_eq!((&*result.stdout, &*result.stderr), (output, ""), "{call}");
    }
}

#[tokio::test]
async fn pr_writes_pages_with_headers() {
    let script = "seq 3 > f; touch -d '2024-01-02 03:04' f; ";
    for (call, output) in [
        (
            "pr -l 12 f +2",
            "\n\n2024-01-02 03:04                        f                         Page 2\n\n\n3\n\n\n\n\n\n\n",
        ),
        (
            "pr -l 12 -F +1:1 -h T -D %Y f",
            "\n\n2024                              T                               Page 1\n\n\n1\n2\n\x0c",
        ),
        ("pr -l 9 f", "1\n2\n3\n"),
    ] {
        let result = run(&format!("{script}{call}")).await;
        assert_eq!((&*result.stdout, &*result.stderr), (output, ""), "{call}");
    }
}

#[tokio::test]
async fn pr_refuses_wrong_calls() {
    for (call, message) in [
        ("pr -l x", "pr: '-l PAGE_LENGTH' invalid number of lines: 'x'\n"),
        ("pr -l 99999999", "pr: '-l PAGE_LENGTH' invalid number of lines: '99999999': Numerical result out of range\n"),
        ("pr -w", "pr: option requires an argument -- 'w'\nTry 'pr --help' for more information.\n"),
        ("pr -z", "pr: invalid option -- 'z'\nTry 'pr --help' for more information.\n"),
        ("pr -é", "pr: invalid option -- 'é'\nTry 'pr --help' for more information.\n"),
        ("pr gone", "pr: gone: No such file or directory\n"),
    ] {
        let result = run(call).await;
        assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{call}");
    }
}

#[test]
fn text_is_bounded_before_it_grows() {
    let limits = ExecutionLimits::new().max_live_intermediate_bytes(MAX_OUTPUT as u64);
    let budget = ExecutionBudget::new(&limits, Arc::new(AtomicBool::new(false)));
    let mut text = BoundedText::new(Some(&budget)).expect("room");
    text.append(&"x".repeat(MAX_OUTPUT - 1)).expect("room");
    assert!(text.append("é").is_err());
    assert_eq!(text.as_str().len(), MAX_OUTPUT - 1);
    text.push('x').expect("room for a byte");
    text.append("").expect("no more bytes");
    assert!(text.push('\n').is_err());
    assert_eq!(text.as_str().len(), MAX_OUTPUT);
    assert!(add_row_bytes(usize::MAX, 1).is_err());
}

#[test]
fn pages_that_are_skipped_end_with_a_cancelled_run() {
    let cancelled = Arc::new(AtomicBool::new(false));
    let budget = ExecutionBudget::new(&ExecutionLimits::new(), cancelled.clone());
    let options = PrOptions::parse(&["+2".to_owned()]).ok().expect("options");
    let rows = [BudgetedString::new(None).expect("room")];
    let mut pages = PageWriter::new(&options, Some(&budget)).expect("room");
    cancelled.store(true, Ordering::Relaxed);
    assert!(pages.write(&rows, "title", "date").is_err());
    assert!(pages.finish().is_empty());
}
