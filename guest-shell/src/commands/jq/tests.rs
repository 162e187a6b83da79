//! Filters on inputs, compared with the output of jq 1.8.2.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::modules::Files;
use super::modules::Search;
use super::run::{Done, Job, run};
use super::{Ended, needs_stdin, options, prepare, read_inputs, run_with_metadata};

/// Files by their names.
struct Named(HashMap<&'static str, &'static str>);

impl Files for Named {
    fn read<'a>(&'a self, path: &'a str) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send + 'a>> {
        let contents = self.0.get(path).map(|text| text.as_bytes().to_vec());
        Box::pin(std::future::ready(contents.ok_or_else(|| "No such file or directory".to_owned())))
    }
}

const FILES: [(&str, &str); 13] = [
    (
        "./described.jq",
        "module {title: \"about\", tags: [1, true, null, {\"b\": 0.5}]}; import \"n\" as n; import \"data\" as $d {search: \"./\"}; \
         include \"m\"; def a: 1; def b(f; $x): 2;",
    ),
    ("one.json", "{\"a\":1}\n"),
    ("lines", "x\ny"),
    ("broken", "1 [2"),
    ("./m.jq", "import \"n\" as n; def f: n::g + 1;"),
    ("./n.jq", "def g: 41;"),
    ("./data.json", "1 2"),
    ("./round.jq", "import \"about\" as a; def f: 1;"),
    ("./about.jq", "import \"round\" as r; def f: 1;"),
    ("./pack/jq/main.jq", "def p: 8;"),
    ("pack/in.jq", "def q: 9;"),
    ("/home/.jq", "def from_home: \"home\";"),
    ("/home/lib/h.jq", "def from_lib: 7; def h: from_lib;"),
];

/// Runs a future that never waits.
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
    jq_in_zone("UTC", words, stdin)
}

/// Runs `jq` with these words where `TZ` is `zone`.
fn jq_in_zone(zone: &str, words: &[&str], stdin: &str) -> Done {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let ended =
        |Ended { output, error, status }| Done { output: output.into_bytes(), error, status, ..Done::default() };
    let options = match options::parse(&words) {
        Ok(options) => options,
        Err(end) => return ended(end),
    };
    let files = Named(FILES.into_iter().collect());
    let prepared = match finished(prepare(&options, &files, Some("/home"))) {
        Ok(prepared) => prepared,
        Err(end) => return ended(end),
    };
    let stdin = if needs_stdin(&options, &prepared.source) { stdin.as_bytes() } else { &[] };
    let (inputs, complaints) = finished(read_inputs(&options, &files, stdin));
    let search = Search { files: &files, directories: &options.directories, home: Some("/home") };
    finished(run_with_metadata(&search, |modules| {
        run(Job {
            options: &options,
            source: &prepared.source,
            inputs: inputs.clone(),
            files: prepared.files.clone(),
            environment: vec![("HOME".to_owned(), "/home".to_owned()), ("TZ".to_owned(), zone.to_owned())],
            complaints: complaints.clone(),
            now: 0,
            modules,
            check: &mut || Ok(()),
        })
    }))
}

/// Checks filters on a null input. Each case is a filter and the lines that it prints.
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
        ("[limit(3; range(nan))], [limit(3; range(0; nan; 1))]", "[0,1,2] []"),
        ("[limit(2; range(nan; 5; 1))], [limit(2; range(5; nan; -1))]", "[null,null] [5,4]"),
        ("\"foo bar\" | match(\"foo|foo bar\"; \"l\").string", "\"foo\""),
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

#[test]
fn module_without_directories_given_is_found_in_the_working_directory() {
    for (program, output) in [
        ("import \"m\" as m; m::f", "42"),
        ("import \"data\" as $d; $d", "[1,2]"),
        ("import \"pack\" as p; p::p", "8"),
        ("import \"in\" as i {search: \"pack\"}; i::q", "9"),
        ("include \"n\" {search: \".\"}; g", "41"),
    ] {
        let done = jq(&["-nc", program], "");
        assert_eq!(String::from_utf8_lossy(&done.output), format!("{output}\n"), "{program}: {}", done.error);
    }
    assert_eq!(jq(&["-nL", ".", "import \"m\" as m {search: \"pack\"}; 1"], "").status, 3);
}

#[test]
fn import_in_a_circle_is_refused() {
    let done = jq(&["-nL", ".", "import \"round\" as r; 1"], "");
    assert_eq!((done.status, done.error.lines().next()), (3, Some("jq: error: circular import of ./round.jq")));
}

