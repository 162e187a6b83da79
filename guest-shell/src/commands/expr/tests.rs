//! Results of `expr` for expressions.

use super::*;
use crate::commands::testing::{call, home_directory};

// ==================== missing operand ====================

#[tokio::test]
async fn expr_missing_operand() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &[]).await;
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.contains("missing operand"));
}

// ==================== arithmetic ====================

#[tokio::test]
async fn expr_addition() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["3", "+", "4"]).await;
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout.trim(), "7");
}

#[tokio::test]
async fn expr_subtraction() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["10", "-", "3"]).await;
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout.trim(), "7");
}

#[tokio::test]
async fn expr_multiplication() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["6", "*", "7"]).await;
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout.trim(), "42");
}

#[tokio::test]
async fn expr_division() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["15", "/", "3"]).await;
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout.trim(), "5");
}

#[tokio::test]
async fn expr_modulo() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["17", "%", "5"]).await;
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout.trim(), "2");
}

#[tokio::test]
async fn expr_division_by_zero() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["5", "/", "0"]).await;
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.contains("division by zero"));
}

#[tokio::test]
async fn expr_modulo_by_zero() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["5", "%", "0"]).await;
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.contains("division by zero"));
}

#[tokio::test]
async fn expr_non_integer_arithmetic() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["abc", "+", "1"]).await;
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.contains("non-integer"));
}

// ==================== zero result gives exit code 1 ====================

#[tokio::test]
async fn expr_zero_result_exit_code_1() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["5", "-", "5"]).await;
    assert_eq!(result.exit_code, 1); // "0" result => exit code 1
    assert_eq!(result.stdout.trim(), "0");
}

// ==================== string comparison ====================

#[tokio::test]
async fn expr_string_equal() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["hello", "=", "hello"]).await;
    assert_eq!(result.stdout.trim(), "1");
    assert_eq!(result.exit_code, 0);
}

#[tokio::test]
async fn expr_string_not_equal() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["hello", "!=", "world"]).await;
    assert_eq!(result.stdout.trim(), "1");
    assert_eq!(result.exit_code, 0);
}

#[tokio::test]
async fn expr_string_equal_returns_zero_for_mismatch() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["a", "=", "b"]).await;
    assert_eq!(result.stdout.trim(), "0");
    assert_eq!(result.exit_code, 1);
}

// ==================== comparison operators ====================

#[tokio::test]
async fn expr_less_than_numeric() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["3", "<", "10"]).await;
    assert_eq!(result.stdout.trim(), "1");
}

#[tokio::test]
async fn expr_greater_than_numeric() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["10", ">", "3"]).await;
    assert_eq!(result.stdout.trim(), "1");
}

#[tokio::test]
async fn expr_le_numeric() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["5", "<=", "5"]).await;
    assert_eq!(result.stdout.trim(), "1");
}

#[tokio::test]
async fn expr_ge_numeric() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["5", ">=", "3"]).await;
    assert_eq!(result.stdout.trim(), "1");
}

// ==================== string functions ====================

#[tokio::test]
async fn expr_length() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["length", "hello"]).await;
    assert_eq!(result.stdout.trim(), "5");
}

#[tokio::test]
async fn expr_length_empty() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["length", ""]).await;
    assert_eq!(result.stdout.trim(), "0");
    assert_eq!(result.exit_code, 1); // "0" => exit 1
}

#[tokio::test]
async fn expr_substr() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["substr", "hello", "2", "3"]).await;
    assert_eq!(result.stdout.trim(), "ell");
}

#[tokio::test]
async fn expr_substr_out_of_range() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["substr", "hi", "0", "1"]).await;
    // pos=0 is out of range (1-based)
    assert!(result.stdout.trim().is_empty());
}

#[tokio::test]
async fn expr_index() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["index", "hello", "lo"]).await;
    // First occurrence of any char in "lo" in "hello" is 'l' at position 3 (1-based)
    assert_eq!(result.stdout.trim(), "3");
}

