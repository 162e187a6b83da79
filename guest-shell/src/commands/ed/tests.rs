//! Scripts for `ed`, with what GNU ed 1.19 prints.

use crate::commands::testing::run;

/// Returns what `ed` prints, and its status, for commands on a file of the lines `a`, `b` and `c`.
async fn edit(options: &str, commands: &str) -> (String, i32) {
    let script = format!(
        "mkdir -p /e; cd /e; printf 'a\\nb\\nc\\n' > f; cat > s <<'END'\n{commands}END\ncat s | ed {options} f 2>&1"
    );
    let result = run(&script).await;
    (result.stdout.to_string(), result.exit_code)
}

#[tokio::test]
async fn ed_commands_print_what_gnus_print() {
    for (commands, output, status) in [
        ("2\n,p\nq\n", "6\nb\na\nb\nc\n", 0),
        ("1,3n\n$l\n=\n.=\nw\n", "6\n1\ta\n2\tb\n3\tc\nc$\n3\n3\n6\n", 0),
        ("1i\nq\n.\n1,2j\np\n1m$\n,p\nQ\n", "6\nqa\nb\nc\nqa\n", 0),
        ("g/[ab]/s//X&/\\\ns/$/!/\n,p\nQ\n", "6\nXa!\nbX!\nc\n", 0),
        ("s/a/b\nh\n1s/a/[&]/p\n2s//[&]/\nh\n", "6\n?\nNo match\n[a]\n?\nNo match\n?\n", 2),
        ("2ka\n'ap\n1y\nx\n,p\n2,3m0\n,n\nQ\n", "6\nb\na\nb\na\nc\n1\tb\n2\ta\n3\ta\n4\tc\n", 0),
        ("u\nd\nu\nu\n,p\nu\n,p\nQ\n", "6\n?\na\nb\na\nb\nc\n", 1),
        ("$a\n\\ \t é $ x\n.\nl\nQ\n", "6\n\\\\ \\t \\303\\251 \\$ x$\n", 0),
        ("1s/a/x\\\ny/\n2s/y/%/\nh\n1,3s/./%/\n,n\nQ\n", "6\n1\tx\n2\ty\n3\tx\n4\ty\n5\tx\n6\ty\n7\tb\n8\tc\n", 0),
        ("g/b/a\\\nnew\\\n.\\\np\nQ\n", "6\nnew\n", 0),
        (
            "/b/+p\n2;+1p\n,2p\n1,2,3p\n1;/c/n\n$;1p\nh\n",
            "6\nc\nb\nc\na\nb\nb\nc\n1\ta\n2\tb\n3\tc\n?\nInvalid address\n",
            1,
        ),
        ("=\n1z1\nz2\n,d\n=\nQ\n", "6\n3\na\nb\nc\n0\n", 0),
        ("P\np\nP\n", "6\n*c\n*", 0),
        ("d\nq\n", "6\n?\n", 1),
        ("d\n", "6\n?\n", 2),
        ("H\nzz\n", "6\n?\nInvalid address\n", 1),
        ("1,3d\ng/a/p\nv/a/p\nQ\n", "6\n?\n?\n", 1),
    ] {
        assert_eq!(edit("", commands).await, (output.to_owned(), status), "{commands}");
    }
}

#[tokio::test]
async fn ed_options_change_what_is_told() {
    assert_eq!(edit("-s", "1,2p\nd\n").await, ("a\nb\n?\n".to_owned(), 2));
    assert_eq!(edit("-v", "d\nq\n").await, ("6\n?\nWarning: buffer modified\n".to_owned(), 1));
    assert_eq!(edit("-l", "99p\n").await, ("6\n?\n".to_owned(), 0));
    assert_eq!(edit("-E", "s/(b|c)+/<\\1>/p\nQ\n").await, ("6\n<c>\n".to_owned(), 0));
    assert_eq!(edit("-p '> '", "1p\n").await, ("6\n> a\n> ".to_owned(), 0));
    assert_eq!(edit("-r", "!echo hi\nh\n").await, ("6\n?\nShell access restricted\n".to_owned(), 1));
}

#[tokio::test]
async fn ed_writes_and_reads_files() {
    for (script, output) in [
        ("printf 'a\\nb\\n' > f; printf '%s\\n' '1d' 'w' 'q' | ed -s f; cat f", "b\n"),
        ("printf 'a\\nb\\n' > f; ed -s f <<< $'1s/a/X/\\nw g\\nQ'; cat f g", "a\nb\nX\nb\n"),
        ("printf 'a\\nb' > f; printf '%s\\n' w q | ed f; wc -c < f", "Newline appended\n4\n4\n4\n"),
        ("ed new <<< $'a\\nx\\n.\\nwq' 2>&1; cat new", "new: No such file or directory\n2\nx\n"),
        (
            "printf 'a\\n' > f; printf '%s\\n' 'r none' h 'w /no/f' h | ed f 2>&1",
            "2\nnone: No such file or directory\n?\nCannot open input file\n/no/f: No such file or directory\n?\nCannot open output file\n",
        ),
        ("printf 'a\\nb\\n' > f; printf '%s\\n' '1w g' '2W g' '$r g' ',p' Q | ed -s f", "a\nb\na\nb\n"),
    ] {
        let result = run(&format!("mkdir /e; cd /e; {script}")).await;
        assert_eq!(&*result.stdout, output, "{script}");
    }
}

#[tokio::test]
async fn ed_runs_commands_of_the_shell() {
    let (output, status) = edit("", "!echo a %\n!!\nr !echo hi; echo ho\n,p\n1,2w !tr a-z A-Z\nQ\n").await;
    assert_eq!(output, "6\necho a f\na f\n!\necho a f\na f\n!\n6\na\nb\nc\nhi\nho\nA\nB\n4\n");
    assert_eq!(status, 0);
}

#[tokio::test]
async fn mistake_ends_a_script_that_is_a_file() {
    crate::commands::shell_tests::check_with_files(&[
        (r#"printf '1d\nzz\nw\n' > s; printf '1\n2\n' > f; ed -s f < s; echo $?; cat f"#, "?\n1\n1\n2\n", 0),
        (r#"printf 'H\n1d\nzz\nw\n' > s; printf '1\n2\n' > f; ed -s f < s; echo $?; cat f; ed -s -l f < s; echo $?"#, "?\nscript, line 3: Invalid address\n1\n1\n2\n?\nscript, line 3: Invalid address\n0\n", 0),
        (r#"printf '1d\nzz\nw\n' > s; printf '1\n2\n' > f; cat s | ed -s f; echo $?; cat f; ed -s f <<< $'zz\n1p'; echo $?"#, "?\n1\n2\n?\n2\n1\n", 0),
        (r#"printf 'g/2/s/x/y/\\\nzz\nw\n' > s; printf '1\n2\n' > f; ed -v f < s 2>&1; echo $?"#, "4\n?\nscript, line 2: Invalid command suffix\n1\n", 0),
        (r#"printf '1s/\\(/x/\nw\n' > s; printf '1\n2\n' > f; ed -vs f < s 2>&1; echo $?"#, "?\nscript, line 1: Unmatched ( or \\(\n1\n", 0),
        (r#"printf '1s/[[:foo:]]/x/\nh\n1s/\\(a/x/\nh\n1s/a\\{1/x/\nh\n1s/[z-a]/x/\nh\n1s/\\(a\\)\\2/x/\nh\n' | ed -s left.txt"#, "?\nInvalid character class name\n?\nUnmatched ( or \\(\n?\nUnmatched \\{\n?\nInvalid range end\n?\nInvalid back reference\n", 1),
    ])
    .await;
}