#[test]
fn definitions_and_modules_of_the_home_directory_are_known() {
    check(&[("from_home", "\"home\""), ("def from_home: 1; from_home", "1")]);
    let done = jq(&["-nL", "~/lib", "include \"h\"; h"], "");
    assert_eq!(done.output, b"7\n", "{}", done.error);
    check(&[("get_search_list[0]", "\"~/.jq\"")]);
}

#[test]
fn metadata_that_is_no_constant_object_is_a_compile_error() {
    let cases = [
        (
            "module []; 0",
            "Module metadata must be an object at <top-level>, line 1, column 8:\n    module []; 0\n           ^^",
        ),
        (
            "import \"m\" as m (.+1); 0",
            "Module metadata must be constant at <top-level>, line 1, column 17:\n    import \"m\" as m (.+1); 0\n                    ^^^^^",
        ),
    ];
    for (filter, message) in cases {
        let done = jq(&["-nL", ".", filter], "");
        assert_eq!((done.status, done.error), (3, format!("jq: error: {message}\njq: 1 compile error\n")));
    }
    assert_eq!(jq(&["-n", "module {a: [1, {\"b\": null}]}; 0"], "").status, 0);
}

#[test]
fn syntax_error_is_marked_in_its_line() {
    let message = |filter: &str| jq(&["-n", filter], "").error;
    assert!(message("1 |\n  2 )").contains("line 2, column 5:\n      2 )\n        ^\n"), "{}", message("1 |\n  2 )"));
    assert!(message("if\n").contains("line 1, column 3:\n    if\n      ^\n"));
}

#[test]
fn names_that_are_not_defined_are_all_reported_with_their_places() {
    let message = |filter: &str| jq(&["-n", filter], "").error;
    let expected = "jq: error: foo/1 is not defined at <top-level>, line 1, column 1:\n    foo(1),\n    ^^^\n\
                    jq: error: $x is not defined at <top-level>, line 2, column 5:\n     \"\\($x)\" | break $y\n        ^^\n\
                    jq: error: $*label-y is not defined at <top-level>, line 2, column 12:\n     \"\\($x)\" | break $y\n               ^^^^^^^^\n\
                    jq: 3 compile errors\n";
    assert_eq!(message("foo(1),\n \"\\($x)\" | break $y"), expected);
    let expected = "jq: error: Cannot use number (1) as object key at <top-level>, line 1, column 3:\n    {(1): 2}\n      ^\n\
                    jq: 1 compile error\n";
    assert_eq!(message("{(1): 2}"), expected);
    let expected = "jq: error: Invalid escape at line 1, column 4 (while parsing '\"\\q\"') at <top-level>, line 1, column 3:\n\
                    \u{20}   \"x\\qy\"\n      ^^\njq: 1 compile error\n";
    assert_eq!(message("\"x\\qy\""), expected);
}

#[test]
fn function_that_is_never_called_may_use_names_that_are_not_defined() {
    check(&[
        ("def f: nothing; 1", "1"),
        ("def f: def g: nothing; 1; f", "1"),
        ("def f: def g: nothing; g; def h: f; 2", "2"),
        ("3 as $x | def f: $y; $x", "3"),
    ]);
    for filter in
        ["def f: nothing; f", "def f: def g: nothing; g; f", "def f: nothing; def g: f; g", "def f(g): g; f(nothing)"]
    {
        assert_eq!(jq(&["-n", filter], "").status, 3, "{filter}");
    }
}

#[test]
fn modulemeta_tells_what_a_module_says_imports_and_defines() {
    let about = |filter: &str| {
        let done = jq(&["-nc", filter], "");
        (String::from_utf8_lossy(&done.output).into_owned(), done.error, done.status)
    };
    let told = concat!(
        r#"{"title":"about","tags":[1,true,null,{"b":0.5}],"deps":[{"as":"n","is_data":false,"relpath":"n"},"#,
        r#"{"search":"./","as":"d","is_data":true,"relpath":"data"},{"is_data":false,"relpath":"m"}],"defs":["a/0","b/2"]}"#,
        "\n",
    );
    assert_eq!(about("\"described\" | modulemeta"), (told.to_owned(), String::new(), 0));
    assert_eq!(about("[\"m\", \"n\"] | map(modulemeta | .defs)").0, "[[\"f/0\"],[\"g/0\"]]\n");
    assert_eq!(about("\"absent\" | try modulemeta catch .").0, "\"module not found: absent\"\n");
    let message = "jq: error (at <unknown>): modulemeta input module name must be a string\n";
    assert_eq!(about("1 | modulemeta"), (String::new(), message.to_owned(), 5));
    let done = jq(&["-n", "range(40) | tostring | modulemeta?"], "");
    assert_eq!((done.error.as_str(), done.status), ("jq: error: modulemeta of more than 32 modules\n", 5));
}

