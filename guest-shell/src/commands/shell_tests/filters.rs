//! Filters at the edges of their languages, with what the GNU programs print.

use super::check;

#[tokio::test]
async fn sed_append_without_text_ends_the_last_line() {
    check(&[
        (r#"sed -e '$a\' <(printf 'no newline')"#, "no newline\n", 0),
        (r#"printf 'x' | sed '$a\' ; printf 'x\n' | sed '$a\'"#, "x\nx\n", 0),
        (r#"printf 'x\ny' | sed 'c\' | od -c; printf '1\n2\n3' | sed '2i\'; printf 'a\nb' | sed 'a\'; printf 'a\nb' | sed '1a\'"#, "0000000\n1\n2\n3a\nb\na\nb", 0),
        (r#"printf 'a' > f; sed -i -e '$a\' f; od -c f; sed -i -e '$a\' f; od -c f"#, "0000000   a  \\n\n0000002\n0000000   a  \\n\n0000002\n", 0),
        (r#"printf 'a\nb' | sed '$a\
x' | od -c"#, "0000000   a  \\n   b  \\n   x  \\n\n0000006\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn awk_record_compares_as_what_was_assigned_to_it() {
    check(&[
        ("echo 10 | awk '{$1=$1; print ($0<9), typeof($0)}'", "1 string\n", 0),
        (r#"echo 10 | awk '{sub(/x/,"");print ($0<9), typeof($0)}{$0=10;print ($0<9), typeof($0)}{$0=$1;print ($0<9), typeof($0)}{$0="7" "";print typeof($0),typeof($1), $0<10}{NF=1;print typeof($0), ($0<9)}{$0+=0;print typeof($0), typeof($1), $0<9}'"#, "0 strnum\n0 number\n0 strnum\nstring strnum 0\nstring 1\nnumber strnum 1\n", 0),
        (r#"echo '10 x' | awk '{sub(/ x/,"");print ($0<9), typeof($0); getline; print typeof($0)}'"#, "1 string\nstring\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn grep_inverted_with_an_empty_pattern_reads_nothing() {
    check(&[
        (r#"printf 'a\nb\n' | grep -v ''; echo $?; printf 'a\n' | grep -vc ''; echo $?; printf 'a\n' | grep -vL ''; echo $?; printf 'a\n\n' | grep -vx ''; printf 'a\n\n' | grep -vw ''; printf 'a\n' | grep -v -e '' -e b; echo $?"#, "1\n1\n(standard input)\n1\na\na\n1\n", 0),
    ])
    .await;
}
