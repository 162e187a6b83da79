//! Filters on inputs, by what jq 1.8.2 prints.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::modules::Files;
use super::run::{Done, Job, run};
use super::{Ended, needs_stdin, options, prepare, read_inputs};

/// Files by name.
struct Named(HashMap<&'static str, &'static str>);

impl Files for Named {
    fn read<'a>(&'a self, path: &'a str) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send + 'a>> {
        let contents = self.0.get(path).map(|text| text.as_bytes().to_vec());
        Box::pin(std::future::ready(contents.ok_or_else(|| "No such file or directory".to_owned())))
    }
}

const FILES: [(&str, &str); 6] = [
    ("one.json", "{\"a\":1}\n"),
    ("lines", "x\ny"),
    ("broken", "1 [2"),
    ("./m.jq", "import \"n\" as n; def f: n::g + 1;"),
    ("./n.jq", "def g: 41;"),
    ("./data.json", "1 2"),
];

/// Runs a future that waits for nothing.
fn finished<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
}

/// Runs `jq` with these words.
fn jq(words: &[&str], stdin: &str) -> Done {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let ended = |Ended { output, error, status }| Done { output: output.into_bytes(), error, status, stopped: None };
    let options = match options::parse(&words) {
        Ok(options) => options,
        Err(end) => return ended(end),
    };
    let files = Named(FILES.into_iter().collect());
    let prepared = match finished(prepare(&options, &files)) {
        Ok(prepared) => prepared,
        Err(end) => return ended(end),
    };
    let stdin = if needs_stdin(&options, &prepared.source) { stdin.as_bytes() } else { &[] };
    let (inputs, complaints) = finished(read_inputs(&options, &files, stdin));
    run(Job {
        options: &options,
        source: &prepared.source,
        inputs,
        files: prepared.files,
        environment: vec![("HOME".to_owned(), "/home".to_owned())],
        complaints,
        now: 0,
        check: &mut || Ok(()),
    })
}

/// Checks filters on an input of null: the filter, and the lines printed.
fn check(cases: &[(&str, &str)]) {
    for (filter, expected) in cases {
        let done = jq(&["-c", filter], "null");
        let lines = String::from_utf8_lossy(&done.output).trim_end().replace('\n', " ");
        assert_eq!(&lines, expected, "{filter}: {}", done.error);
    }
}

#[test]
fn every_builtin_of_the_library_compiles() {
    let done = jq(&["-n", "builtins | length > 200"], "");
    assert_eq!(done.output, b"true\n", "{}", done.error);
}

#[test]
fn results_of_several_operands_come_in_order() {
    check(&[
        ("[(1,2) + (10,20)]", "[11,12,21,22]"),
        ("[range(0,1; 3,4)]", "[0,1,2,0,1,2,3,1,2,1,2,3]"),
        ("{a: (1,2), b: (3,4)}", "{\"a\":1,\"b\":3} {\"a\":1,\"b\":4} {\"a\":2,\"b\":3} {\"a\":2,\"b\":4}"),
        ("\"\\(1,2) \\(3,4)\"", "\"1 3\" \"2 3\" \"1 4\" \"2 4\""),
        ("[pow(2,3; 1,2)]", "[2,3,4,9]"),
    ]);
}

#[test]
fn error_is_caught_by_the_try_around_it_only() {
    check(&[
        ("try error(\"x\") catch .", "\"x\""),
        ("try ((1, error(\"x\")), 2) catch .", "1 \"x\""),
        ("[.[]?]", "[]"),
        ("try (1 | .a.b?) catch \"outer\"", "\"outer\""),
        ("[1 | (.a.b)?, .a?, .[0]?.b]", "[]"),
        ("try ({} | .[error(\"index\")]?) catch .", "\"index\""),
        ("{a: [1,2,3]} | .a[(0, 1):2]?", "[1,2] [2]"),
        ("try (try error(\"x\") catch error(\"y\")) catch .", "\"y\""),
        ("try ((try 1 catch 2) | error(\"out\")) catch .", "\"out\""),
        ("[[3],[4]] | .[] as {a: $a} ?// {a: $a} ?// $a | $a", "[3] [4]"),
        ("[label $f | 1, break $f, 2]", "[1]"),
    ]);
}

#[test]
fn fold_keeps_the_last_result_of_each_step() {
    check(&[
        ("reduce (1,2,3) as $x (0; . + $x, . * $x)", "0"),
        ("reduce (1,2) as $x (0; empty)", "null"),
        ("[foreach (1,2,3) as $x (0; . + $x, . * $x; [$x, .])]", "[[1,1],[1,0],[2,2],[2,0],[3,3],[3,0]]"),
    ]);
}