#[test]
fn local_time_is_that_of_the_zone() {
    for (zone, filter, expected) in [
        ("Asia/Tokyo", "0 | localtime", "[1970,0,1,9,0,0,4,0]"),
        ("Asia/Tokyo", "0 | gmtime, (localtime | mktime)", "[1970,0,1,0,0,0,4,0] 32400"),
        (
            "Europe/Berlin",
            "1720000000 | strflocaltime(\"%F %T %Z %z %s\")",
            "\"2024-07-03 11:46:40 CEST +0200 1720000000\"",
        ),
        (
            "America/New_York",
            "1425599621 | strflocaltime(\"%H %Z %z\"), strftime(\"%H %Z %z\")",
            "\"18 EST -0500\" \"23 GMT +0000\"",
        ),
        ("America/St_Johns", "[2024,6,1,12] | strflocaltime(\"%H:%M %z\")", "\"12:00 -0230\""),
        // 2:30 is skipped on this day.
        ("Europe/Berlin", "[2024,2,31,2,30,0] | strflocaltime(\"%T %Z\")", "\"03:30:00 CEST\""),
        ("JST-9", "\"0\" | strptime(\"%s\") | .[3]", "9"),
        ("", "0 | strflocaltime(\"%H %Z %z\")", "\"00 UTC +0000\""),
    ] {
        let done = jq_in_zone(zone, &["-nc", filter], "");
        let lines = String::from_utf8_lossy(&done.output).trim_end().replace('\n', " ");
        assert_eq!(lines, expected, "{zone}: {filter}: {}", done.error);
    }
}

#[test]
fn strptime_derives_only_what_glibc_derives() {
    check(&[
        ("\"2015\" | strptime(\"%Y\")", "[2015,0,0,0,0,0,3,-1]"),
        ("\"5\" | strptime(\"%d\")", "[1900,0,5,0,0,0,5,4]"),
        ("\"64\" | strptime(\"%j\")", "[1900,0,0,0,0,0,8,63]"),
        ("\"2015 64\" | strptime(\"%Y %j\")", "[2015,2,5,0,0,0,4,63]"),
        ("\"2015 10 1\" | strptime(\"%Y %U %u\")", "[2015,2,9,0,0,0,1,67]"),
        ("\"Mon 2015-03-05\" | strptime(\"%a %F\")", "[2015,2,5,0,0,0,1,63]"),
        ("\"20 15\" | strptime(\"%C %y\")", "[2015,0,0,0,0,0,3,-1]"),
        ("\"5 PM\" | strptime(\"%I %p\"), strptime(\"%H %p\")", "[1900,0,0,17,0,0,8,367] [1900,0,0,5,0,0,8,367]"),
    ]);
}

#[test]
fn key_that_is_no_string_is_a_compile_error() {
    for filter in ["{(1): 2}", ". as {(true): $x} | $x", ". as {a: {(null): $x}} | 1"] {
        assert_eq!(jq(&["-n", filter], "").status, 3, "{filter}");
    }
}

#[test]
fn sequence_skips_what_is_cut_off() {
    let text = "1\x1e2 3\n[0,1\x1e[4,5]true\"ab\"{\"c\":4\x1e{}{\"d\":5,\"e\":6\"false\n\x1enull";
    let done = jq(&["-c", "--seq", "-s", "."], text);
    assert_eq!(String::from_utf8_lossy(&done.output), "\x1e[2,3,[4,5],true,\"ab\",{},null]\n");
    let places = ["line 2, column 5", "line 2, column 25", "line 3, column 1"];
    let expected: String =
        places.iter().map(|place| format!("jq: ignoring parse error: Truncated value at {place}\n")).collect();
    assert_eq!((done.error, done.status), (expected, 0));
}

