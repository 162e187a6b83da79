//! Tests of what programs compute.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::{check, run_awk};

#[tokio::test]
async fn loops_and_jumps_run_as_in_gawk() {
    check(&[
        (&["BEGIN{for(i=1;i<=5;i++) print i}"], "", "1\n2\n3\n4\n5\n"),
        (&["BEGIN{for(i=0;i<3;i++){print i}}"], "", "0\n1\n2\n"),
        (&["BEGIN{i=1; while(i<=3){print i; i++}}"], "", "1\n2\n3\n"),
        (&["BEGIN{i=1; do{print i; i++}while(i<=3)}"], "", "1\n2\n3\n"),
        (&[r#"BEGIN{a[1]="x"; a[2]="y"; for(k in a) count++; print count}"#], "", "2\n"),
        (&[r#"BEGIN{a[1]=1; a[2]=2; delete a[1]; for(k in a) print k, a[k]}"#], "", "2 2\n"),
        (&["BEGIN{for(i=1;i<=10;i++){if(i>3) break; print i}}"], "", "1\n2\n3\n"),
        (&["BEGIN{for(i=1;i<=5;i++){if(i==3) continue; print i}}"], "", "1\n2\n4\n5\n"),
        (&["NR==2{next} {print}"], "line1\nline2\nline3", "line1\nline3\n"),
        (&["NR==2{exit} {print}"], "line1\nline2\nline3", "line1\n"),
    ])
    .await;
}

#[tokio::test]
async fn loop_over_a_subarray_visits_its_keys() {
    check(&[
        (&[r#"BEGIN{m["a"]["x"]=1; m["a"]["y"]=2; for(k in m) for(j in m[k]) n+=m[k][j]; print n}"#], "", "3\n"),
        (&[r#"BEGIN{m[1,2]["z"]["q"]=5; for(k in m[1,2]["z"]) print k, m[1,2]["z"][k]}"#], "", "q 5\n"),
        (&[r#"function f(t,  k){for(k in t["s"]) return k} BEGIN{t["s"]["only"]; print f(t)}"#], "", "only\n"),
    ])
    .await;
}

#[tokio::test]
async fn arrays_hold_elements_by_text() {
    check(&[
        (&[r#"{n = split($0, arr, ":"); print arr[2]}"#], "a:b:c", "b\n"),
        (&[r#"BEGIN{a[1]="x"; a[2]="y"; print a[1], a[2]}"#], "", "x y\n"),
        (&[r#"BEGIN{a["foo"]=1; if("foo" in a) print "yes"; if("bar" in a) print "no"}"#], "", "yes\n"),
        // arr[$1] = $3 should work with field refs as subscripts
        (&["{ arr[$1] = $2 } END { print arr[\"hello\"] }"], "hello world\n", "world\n"),
        // a["x","y"] multi-subscript with SUBSEP
        (&[r#"BEGIN { a["x","y"] = 1; print a["x","y"] }"#], "", "1\n"),
        // SUBSEP should be defined as \034
        (&[r#"BEGIN { print length(SUBSEP) }"#], "", "1\n"),
    ])
    .await;
}

#[tokio::test]
async fn expressions_and_records_print_as_in_gawk() {
    check(&[
        (&["{print}"], "hello\nworld", "hello\nworld\n"),
        (&["{print $1}"], "hello world\nfoo bar", "hello\nfoo\n"),
        (&["{print $2, $1}"], "hello world", "world hello\n"),
        (&["-F:", "{print $1}"], "root:x:0:0", "root\n"),
        (&["{print NR, $0}"], "a\nb\nc", "1 a\n2 b\n3 c\n"),
        (&["{print NF}"], "a b c\nd e", "3\n2\n"),
        (&["BEGIN{print \"start\"} {print} END{print \"end\"}"], "middle", "start\nmiddle\nend\n"),
        (&["/hello/{print}"], "hello\nworld\nhello again", "hello\nhello again\n"),
        (&["NR==2{print}"], "line1\nline2\nline3", "line2\n"),
        (&["{print $1 + $2}"], "1 2\n3 4", "3\n7\n"),
        (&["{sum += $1} END{print sum}"], "1\n2\n3\n4", "10\n"),
        (&["{print length($0)}"], "hello\nhi", "5\n2\n"),
        (&["{print substr($0, 2, 3)}"], "hello", "ell\n"),
        (&["{print toupper($0)}"], "hello", "HELLO\n"),
        (&["{x=1; print x}"], "test", "1\n"),
        (&[r#"{gsub(/hello/, "hi"); print}"#], "hello hello hello", "hi hi hi\n"),
        (&["{print i++}"], "a\nb\nc", "0\n1\n2\n"),
        (&["{print ++i}"], "a\nb\nc", "1\n2\n3\n"),
        (&["BEGIN{x=3; print x--; print x}"], "", "3\n2\n"),
        (&["-v", "x=hello", "BEGIN{print x}"], "", "hello\n"),
        (&["-v", "n=42", "BEGIN{print n+1}"], "", "43\n"),
        (&[r#"{print ($1>2 ? "big" : "small")}"#], "1\n3\n2", "small\nbig\nsmall\n"),
        (&[r#"{$2="new"; print}"#], "one two three", "one new three\n"),
        // printf with parenthesized syntax: printf("format", args)
        (&[r#"BEGIN{printf("["); printf("%s", "x"); printf("]"); print ""}"#], "", "[x]\n"),
    ])
    .await;
}

#[tokio::test]
async fn escapes_of_code_points_are_characters() {
    check(&[
        // \u followed by hex digits → Unicode character
        (&[r#"BEGIN{print "\u0041"}"#], "", "A\n"),
        // \u00E9 → é (Latin small e with acute)
        (&[r#"BEGIN{print "\u00E9"}"#], "", "é\n"),
        // \u1F600 → 😀 (grinning face, 5 hex digits)
        (&[r#"BEGIN{print "\u1F600"}"#], "", "😀\n"),
        // \u with no hex digits → literal \u
        (&[r#"BEGIN{print "\u "}"#], "", "\\u \n"),
        // Mix of Unicode escapes and regular text
        (&[r#"BEGIN{print "caf\u00E9"}"#], "", "café\n"),
        // multi-byte Unicode chars in comments should not panic
        (&["# ── header ──────\n{ print $1 }"], "hello world\n", "hello\n"),
        // Multi-byte chars in string literals should not panic
        (&[r#"BEGIN { print "café" }"#], "", "café\n"),
    ])
    .await;
}

// number lexer must not swallow a following +/- operator.
#[tokio::test]
async fn awk_unspaced_plus_minus_after_number() {
    for (program, expected) in [
        ("BEGIN{print 1+2}", "3\n"),
        ("BEGIN{print 1+ 2}", "3\n"),
        ("BEGIN{print 3-1}", "2\n"),
        ("BEGIN{print 1e5+2}", "100002\n"),
        // Exponents with explicit signs still lex as one token.
        ("BEGIN{print 1e+5}", "100000\n"),
        ("BEGIN{print 1.5e-3}", "0.0015\n"),
        ("{print $1+$2}", "3\n"),
    ] {
        let input = if program.contains("$1") { Some("1 2") } else { None };
        let result = run_awk(&[program], input).await.unwrap();
        assert_eq!(result.stdout, expected, "program: {program}");
    }
    // Negative: a lone '.' is still not a number.
    let r = run_awk(&["BEGIN{print .}"], None).await.unwrap();
    assert_eq!(r.exit_code, 1);
    assert!(r.stderr.contains("syntax error"), "unexpected: {}", r.stderr);
}

#[tokio::test]
async fn awk_csv_to_json_pattern() {
    // This is the pattern LLMs use for CSV→JSON conversion
    let result = run_awk(
        &["-F,", r#"NR==1{for(i=1;i<=NF;i++) h[i]=$i; next} {for(i=1;i<=NF;i++) printf "%s=%s ", h[i], $i; print ""}"#],
        Some("name,age\nalice,30\nbob,25"),
    )
    .await
    .unwrap();
    assert!(result.stdout.contains("name=alice"));
    assert!(result.stdout.contains("age=30"));
    assert!(result.stdout.contains("name=bob"));
}

#[tokio::test]
async fn awk_compound_array_assign() {
    let result =
        run_awk(&[r#"{count[$1]++} END{for(k in count) print k, count[k]}"#], Some("a\nb\na\nc\nb\na")).await.unwrap();
    // Order may vary, so check contents
    assert!(result.stdout.contains("a 3"));
    assert!(result.stdout.contains("b 2"));
    assert!(result.stdout.contains("c 1"));
}

#[tokio::test]
async fn awk_revenue_calculation() {
    // This is the exact eval task pattern
    let result = run_awk(
        &["-F,", "NR>1{total+=$2*$3} END{print total}"],
        Some("product,price,quantity\nwidget,10,5\ngadget,25,3\ndoohickey,7,12\nsprocket,15,8"),
    )
    .await
    .unwrap();
    assert_eq!(result.stdout, "329\n");
}

#[tokio::test]
async fn awk_preincrement_array() {
    // ++arr[key] should work
    let result =
        run_awk(&["{ ++count[$1] } END { for (k in count) print k, count[k] }"], Some("a\nb\na\n")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("a 2"));
    assert!(result.stdout.contains("b 1"));
}

/// A newline after `if (...)`, `for (...)`, `while (...)`, `else`, `do`,
/// `&&`, `||` or `,` continues the statement (POSIX awk `opt_nls`).
#[tokio::test]
async fn newline_after_control_header_continues_statement() {
    let program = "BEGIN {
    for (i = 1; i <= 3; i++)
        for (j = i + 1; j <= 3; j++)
            if (j > i) {
                tmp = i; n++
            }
    if (n == 3)
        print \"if\"
    else
        print \"else\"
    for (k in a)
        x = 1
    while (w < 2)
        w++
    do
        w--
    while (w > 0)
    if (n == 3 &&
        w == 0 ||
        0)
        printf \"%s,%s\\n\",
            \"a\", \"b\"
}";
    let result = run_awk(&[program], None).await.unwrap();
    assert_eq!(result.stderr, "");
    assert_eq!(result.stdout, "if\na,b\n");
}

/// A regex pattern can be one operand of `&&`, `||` or `?:` in a rule pattern.
#[tokio::test]
async fn regex_pattern_combines_with_logical_operators() {
    let input = Some("a\nb\n#c\nab\n");
    let r = run_awk(&["/a/ && !/b/ { print \"x:\" $0 }"], input).await.unwrap();
    assert_eq!(r.stdout, "x:a\n");
    let r = run_awk(&["/^#/ || /b$/ { next } { print }"], input).await.unwrap();
    assert_eq!(r.stdout, "a\n");
    let r = run_awk(&["/a/,/c/ { print \"r:\" $0 }"], input).await.unwrap();
    assert_eq!(r.stdout, "r:a\nr:b\nr:#c\nr:ab\n");
}

/// A bare `/re/` in an expression is `$0 ~ /re/`, not the pattern text.
#[tokio::test]
async fn bare_regex_in_expression_matches_record() {
    let input = Some("[s]\na=b\n");
    let r = run_awk(&["{ if (/^\\[.*\\]$/) print \"sec:\" $0 }"], input).await.unwrap();
    assert_eq!(r.stdout, "sec:[s]\n");
    let r = run_awk(&["{ x = /=/; print x }"], input).await.unwrap();
    assert_eq!(r.stdout, "0\n1\n");
    // Pattern positions still take the regex text.
    let r =
        run_awk(&["{ n = gsub(/[a-z]/, \"X\"); m = match($0, /=/); print n, m, ($0 ~ /=/) }"], input).await.unwrap();
    assert_eq!(r.stdout, "1 0 0\n2 2 1\n");
}

/// Each program without input, and what it prints.
#[tokio::test]
async fn programs_print_what_gawk_prints() {
    for (program, printed) in [
        // A record is split by the FS it was read with.
        (r#"BEGIN { FS = ":"; $0 = "a:bc:def"; FS = "-"; print $1, NF }"#, "a 3\n"),
        (r#"BEGIN { $3 = "x"; OFS = "-"; print; $1 = $1; print }"#, "  x\n--x\n"),
        // What is assigned comes before where it goes.
        ("BEGIN { i = 1; a[i++] = i; for (k in a) print k, a[k] }", "1 1\n"),
        (r#"BEGIN { $0 = "a"; sub(/x/, "y", $3); print NF }"#, "3\n"),
        (r#"BEGIN { $0 = "a"; print $400000 "|" NF }"#, "|1\n"),
        (r#"BEGIN { printf "%lld %ld %hd|%5%|%a\n", 1, 2, 3 }"#, "%lld 1 2|%|0x1.8p+1\n"),
        (r#"BEGIN { printf "[%.0d][%+.0d][%#.0o][%.0x]\n", 0, 0, 0, 0.2 }"#, "[][][0][0]\n"),
        (r#"BEGIN { print "\xGO", x !y, length(sprintf("%20000s", "")) }"#, "xGO 1 20000\n"),
        ("BEGIN { print rand(), rand(); srand(42); print rand(), srand() }", "0.924046 0.593909\n0.24632 42\n"),
        (r#"BEGIN { IGNORECASE = 1; print split("aXbx", a, "x"), RLENGTH }"#, "2 0\n"),
    ] {
        let result = run_awk(&[program], Some("")).await.unwrap();
        assert_eq!(result.stdout, printed, "{program}");
    }
}

#[tokio::test]
async fn patsplit_stores_the_separators_around_the_parts() {
    let program =
        "BEGIN{n=patsplit($1,f,/[0-9]+/,s);print n,f[1],f[2];for(i=0;i<=n;i++)printf \"[%s]\",s[i];print length(s)}";
    for (text, expected) in [("a1b22c", "2 1 22\n[a][b][c]3\n"), ("1a2", "2 1 2\n[][a][]3\n"), ("abc", "0  \n[abc]1\n")]
    {
        let program = program.replace("$1", &format!("\"{text}\""));
        let result = run_awk(&[&program], None).await.unwrap();
        assert_eq!(&*result.stdout, expected, "{text}");
    }
}

#[tokio::test]
async fn escape_that_means_nothing_warns_once() {
    for (program, warning) in [
        (
            "BEGIN{x = /\\d/ || /[\\d\\.]/}",
            "awk: cmd. line:1: warning: regexp escape sequence `\\d' is not a known regexp operator\n",
        ),
        ("\nBEGIN{x = \"\\/\\n\"}", "awk: cmd. line:2: warning: escape sequence `\\/' treated as plain `/'\n"),
        (
            "BEGIN{x = \"a\" ~ \"\\\\d\" || /\\q/}",
            "awk: cmd. line:1: warning: regexp escape sequence `\\q' is not a known regexp operator\n\
             awk: cmd. line:1: warning: regexp escape sequence `\\d' is not a known regexp operator\n",
        ),
        ("BEGIN{x = /\\.\\w\\// && \"\\t\\x41\\101\"}", ""),
    ] {
        let result = run_awk(&[program], None).await.unwrap();
        assert_eq!((&*result.stderr, result.exit_code), (warning, 0), "{program}");
    }
}

#[tokio::test]
async fn function_without_a_value_for_its_argument_warns() {
    for (program, warning) in [
        ("BEGIN{print log(-1)}", "awk: cmd. line:1: warning: log: received negative argument -1\n"),
        ("BEGIN{x=sqrt(-2.5)}", "awk: cmd. line:1: warning: sqrt: received negative argument -2.5\n"),
        ("BEGIN{x=exp(800)}", "awk: cmd. line:1: warning: exp: argument 800 is out of range\n"),
        ("BEGIN{x=log(0);y=sqrt(0);z=exp(-740);w=log(\"a\")}", ""),
    ] {
        let result = run_awk(&[program], None).await.unwrap();
        assert_eq!((&*result.stderr, result.exit_code), (warning, 0), "{program}");
    }
}

#[tokio::test]
async fn values_that_are_no_numbers_are_sorted_as_texts_by_value() {
    check(&[
        (
            &[r#"BEGIN{a[1]="b"; a[2]="c"; a[3]="a"; PROCINFO["sorted_in"]="@val_num_desc"; for(k in a) printf "%s ", a[k]}"#],
            "",
            "c b a ",
        ),
        (&[r#"BEGIN{a[1]="b"; a[2]=-1; a[3]="a"; n=asort(a,s,"@val_num_asc"); print s[1], s[2], s[3]}"#], "", "-1 a b\n"),
    ])
    .await;
}

#[tokio::test]
async fn typeof_a_field_behind_the_last_one_is_unassigned() {
    check(&[(&["{print typeof($1), typeof($2), typeof($9)}"], "1 a", "strnum string unassigned\n")]).await;
}

#[tokio::test]
async fn typeof_a_variable_passed_as_an_array_is_untyped_until_it_is_used_as_one() {
    check(&[
        (
            &["function f(a){print typeof(a); a[1]; print typeof(a)} BEGIN{f(x); print typeof(x)}"],
            "",
            "untyped\narray\narray\n",
        ),
        (
            &["function g(b){return isarray(b)} function f(a){return g(a) (\"k\" in a) g(a)} BEGIN{print f(z)}"],
            "",
            "001\n",
        ),
    ])
    .await;
}

#[tokio::test]
async fn beginfile_can_skip_a_file_that_cannot_be_read() {
    let script = r#"echo x > f; mkdir d
        awk 'BEGINFILE { print FILENAME, ERRNO; if (ERRNO != "") nextfile } { print } ENDFILE { print "end", FILENAME }' none f d
        awk 'BEGINFILE { print FILENAME, ERRNO } { print }' none f 2>&1; echo $?"#;
    let result = crate::commands::testing::run(script).await;
    let skipped = crate::commands::testing::run(
        "echo x > f; awk 'BEGINFILE { if (FILENAME == \"f\") nextfile } { print } ENDFILE { print FILENAME, FNR }' f f",
    );
    assert_eq!(&*skipped.await.stdout, "f 0\nf 0\n");
    let expected = "none No such file or directory\nf \nx\nend f\nd Is a directory\nnone No such file or directory\n\
                    awk: cmd. line:1: fatal: cannot open file `none' for reading: No such file or directory\n2\n";
    assert_eq!((&*result.stdout, &*result.stderr), (expected, ""));
}

#[tokio::test]
async fn getline_of_a_file_without_a_name_is_a_fatal_error() {
    let result = run_awk(&[r#"BEGIN { getline x < ""; print "on" }"#], None).await.unwrap();
    assert_eq!((&*result.stdout, result.exit_code), ("", 2));
    assert!(result.stderr.contains("expression for `<' redirection has null string value"), "{}", &*result.stderr);
}

#[tokio::test]
async fn mktime_follows_the_flag_of_daylight_saving_time() {
    let script = r#"for zone in EST5EDT JST-9 UTC; do
        TZ=$zone awk 'BEGIN { d = "2024 07 01 12 00 00"; print mktime(d) - mktime(d " 1"), mktime(d) - mktime(d " 0"), mktime(d) - mktime(d " -1") }'
        done"#;
    // As gawk 5.2.1 with glibc 2.36.
    let result = crate::commands::testing::run(script).await;
    assert_eq!((&*result.stdout, &*result.stderr), ("0 -3600 0\n3600 0 0\n3600 0 0\n", ""));
}

#[tokio::test]
async fn warning_about_a_record_names_its_file_and_number() {
    let result = run_awk(&["{print log(-$1)}"], Some("1\n")).await.unwrap();
    let warning = "awk: cmd. line:1: (FILENAME=- FNR=1) warning: log: received negative argument -1\n";
    assert_eq!((&*result.stderr, &*result.stdout), (warning, "-nan\n"));
}
