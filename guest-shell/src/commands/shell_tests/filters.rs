//! Filters at the edges of their languages, with what the GNU programs print.

use super::{check, check_with_files};

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

#[tokio::test]
async fn diff_options_of_gnus_are_there() {
    check_with_files(&[
        ("diff -f left.txt right.txt; diff --forward-ed left.txt right.txt | head -1", "c1 3\n1 red\n2 blue\n3 green\n.\nc1 3\n", 0),
        (r#"diff -f <(seq 5) <(printf '1\n3\nx\n5\n6\n')"#, "d2\nc4\nx\n.\na5\n6\n.\n", 1),
        ("diff -t -y left.txt right.txt", "1 ann                                                           |  1 red\n2 bob                                                           |  2 blue\n4 dan                                                           |  3 green\n", 1),
        (r#"mkdir d1 d2; printf '1\n' > "d1/a b"; printf '2\n' > "d2/a b"; printf '1\n' > $'d1/t"q'; printf '2\n' > $'d2/t"q';  printf '1\n' > "d1/é'"; printf '2\n' > "d2/é'"; diff -r d1 d2; diff -y d1 d1; diff -q -r d1 d2; diff -rs -y -W 20 d1 d1; diff -u "d1/a b" "d2/a b" | sed 's/\t.*//'"#, "diff -r \"d1/a b\" \"d2/a b\"\n1c1\n< 1\n---\n> 2\ndiff -r \"d1/t\\\"q\" \"d2/t\\\"q\"\n1c1\n< 1\n---\n> 2\ndiff -r \"d1/\\303\\251'\" \"d2/\\303\\251'\"\n1c1\n< 1\n---\n> 2\ndiff -y \"d1/a b\" \"d1/a b\"\n1\t\t\t\t\t\t\t\t1\ndiff -y \"d1/t\\\"q\" \"d1/t\\\"q\"\n1\t\t\t\t\t\t\t\t1\ndiff -y \"d1/\\303\\251'\" \"d1/\\303\\251'\"\n1\t\t\t\t\t\t\t\t1\nFiles d1/a b and d2/a b differ\nFiles d1/t\"q and d2/t\"q differ\nFiles d1/é' and d2/é' differ\ndiff -rs -y -W 20 \"d1/a b\" \"d1/a b\"\n1\t1\nFiles d1/a b and d1/a b are identical\ndiff -rs -y -W 20 \"d1/t\\\"q\" \"d1/t\\\"q\"\n1\t1\nFiles d1/t\"q and d1/t\"q are identical\ndiff -rs -y -W 20 \"d1/\\303\\251'\" \"d1/\\303\\251'\"\n1\t1\nFiles d1/é' and d1/é' are identical\n--- \"d1/a b\"\n+++ \"d2/a b\"\n@@ -1 +1 @@\n-1\n+2\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn tagged_paragraph_of_fmt_takes_the_indentation_before() {
    check(&[
        (r#"printf 'a b c d\n    e f\n\nx y z q r\n\n    x y z q r\n\n  m n o p\n  m n o p\n\n a b c d e\n' | fmt -t -w 8"#, "a b c d\n    e f\n\nx y z\n    q r\n\n    x y\nz q r\n\n  m n\no p\n  m n\no p\n\n a b c\nd e\n", 0),
        (r#"printf 'a b\n\n c d e f g h\n\nx y z\n' | fmt -t -w 5"#, "a b\n\n c d\n   e\n   f\n   g\n   h\n\nx y\n   z\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn expression_with_a_mistake_is_told_as_by_the_library_of_c() {
    check_with_files(&[
        ("who -a >/dev/null; echo $?; who -u -T -r -d -l -p -s -t; echo $?", "0\n0\n", 0),
        (r#"sed -n '/[[:foo:]]/p' words; echo $?; sed -n '/[:space:]/p' words; echo $?; sed 's/\(/x/' words; sed 's/a\{1/x/' words; sed -E 's/(/x/' words; sed -E 's/a{2,1}/x/' words; sed 's/[z-a]/x/' words; sed 's/a\{99999\}/x/' words"#, "1\n4\n", 1),
    ])
    .await;
}