#[test]
fn sequence_without_a_separator_has_no_values() {
    let done = jq(&["-c", "--seq", "."], "1\n");
    assert_eq!(
        (done.output.as_slice(), done.error.as_str(), done.status),
        (&b""[..], "jq: ignoring parse error: Unfinished abandoned text at EOF at line 2, column 0\n", 0)
    );
    assert_eq!(jq(&["-cn", "--seq", "[inputs]"], "1\n").status, 5);
    assert_eq!(jq(&["-c", "--seq", "."], "\x1e1").output, b"");
    assert_eq!(jq(&["-c", "--seq", "."], "\x1e1\n").output, b"\x1e1\n");
}

#[test]
fn parse_error_that_the_filter_caught_is_not_told_again() {
    let done = jq(&["-nc", "[(try input catch .), (try input catch .)]"], "1 [2");
    let expected = "[1,\"Unfinished JSON term at EOF at line 1, column 4\"]\n";
    assert_eq!((String::from_utf8_lossy(&done.output).as_ref(), done.error.as_str(), done.status), (expected, "", 0));
}

#[test]
fn inputs_go_on_in_the_line_behind_an_error() {
    let done = jq(&["-nc", "[range(5) | try input catch \"bad\"]"], "1 x 2\n[3\n4, y\n5\n");
    assert_eq!(String::from_utf8_lossy(&done.output), "[1,\"bad\",\"bad\",5,\"bad\"]\n");
    let done = jq(&["-c", "--stream-errors", "."], "[1 x 2\n3\n");
    assert_eq!(
        String::from_utf8_lossy(&done.output),
        "[\"Invalid numeric literal at line 1, column 5\",[0]]\n[[],3]\n"
    );
}

#[test]
fn values_nested_too_deeply_are_refused() {
    let arrays = |depth: usize| format!("(reduce range({depth}) as $_ ([]; [.]))");
    let objects = |depth: usize| format!("(reduce range({depth}) as $_ ({{}}; {{a: .}}))");
    let outcome = |filter: &str| {
        let done = jq(&["-n", &format!("try ({filter} | type) catch .")], "");
        String::from_utf8_lossy(&done.output).trim_end().to_owned()
    };
    let cases = [
        (format!("{0} == {0}", arrays(10_000)), "boolean"),
        (format!("{0} == {0}", arrays(10_001)), "Equality check too deep"),
        (format!("{} as $x | $x == $x", arrays(10_001)), "boolean"),
        (format!("{0} < {0}", arrays(10_001)), "Comparison too deep"),
        (format!("{0} < {0}", objects(9_999)), "boolean"),
        (format!("{0} < {0}", objects(10_000)), "Comparison too deep"),
        (format!("[{0}, {0}] | unique", objects(10_001)), "Comparison too deep"),
        (format!("{} as $x | $x | contains($x)", arrays(10_001)), "Containment check too deep"),
        (format!("{} as $x | $x * $x", objects(10_001)), "Object merge too deep"),
        ("setpath([range(10000) | 0]; 0)".to_owned(), "array"),
        ("setpath([range(10001) | 0]; 0)".to_owned(), "Path too deep"),
        ("getpath([range(10001) | 0])".to_owned(), "Path too deep"),
        ("delpaths([[range(10001) | 0]])".to_owned(), "Path too deep"),
    ];
    // Ten thousand frames of an unoptimized build need this much.
    std::thread::scope(|scope| {
        let check = || {
            for (filter, expected) in &cases {
                assert_eq!(outcome(filter), format!("\"{expected}\""), "{filter}");
            }
        };
        let thread = std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, check);
        thread.expect("a thread starts").join().expect("the cases hold");
    });
}

#[test]
fn sort_of_values_without_an_order_does_not_fail() {
    check(&[
        ("[range(300) | ., nan, [nan]] | sort | length", "900"),
        ("[range(50) | 13911860366432393, (13911860366432392 + 0), 13911860366432392] | sort | length", "150"),
    ]);
}

#[test]
fn numbers_written_are_compared_exactly() {
    check(&[
        ("[13911860366432393, 13911860366432392] | .[0] == .[1], .[0] > .[1], (.[0] == .[1] + 0)", "false true true"),
        ("[0.1, 0.1000000000000000055] | .[0] == .[1]", "false"),
        ("[1e1000, 1e1001, 1e1000] | unique", "[1E+1000,1E+1001]"),
    ]);
}

#[test]
fn access_with_a_question_mark_does_not_hide_that_a_query_is_no_path() {
    let error = |filter: &str| jq(&["-c", filter], "{\"x\":1}").error;
    assert_eq!(
        error("(map(.) | .[0]?) |= 1"),
        "jq: error (at <stdin>:0): Invalid path expression near attempt to access element 0 of [1]\n"
    );
    assert_eq!(error("(.x | .a?, .[]?) |= 1"), "");
    assert_eq!(error("path((map(.) | .[0])?)"), "");
}

