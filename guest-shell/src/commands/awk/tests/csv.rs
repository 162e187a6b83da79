//! Tests of `--csv`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::{check, run_awk};
use crate::commands::awk::interpreter::split_csv_record;

#[tokio::test]
async fn csv_fields_follow_rfc_4180() {
    check(&[
        (&["--csv", "{print $2}"], "a,b,c\nd,e,f", "b\ne\n"),
        // Quoted field with embedded comma
        (&["--csv", "{print $2}"], r#"1,"hello, world",3"#, "hello, world\n"),
        // Double-quote escaping per RFC 4180
        (&["--csv", "{print $2}"], r#"1,"she said ""hi""",3"#, "she said \"hi\"\n"),
        (&["--csv", "{print NF}"], "a,b,c", "3\n"),
        (&["--csv", "{print NF}"], "a,,c,", "4\n"),
        // -k is an alias for --csv
        (&["-k", "{print $2}"], "a,b,c", "b\n"),
    ])
    .await;
}

#[tokio::test]
async fn awk_printf_parens_csv() {
    // CSV to JSON pattern using printf with parens
    let result = run_awk(
        &[
            "-F,",
            r#"NR==1{for(i=1;i<=NF;i++) h[i]=$i; next} {printf("%s{", (NR>2?",":"")); for(i=1;i<=NF;i++){printf("%s\"%s\":\"%s\"", (i>1?",":""), h[i], $i)}; printf("}")} END{print ""}"#,
        ],
        Some("name,age\nalice,30\nbob,25\n"),
    )
    .await
    .unwrap();
    assert!(result.stdout.contains("alice"));
    assert!(result.stdout.contains("bob"));
}

#[tokio::test]
async fn awk_csv_ofs() {
    // Like gawk 5.3, --csv changes input splitting only; OFS stays " ".
    let result = run_awk(&["--csv", "{print $1, $3}"], Some("a,b,c")).await.unwrap();
    assert_eq!(result.stdout, "a c\n");
    let result = run_awk(&["--csv", "-v", "OFS=,", "{print $1, $3}"], Some("a,b,c")).await.unwrap();
    assert_eq!(result.stdout, "a,c\n");
}

#[test]
fn split_csv_record_unit() {
    assert_eq!(split_csv_record("a,b,c"), vec!["a", "b", "c"]);
    assert_eq!(split_csv_record(r#"1,"hello, world",3"#), vec!["1", "hello, world", "3"]);
    assert_eq!(split_csv_record(r#""a""b",c"#), vec!["a\"b", "c"]);
    assert_eq!(split_csv_record("a,,c,"), vec!["a", "", "c", ""]);
}
