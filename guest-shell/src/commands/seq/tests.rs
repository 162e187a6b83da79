use crate::commands::testing::run;

#[tokio::test]
async fn seq_counts_in_steps() {
    for (call, output) in [
        ("seq 5", "1\n2\n3\n4\n5\n"),
        ("seq 1", "1\n"),
        ("seq 3 6", "3\n4\n5\n6\n"),
        ("seq 1 2 9", "1\n3\n5\n7\n9\n"),
        ("seq 5 -1 1", "5\n4\n3\n2\n1\n"),
        ("seq 5 1 3", ""),
        ("seq -3 0", "-3\n-2\n-1\n0\n"),
        ("seq 0x10 17", "16\n17\n"),
        ("seq 1000000 | head -n 1", "1\n"),
    ] {
        let result = run(call).await;
        assert_eq!((&*result.stdout, result.exit_code), (output, 0), "{call}");
    }
}

#[tokio::test]
async fn seq_formats_numbers() {
    for (call, output) in [
        ("seq 1 0.5 2", "1.0\n1.5\n2.0\n"),
        ("seq 1 2.50", "1\n2\n"),
        ("seq 1e-1 1e-1 0.2", "0.1\n0.2\n"),
        ("seq -w 1 -0.5 -1", "01.0\n00.5\n00.0\n-0.5\n-1.0\n"),
        ("seq -w 8 10", "08\n09\n10\n"),
        ("seq -w 1 100 | sed -n '1p;$p'", "001\n100\n"),
        ("seq -s , 3", "1,2,3\n"),
        ("seq -s, 3", "1,2,3\n"),
        ("seq -s -1 1 2", "1-12\n"),
        ("seq --sep=: 2", "1:2\n"),
        ("seq -f %03g 9 10", "009\n010\n"),
        ("seq -f %e 1", "1.000000e+00\n"),
    ] {
        let result = run(call).await;
        assert_eq!((&*result.stdout, result.exit_code), (output, 0), "{call}");
    }
}

#[tokio::test]
async fn seq_refuses_wrong_calls() {
    for (call, message) in [
        ("seq", "missing operand"),
        ("seq abc", "invalid floating point argument: 'abc'"),
        ("seq 1 0 5", "invalid Zero increment value: '0'"),
        ("seq 1 2 3 4", "extra operand '4'"),
        ("seq -s", "option requires an argument -- 's'"),
        ("seq -x 3", "invalid option -- 'x'"),
        ("seq --wide 3", "unrecognized option '--wide'"),
        ("seq -w -f %g 3", "format string may not be specified when printing equal width strings"),
    ] {
        let result = run(call).await;
        let expected = format!("seq: {message}\nTry 'seq --help' for more information.\n");
        assert_eq!((&*result.stderr, result.exit_code), (&*expected, 1), "{call}");
    }
}

#[tokio::test]
async fn seq_with_a_format_rounds_as_c_does() {
    for (call, output) in [
        ("seq -f '%.1f' 0.05 0.1 0.5", "0.1\n0.2\n0.2\n0.4\n0.5\n"),
        ("seq -f '%.2f%%' 1.005 1.005", "1.00%\n"),
        ("seq -f '%5.1e|' 1 2", "1.0e+00|\n2.0e+00|\n"),
        ("seq -f '%a' 1", "0x8p-3\n"),
        ("seq -f 'a\\n%g' 1", "a\\n1\n"),
    ] {
        let result = run(call).await;
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (output, "", 0), "{call}");
    }
}

#[tokio::test]
async fn seq_refuses_formats_without_one_directive_for_a_number() {
    for (format, message) in [
        ("abc", "format 'abc' has no % directive"),
        ("%d", "format '%d' has unknown %d directive"),
        ("%g%g", "format '%g%g' has too many % directives"),
        ("%5.", "format '%5.' ends in %"),
    ] {
        let result = run(&format!("seq -f '{format}' 2")).await;
        assert_eq!((&*result.stderr, result.exit_code), (&*format!("seq: {message}\n"), 1), "{format}");
    }
}
