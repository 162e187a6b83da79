//! Programs in the shell: `awk`, `tar`, `join` and others.

use super::{check, run};

#[tokio::test]
async fn printf_rounds_the_nearest_long_double_as_bash_does() {
    check(&[
        (
            "printf '%.1f %.2f %.2f %.1f %.3f %.1f\\n' 2.55 2.675 8.345 0.35 1.0005 .05",
            "2.5 2.67 8.35 0.3 1.001 0.1\n",
            0,
        ),
        (
            "printf '%g %e %.0f %.0f %.1f %.20g %a\\n' 0.1 2.5 0.5 1.5 -0.0 0.1 0.1",
            "0.1 2.500000e+00 0 2 -0.0 0.1 0xc.ccccccccccccccdp-7\n",
            0,
        ),
        ("printf '%5.1f|%-8.2e|%G\\n' 9.95 12345.675 1e100", "  9.9|1.23e+04|1E+100\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn awk_output_pipe_writes_behind_what_was_flushed_before() {
    check(&[
        ("printf '%s\\n' 3 1 2 | awk '{print | \"sort\"} END{print \"total\"}'", "1\n2\n3\ntotal\n", 0),
        (
            "printf '%s\\n' 3 1 | awk 'BEGIN{print \"header\"} {print | \"sort\"} END{print \"footer\"}'",
            "header\n1\n3\nfooter\n",
            0,
        ),
        ("awk 'BEGIN{print \"a\"|\"sort\"; print \"b\" | \"sort -u\"; print \"x\"}'", "b\na\nx\n", 0),
        ("awk 'BEGIN{print \"a\" | \"sort\"; print \"x\"; close(\"sort\"); print \"y\"}'", "x\na\ny\n", 0),
        ("awk 'BEGIN{print \"h\"; print \"a\" | \"sort\"; print \"x\"; system(\"\"); print \"y\"}'", "h\nx\na\ny\n", 0),
        (
            "awk 'BEGIN{print \"a\" | \"sort\"; print \"x\"; fflush(); print \"y\"; \"echo z\" | getline q; print q}'",
            "x\ny\na\nz\n",
            0,
        ),
    ])
    .await;
}

#[tokio::test]
async fn script_with_many_pipes_of_awk_keeps_all_output() {
    check(&[
        ("awk 'BEGIN{while(i++<3000)print i; system(\"echo x\"); print \"y\"}' | tail -2", "x\ny\n", 0),
        ("awk 'BEGIN{while(i++<3000){print i; print i | \"cat\"}}' | wc -l", "6000\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn awk_reads_its_program_from_standard_input() {
    check(&[
        ("printf 'a\\nb\\n' > f; echo '{print NR, $0}' | awk -f - f", "1 a\n2 b\n", 0),
        ("echo a > f; awk -f /dev/stdin f <<'AWK'\n{ print toupper($0) }\nAWK", "A\n", 0),
        ("echo 'END{print NR}' | awk -f -", "0\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn awk_refuses_options_that_would_change_results() {
    for option in ["-b", "-n", "--sandbox", "-M"] {
        let result = run(&format!("awk {option} 'BEGIN{{print 1}}'")).await;
        let message = format!("awk: option {option} is not supported\n");
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), ("", &*message, 2));
    }
}

#[tokio::test]
async fn awk_sorts_by_functions_and_by_all_orders_of_gawk() {
    let program = r#"function c(i,v,j,w){return w-v}
BEGIN{a[1]=1;a[2]=3;a[3]="x";asort(a,b,"c");print b[1],b[2],b[3]
PROCINFO["sorted_in"]="c"; for(k in a) printf "%s ", k; print ""
PROCINFO["sorted_in"]="@val_type_desc"; a[4]=10;a[5]=9; for(k in a) printf "%s ", k; print ""
n=asort(a,b,"@ind_num_desc"); for(i=1;i<=n;i++) printf "%s ", b[i]; print ""
n=asorti(a,b,"@val_num_desc"); for(i=1;i<=n;i++) printf "%s ", b[i]; print ""
}"#;
    let output = "3 1 x\n2 1 3 \n3 4 5 2 1 \n9 10 x 3 1 \n4 5 2 1 3 \n";
    check(&[(&format!("awk '{program}'"), output, 0)]).await;
    let result = run("awk 'BEGIN{a[1];asort(a,b,\"nix\")}'").await;
    let message = "awk: cmd. line:1: fatal: sort comparison function `nix' is not defined\n";
    assert_eq!((&*result.stderr, result.exit_code), (message, 2));
}

#[tokio::test]
async fn tar_spares_old_files_if_it_is_told_to() {
    let make = "echo a > f; mkdir d; ln -s f l; tar cf t.tar f d l; echo b > f; rm l; ln -s d l";
    let exists = "tar: f: Cannot open: File exists\ntar: l: Cannot create symlink to 'f': File exists\n\
                  tar: Exiting with failure status due to previous errors\n";
    for (options, status, kept, messages) in [
        ("-xkf t.tar", 2, "b\nd\n", exists),
        ("-x --keep-old-files -f t.tar", 2, "b\nd\n", exists),
        ("-x --skip-old-files -f t.tar", 0, "b\nd\n", ""),
        ("-xf t.tar", 0, "a\nf\n", ""),
    ] {
        let result = run(&format!("{make}; tar {options}; s=$?; cat f; readlink l; exit $s")).await;
        let found = (&*result.stdout, &*result.stderr, result.exit_code);
        assert_eq!(found, (kept, messages, status), "{options}");
    }
    check(&[
        (
            "touch -d 2020-01-01 f; tar cf t.tar f; echo b > f; tar -x --keep-newer-files -f t.tar 2>&1; cat f",
            "tar: Current 'f' is newer or same age\nb\n",
            0,
        ),
        ("touch -d 2020-01-01 f; tar cf t.tar f; rm f; tar xmf t.tar; find f -newermt 2021-01-01", "f\n", 0),
        (
            "umask 077; touch f; chmod 666 f; tar cf t.tar f; tar xf t.tar; stat -c %a f; tar xpf t.tar; stat -c %a f",
            "600\n666\n",
            0,
        ),
        ("printf '\\377\\0' > f; tar cf t.tar f; tar xOf t.tar | od -An -tx1", " ff 00\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn time_that_is_twice_is_the_one_of_mktime() {
    check(&[
        ("TZ=Europe/Berlin date -d '2024-10-27 02:30' +%z", "+0100\n", 0),
        ("TZ=Europe/London date -d '2024-10-27 01:30' +%z", "+0000\n", 0),
        ("TZ=Australia/Sydney date -d '2024-04-07 02:30' +%z", "+1000\n", 0),
        ("TZ=America/New_York date -d '2024-11-03 01:30' +%z", "-0400\n", 0),
        ("TZ=:Europe/Berlin date -d @0 +%H", "01\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn fmt_and_od_do_what_their_options_say() {
    check(&[("fmt -u <<< 'a   b.  c'", "a b.  c\n", 0), ("od -S 3 /dev/null", "", 0)]).await;
}

#[tokio::test]
async fn join_tells_of_input_that_is_not_in_order() {
    let files = "printf 'b 1\\na 2\\n' > a; printf 'a 1\\nb 2\\n' > b";
    let messages = "join: a:2: is not sorted: a 2\njoin: input is not in sorted order\n";
    for (call, output, messages, status) in [
        ("join a b", "b 1 2\n", messages, 1),
        ("join --check-order a b", "", "join: a:2: is not sorted: a 2\n", 1),
        ("join --nocheck-order a b", "b 1 2\n", "", 0),
        ("join a a", "b 1 1\na 2 2\n", "", 0),
        ("join -1 x a b", "", "join: invalid field number: 'x'\n", 1),
    ] {
        let result = run(&format!("{files}; {call}")).await;
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (output, messages, status), "{call}");
    }
}

#[tokio::test]
async fn factor_reads_numbers_from_a_pipe() {
    check(&[("seq 3 | factor", "1:\n2: 2\n3: 3\n", 0), ("factor <<< '12 7'", "12: 2 2 3\n7: 7\n", 0)]).await;
}

#[tokio::test]
async fn first_line_of_a_version_is_the_one_that_scripts_look_for() {
    for (command, first) in [
        ("sed", "sed (GNU sed) 4.9"),
        ("grep", "grep (GNU grep) 3.8"),
        ("find", "find (GNU findutils) 4.9.0"),
        ("date", "date (GNU coreutils) 9.1"),
        ("sort", "sort (GNU coreutils) 9.1"),
        ("ls", "ls (GNU coreutils) 9.1"),
        ("cut", "cut (GNU coreutils) 9.1"),
        ("env", "env (GNU coreutils) 9.1"),
    ] {
        let result = run(&format!("{command} --version | head -n 1")).await;
        assert_eq!(result.stdout, format!("{first}\n"), "{command}");
    }
}

#[tokio::test]
async fn option_of_a_patched_command_is_that_of_gnu() {
    check(&[
        ("echo --version; echo -n --help; printf --version 2>/dev/null; echo \" $?\"", "--version\n--help 2\n", 0),
        ("A=1 env -S 'B=\"x y\" sh -c \"echo ${A} \\$B\"'; env -S 'a \"b'; echo $?", "1 x y\n125\n", 0),
        ("join -z <(printf 'a 1\\0b 2\\0') <(printf 'a x\\0') | tr '\\0' '|'", "a 1 x|", 0),
        ("printf 'a 1\\r\\n' > f; join f f | od -An -c", "   a       1  \\r       1  \\r  \\n\n", 0),
        ("stat -c %a \"$(mktemp)\" \"$(mktemp -d)\"", "600\n700\n", 0),
    ])
    .await;
}
