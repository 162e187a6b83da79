use crate::commands::testing::run;

#[tokio::test]
async fn cmp_tells_of_differences() {
    for (call, output, messages, status) in [
        ("cmp f f", "", "", 0),
        ("cmp f g", "f g differ: byte 4, line 2\n", "", 1),
        ("cmp -b f g", "f g differ: byte 4, line 2 is 143 c 130 X\n", "", 1),
        ("cmp -l f g", "4 143 130\n6  12 351\n", "", 1),
        ("cmp -lb f g", "4 143 c    130 X\n6  12 ^J   351 M-i\n", "", 1),
        ("cmp -s f g", "", "", 1),
        ("cmp -n 3 f g", "", "", 0),
        ("cmp -i 4 f g", "f g differ: byte 2, line 1\n", "", 1),
        ("cmp -i4 -n1 f g", "", "", 0),
        ("cmp -i 1:0 -n 1 f g", "f g differ: byte 1, line 1\n", "", 1),
        ("cmp -n 1K f f 1 1", "", "", 0),
        ("cmp f f 1", "f f differ: byte 1, line 1\n", "", 1),
        ("cmp f - < g", "f - differ: byte 4, line 2\n", "", 1),
        ("cmp f < g", "f - differ: byte 4, line 2\n", "", 1),
        ("cmp f short", "", "cmp: EOF on short after byte 3, line 1\n", 1),
        ("cmp short2 f", "", "cmp: EOF on short2 after byte 2, in line 1\n", 1),
        ("cmp -l f short", "", "cmp: EOF on short after byte 3\n", 1),
        ("cmp f /dev/null", "", "cmp: EOF on /dev/null which is empty\n", 1),
    ] {
        let files = "printf 'ab\\ncd\\n' > f; printf 'ab\\nXd\\351' > g; printf 'ab\\n' > short; printf ab > short2; ";
        let result = run(&format!("{files}{call}")).await;
        let expected = (output.to_owned(), messages, status);
        assert_eq!((result.stdout.to_string(), &*result.stderr, result.exit_code), expected, "{call}");
    }
}

#[tokio::test]
async fn cmp_refuses_wrong_calls() {
    for (call, messages) in [
        ("cmp", "cmp: missing operand after 'cmp'\ncmp: Try 'cmp --help' for more information.\n"),
        ("cmp f gone", "cmp: gone: No such file or directory\n"),
        ("cmp -s f gone", ""),
        ("cmp -n x f f", "cmp: invalid --bytes value 'x'\ncmp: Try 'cmp --help' for more information.\n"),
        ("cmp -lz f f", "cmp: invalid option -- 'z'\ncmp: Try 'cmp --help' for more information.\n"),
        ("cmp --bad f f", "cmp: unrecognized option '--bad'\ncmp: Try 'cmp --help' for more information.\n"),
    ] {
        let result = run(&format!("echo > f; {call}")).await;
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), ("", messages, 2), "{call}");
    }
}