#[test]
fn dates_are_formatted_as_by_the_c_library() {
    check(&[
        (
            "1425599621 | strftime(\"%3d|%_5d|%-d|%010Y|%^a|%#p|%10B|%5e\")",
            "\"005|    5|5|0000002015|THU|pm|     March|    5\"",
        ),
        ("1425599621 | strftime(\"%E %Ea|%OY|%Ey|%O\")", "\"%E %Ea|%OY|15|%O\""),
        ("try (-1 | gmtime | mktime) catch .", "\"invalid gmtime representation\""),
    ]);
}

#[test]
fn update_is_no_path_even_if_it_changes_nothing() {
    let message = "Invalid path expression near attempt to access element 0 of [1,[]]";
    check(&[("try (1 | path(.a? |= 2)) catch .", &format!("\"{message}\"")), ("[1] | .[[]]", "[]")]);
    assert_eq!(jq(&["-n", "\"\" | halt_error(infinite)"], "").status, 0);
}

#[test]
fn text_functions_know_unicode_white_space_and_kinds() {
    check(&[
        ("\"\\u3000\\u0085\\u00a0 a\\u2028\\u200b\" | [ltrim, rtrim, trim | length]", "[3,7,3]"),
        ("\"abab\" | _strindices(\"b\", \"\")", "[1,3] []"),
        ("try _strindices(\"a\") catch .", "\"null (null) cannot be searched, as it is not a string\""),
        ("\"b\" | [match(\"(a?)b\").captures[0] | keys_unsorted[]]", "[\"offset\",\"string\",\"length\",\"name\"]"),
    ]);
    assert_eq!(jq(&["-b", "."], "1").output, b"1\n");
}

#[test]
fn function_with_too_many_parameters_is_refused() {
    let names = |count: usize| (0..count).map(|at| format!("a{at}")).collect::<Vec<_>>().join(";");
    let filter = |count: usize| format!("def f({}): .; 1", names(count));
    assert_eq!(jq(&["-n", &filter(4_095)], "").status, 0);
    let done = jq(&["-n", &filter(4_096)], "");
    let message =
        "jq: error: too many function parameters or local function definitions (max 4095)\njq: 1 compile error\n";
    assert_eq!((done.status, done.error.as_str()), (3, message));
}

#[test]
fn object_may_end_in_a_comma() {
    check(&[("{a: 1,}", "{\"a\":1}"), ("{a: 1, \"b\": 2,}", "{\"a\":1,\"b\":2}"), ("{(\"c\"): 3,}", "{\"c\":3}")]);
    for wrong in ["{,}", "{a: 1,,}", "[1,]"] {
        assert_eq!(jq(&["-c", wrong], "null").status, 3, "{wrong}");
    }
}

#[test]
fn flag_m_lets_a_dot_match_a_line_break() {
    check(&[
        (
            "\"a\\nb\" | test(\"a.b\"), test(\"a.b\"; \"m\"), test(\"a.b\"; \"p\"), test(\"^b\"; \"m\")",
            "false true true false",
        ),
        ("\"a\" | try test(\"a\"; \"q\") catch .", "\"q is not a valid modifier string\""),
    ]);
}

#[test]
fn day_of_the_year_gives_the_date() {
    check(&[
        ("\"2024-060\" | strptime(\"%Y-%j\")", "[2024,1,29,0,0,0,4,59]"),
        ("\"2024-001\" | strptime(\"%Y-%j\") | mktime | todate", "\"2024-01-01T00:00:00Z\""),
        ("\"2024-366\" | strptime(\"%Y-%j\")", "[2024,11,31,0,0,0,2,365]"),
        ("\"2023-365\" | strptime(\"%Y-%j\") | mktime | todate", "\"2023-12-31T00:00:00Z\""),
        ("\"060\" | strptime(\"%j\")", "[1900,0,0,0,0,0,8,59]"),
    ]);
}

#[test]
fn negated_zero_has_a_sign_only_if_it_was_computed() {
    check(&[
        ("\"[0,-0,0.0,0e3,1e-400]\" | fromjson | map(-.)", "[0,0,0.0,0E+3,-1E-400]"),
        ("\"0.0\" | fromjson | -(-.)", "0.0"),
        ("(1 - 1) | -., -(-.)", "-0 0"),
    ]);
}