#[test]
fn assignment_follows_paths() {
    check(&[
        ("[1,2,3,4,5] | (.[] | select(. > 2)) |= empty", "[1,2]"),
        ("[1,2,3] | delpaths([[0], [-3], [{\"start\":0,\"end\":2}]])", "[3]"),
        ("{a: [1,2], b: 3} | delpaths([[\"a\", 0, \"x\"], [\"a\"]])", "{\"b\":3}"),
        ("[1] | delpaths([[0, \"a\"], []])", "null"),
        ("[1,2,3] | del(.[nan], .[nan, 0])", "[2,3]"),
        ("{a: [1,2]} | .a[1:] = [9,8]", "{\"a\":[1,9,8]}"),
        ("[1,2,3] | (.[0], .[1]) |= . + 1", "[2,3,3]"),
        ("{a: 1} | .a += (5,6)", "{\"a\":6} {\"a\":7}"),
        ("[path(first(.a, .b), (.a | select(. == null)))]", "[[\"a\"],[\"a\"]]"),
        ("getpath([\"a\",\"b\"]) |= 3", "{\"a\":{\"b\":3}}"),
        (
            "try ([{b: 0}] | path(map(.b) | .[0])) catch .",
            "\"Invalid path expression near attempt to access element 0 of [0]\"",
        ),
        ("[1,2,3] | del(.[1:], .[0])", "[]"),
    ]);
}

#[test]
fn recursion_and_generators_need_no_stack() {
    check(&[
        ("def f: if . >= 100000 then . else . + 1 | f end; 0 | f", "100000"),
        ("[recurse(if . < 20000 then . + 1 else empty end)?] | length", "20001"),
        ("def d: if . == 0 then 0 else (. - 1 | d) + 1 end; 50000 | d", "50000"),
        ("reduce range(20000) as $_ ([]; [.]) | flatten", "[]"),
        ("[limit(3; repeat(1))]", "[1,1,1]"),
    ]);
}

#[test]
fn numbers_keep_their_literal_until_computed_with() {
    check(&[
        ("100000000000000000001, 1.10, 1e1000", "100000000000000000001 1.10 1E+1000"),
        ("100000000000000000001 + 0, 1.10 + 0", "1e+20 1.1"),
        ("-(1.10)", "-1.10"),
        ("[nan] | sort, (nan < nan)", "[null] true"),
    ]);
}

#[test]
fn regular_expressions_give_matches_in_characters() {
    check(&[
        ("\"aé日x\" | [match(\"x\").offset]", "[3]"),
        ("\"abc\" | gsub(\"\"; \"-\"), gsub(\"b*\"; \"x\")", "\"-a-b-c-\" \"xaxxcx\""),
        ("\"aXbX\" | [sub(\"X\"; \"1\", \"2\")]", "[\"a1bX\",\"a2bX\"]"),
        ("\"xyz\" | capture(\"(?<a>x)(?<b>q)?\")", "{\"a\":\"x\",\"b\":null}"),
        ("\"ab\" | [splits(\"\")]", "[\"\",\"a\",\"b\",\"\"]"),
    ]);
}

#[test]
fn status_tells_how_the_run_ended() {
    let status = |words: &[&str], stdin: &str| jq(words, stdin).status;
    assert_eq!(status(&["-e", "."], "null"), 1);
    assert_eq!(status(&["-e", "empty"], "1"), 4);
    assert_eq!(status(&["error"], "1"), 5);
    assert_eq!(status(&["{"], "1"), 3);
    assert_eq!(status(&[".", "absent", "one.json"], ""), 2);
    assert_eq!(status(&["-n", "\"x\" | halt_error(7)"], ""), 7);
    let broken = jq(&["-c", ".", "broken"], "");
    assert_eq!((broken.output.as_slice(), broken.status), (&b"1\n"[..], 5));
}

#[test]
fn files_are_read_as_one_text() {
    let output = |words: &[&str]| String::from_utf8_lossy(&jq(words, "").output).into_owned();
    assert_eq!(output(&["-R", ".", "lines", "one.json"]), "\"x\"\n\"y{\\\"a\\\":1}\"\n");
    assert_eq!(output(&["-c", "[., input_filename]", "one.json"]), "[{\"a\":1},\"one.json\"]\n");
    assert_eq!(
        output(&["-nc", "--slurpfile", "a", "one.json", "--rawfile", "b", "lines", "[$a, $b]"]),
        "[[{\"a\":1}],\"x\\ny\"]\n"
    );
}

#[test]
fn null_input_reads_standard_input_only_for_a_filter_that_asks() {
    let output = |filter: &str| String::from_utf8_lossy(&jq(&["-nc", filter], "1 2").output).into_owned();
    assert_eq!(output("[inputs]"), "[1,2]\n");
    assert_eq!(output("\"\\(input)\""), "\"1\"\n");
    assert_eq!(output("[., 1]"), "[null,1]\n");
}

#[test]
fn module_is_found_in_the_directories_given() {
    let done = jq(&["-ncL", ".", "import \"m\" as m; import \"data\" as $d; [m::f, $d]"], "");
    assert_eq!(String::from_utf8_lossy(&done.output), "[42,[1,2]]\n", "{}", done.error);
    assert_eq!(jq(&["-n", "import \"absent\" as m; 1"], "").status, 3);
}