#[tokio::test]
async fn expr_index_not_found() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["index", "hello", "xyz"]).await;
    assert_eq!(result.stdout.trim(), "0");
}

// ==================== arithmetic overflow ====================

#[tokio::test]
async fn expr_quotient_beyond_64_bits_is_exact() {
    let (fs, cwd) = home_directory().await;
    for (operator, expected) in [("/", "9223372036854775808\n"), ("%", "0\n")] {
        let result = call(&Expr, fs.clone(), &cwd, &["-9223372036854775808", operator, "-1"]).await;
        assert_eq!(result.stdout, expected);
    }
}

// ==================== pattern matching ====================

#[tokio::test]
async fn expr_match_literal() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["match", "hello", "hel"]).await;
    assert_eq!(result.stdout.trim(), "3"); // 3 chars matched
}

#[tokio::test]
async fn expr_colon_pattern() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["hello", ":", ".*"]).await;
    assert_eq!(result.stdout.trim(), "5"); // .* matches all 5 chars
}

#[tokio::test]
async fn expr_colon_no_match() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["hello", ":", "xyz"]).await;
    assert_eq!(result.stdout.trim(), "0");
}

// ==================== logical operators ====================

#[tokio::test]
async fn expr_or_left_nonzero() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["hello", "|", "world"]).await;
    assert_eq!(result.stdout.trim(), "hello");
}

#[tokio::test]
async fn expr_or_left_zero() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["0", "|", "fallback"]).await;
    assert_eq!(result.stdout.trim(), "fallback");
}

#[tokio::test]
async fn expr_and_both_nonzero() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["hello", "&", "world"]).await;
    assert_eq!(result.stdout.trim(), "hello");
}

#[tokio::test]
async fn expr_and_one_zero() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["0", "&", "world"]).await;
    assert_eq!(result.stdout.trim(), "0");
}

// ==================== single value ====================

#[tokio::test]
async fn expr_single_value() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["42"]).await;
    assert_eq!(result.stdout.trim(), "42");
    assert_eq!(result.exit_code, 0);
}

#[tokio::test]
async fn expr_single_zero_value() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["0"]).await;
    assert_eq!(result.stdout.trim(), "0");
    assert_eq!(result.exit_code, 1); // "0" => falsy
}

// Issue #434: length should count chars, not bytes
#[tokio::test]
async fn test_length_multibyte_utf8() {
    let (fs, cwd) = home_directory().await;
    // "café" = 4 chars but 5 bytes (é is 2 bytes)
    let result = call(&Expr, fs.clone(), &cwd, &["length", "café"]).await;
    assert_eq!(result.stdout.trim(), "4", "should count chars, not bytes");
}

// Issue #434: substr should use char-based slicing
#[tokio::test]
async fn test_substr_multibyte_utf8() {
    let (fs, cwd) = home_directory().await;
    // "日本語" - extract first 2 chars
    let result = call(&Expr, fs.clone(), &cwd, &["substr", "日本語", "1", "2"]).await;
    assert_eq!(result.stdout.trim(), "日本", "should extract chars, not bytes");
}

// Issue #434: match with capture groups should not slice on byte offsets
#[tokio::test]
async fn test_match_capture_group_multibyte_utf8() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Expr, fs.clone(), &cwd, &["match", "é", "\\(.*\\)"]).await;
    assert_eq!(result.stdout.trim(), "é");
    assert_eq!(result.exit_code, 0);
}

// TM-INF-022: garbage expression stderr must not leak parser Debug shapes.
#[tokio::test]
async fn no_leak_garbage_expression() {
    let r = crate::commands::testing::run(r#"expr garbage / 0"#).await;
    crate::commands::testing::assert_no_leak(&r, "expr_garbage", &["ParseFloatError", "ParseIntError"]);
}
