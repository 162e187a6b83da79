//! What is too much or makes no sense for the shell: the right result or a clear error, and the next script runs.

use serde_json::{Value, json};
use tollhouse_tests::Home;

/// Every byte once, in base64.
const BYTES: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUV\
    JTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6\
    ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/w==";

/// Runs scripts, and after them one that must work.
fn ran(scripts: &[Value], arguments: &[&str]) -> Vec<Value> {
    let next = json!({"script": "echo next"});
    let jobs = scripts.iter().chain([&next]).enumerate();
    let lines: String = jobs
        .map(|(id, job)| {
            let mut job = job.clone();
            (job["id"], job["lang"]) = (id.into(), "sh".into());
            format!("{job}\n")
        })
        .collect();
    let mut results = Home::new().batch(&lines, arguments);
    results.sort_by_key(|result| result["id"].as_u64());
    assert_eq!(results.pop().expect("a result")["stdout"], "next\n");
    assert_eq!(results.len(), scripts.len());
    results
}

fn printed(script: &str) -> String {
    let results = ran(&[json!({"script": script})], &["--jobs", "1"]);
    assert_eq!(results[0]["status"], "completed", "{script}: {}", results[0]);
    results[0]["stdout"].as_str().expect("text").to_owned()
}

#[test]
fn shell_command_unknown_exits_127_and_script_continues() {
    assert_eq!(printed("nosuch; echo $?; ./nosuch; echo $?; /workspace; echo $?; echo on"), "127\n127\n126\non\n");
}

#[test]
fn bytes_that_are_no_text_stay_what_they_are() {
    let bytes = json!({"base64": BYTES});
    let script =
        "cat > b; cmp a b && cp b c && mv c d && cat d | tee e | cmp - a && wc -c < e; cat a a | tail -c 256 | cmp - a";
    let results = ran(&[json!({"script": script, "stdin": bytes.clone(), "files": {"a": bytes}})], &[]);
    assert_eq!((&results[0]["stdout"], &results[0]["exit_code"]), (&json!("256\n"), &json!(0)), "{}", results[0]);
}

#[test]
fn bytes_that_are_no_text_go_through_variables_and_filters() {
    let script = r#"printf 'a\xff\xc3\n' > raw; x=$(cat raw); read -r y < raw; mapfile -t z < raw; w=$'\xff'
for value in "$x" "$y" "${z[0]}" "${x%?}" "$w" "${#x}" "${x@Q}"; do printf %s "$value" | od -An -tx1; done
for filter in 'sed s/a/b/' 'awk {print$1}' 'tr a b' 'xargs echo' 'paste -' 'grep -a a' 'pr -t'; do $filter < raw | od -An -tx1; done"#;
    let kept = " 61 ff c3\n 61 ff c3\n 61 ff c3\n 61 ff\n ff\n 33\n 24 27 61 5c 33 37 37 5c 33 30 33 27\n";
    let filtered = " 62 ff c3 0a\n 61 ff c3 0a\n 62 ff c3 0a\n 61 ff c3 0a\n 61 ff c3 0a\n 61 ff c3 0a\n 61 ff c3 0a\n";
    assert_eq!(printed(script), format!("{kept}{filtered}"));
}

#[test]
fn bytes_that_are_no_text_name_no_file_and_are_no_argument_of_tools() {
    let home = Home::with_tools(&["stats"]);
    let code = r#"x=$'\xff'; echo > "f$x"; echo $?; stats describe --values "$x"; echo $?; printf '{"values":[1],"x":"\xff"}' | stats describe; echo $?"#;
    let ran = home.sh(code, &["--allow", "stats/*"]);
    assert_eq!(ran["stdout"], "1\n2\n2\n", "{ran}");
    assert!(ran["stderr"].as_str().is_some_and(|text| text.matches("is not UTF-8 text").count() == 2), "{ran}");
}

#[test]
fn bytes_that_are_no_text_reach_no_program_as_other_text() {
    let scripts = [r#"node -e 0 "$x""#, r#"node -e "'$x'""#, "export x; node -e 0"];
    for script in scripts {
        let results = ran(&[json!({"script": format!("x=$'\\xff'; {script}; echo $?")})], &[]);
        assert_eq!(results[0]["stdout"], "126\n", "{script}: {}", results[0]);
        let told = results[0]["stderr"].as_str().is_some_and(|text| text.contains("is not UTF-8 text"));
        assert!(told, "{script}: {}", results[0]);
    }
    // jq reads U+FFFD, as the real one does.
    let script = r#"x=$'\xff'; export x; jq -nc --arg x "$x" "[\$x, env.x, \"$x\"]""#;
    assert_eq!(printed(script), "[\"\u{fffd}\",\"\u{fffd}\",\"\u{fffd}\"]\n");
}

#[test]
fn bytes_that_are_no_text_are_operands() {
    let script = r#"x=$'\xff'
tr "$x" y <<< "$x"; tr a "$x" <<< a | od -An -tx1; cut -d "$x" -f2 <<< "a${x}b"; sort -t "$x" -k2 <<< "a${x}b" | od -An -tx1
join -t "$x" <(echo "a${x}b") <(echo "a${x}c") | od -An -tx1; dc -e "[$x]p" | od -An -tx1; seq -f "$x%g" 1 | od -An -tx1"#;
    assert_eq!(printed(script), "y\n ff 0a\nb\n 61 ff 62 0a\n 61 ff 62 ff 63 0a\n ff 0a\n ff 31 0a\n");
    let results = ran(&[json!({"script": "join a b c; echo $?", "files": {"a": "1\n", "b": "1\n"}})], &[]);
    assert_eq!(results[0]["stdout"], "1\n", "{}", results[0]);
}

#[test]
fn search_that_is_given_up_is_an_error() {
    let script = r#"printf '%s\n' aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa > f; rg -P '^(a|a|aa)+\1$(?=b)' f; echo $?
printf 'x1\n' > g; rg -P '\Q1\E' g; rg -r "$(printf 'y%.0s' {1..600000})" '[x1]' g | wc -c; echo "${PIPESTATUS[0]}""#;
    let results = ran(&[json!({"script": script})], &[]);
    assert_eq!(results[0]["stdout"], "2\nx1\n3\n2\n", "{}", results[0]);
    let told = results[0]["stderr"].as_str().expect("text");
    assert!(told.contains("match limit exceeded") && told.contains("too large"), "{told}");
}

#[test]
fn expansions_are_whole_or_an_error() {
    assert_eq!(printed("echo {1..20000} | wc -w; echo $(( $(echo '(') 1 $(echo ')') ))"), "20000\n1\n");
    let long =
        "x=$(head -c 1048576 /dev/zero | tr '\\0' a); x=$x$x$x$x$x$x$x$x$x$x$x; y=${x//a/b}; echo ${#y} ${y:0:2}";
    assert_eq!(printed(long), "11534336 bb\n");
    let refused =
        ["echo {1..99999999}", &format!("echo {}", "{a,b}".repeat(40)), "a[4294967297]=x", "a=([4294967297]=x)"];
    for script in refused {
        let results = ran(&[json!({"script": format!("{script}\necho after")})], &[]);
        let told = results[0]["stderr"] != "" || results[0]["status"] == "limited";
        assert!(told, "{script}: {}", results[0]);
        assert!(results[0]["stdout"].as_str().is_none_or(|text| text.len() < 100), "{script}: {}", results[0]);
    }
}

#[test]
fn shell_format_widths_may_be_large() {
    let script = "seq -f %9000g 1 | wc -c; seq -f %.9000f 1 | wc -c; date +%70000N | wc -c";
    assert_eq!(printed(script), "9001\n9003\n70001\n");
}

#[test]
fn shell_pipe_and_here_document_of_megabytes_pass() {
    assert_eq!(printed("yes | head -c 10000000 | wc -c"), "10000000\n");
    // None of these holds more than a part of what passes.
    assert_eq!(
        printed("yes | head -c 100000000 | cat | wc -c; yes | head -c 40000000 | tail -n 1; seq 1000000 | grep -c 9"),
        "100000000\ny\n468559\n"
    );
    // What holds all of it is stopped.
    let results = ran(&[json!({"script": "yes | head -c 100000000 | sort | wc -l"})], &[]);
    assert_eq!(results[0]["error"]["kind"], "limit", "{}", results[0]);
    assert_eq!(
        printed("seq 1000000 | tail -1; seq 300000 | sort -rn | head -1; yes a | head -2"),
        "1000000\n300000\na\na\n"
    );
    let document = format!("{}\n", "x".repeat(99)).repeat(100_000);
    assert_eq!(printed(&format!("cat <<'EOF' | wc -c\n{document}EOF\n")), "10000000\n");
}

#[test]
fn shell_glob_of_ten_thousand_names_expands() {
    let script =
        "for i in $(seq 10000); do : > f$i; done; set -- f*; echo $#; for f in f*[05]; do n=$((n+1)); done; echo $n";
    assert_eq!(printed(script), "10000\n2000\n");
}

#[test]
fn shell_script_that_never_ends_is_limited() {
    let endless = [
        ":(){ :|:& };:",
        "while :; do :; done",
        "f() { f; }; while :; do (f); done 2>/dev/null",
        "jq -n 'def f: f; f'",
        "until false; do echo x; done > /dev/null",
    ];
    let jobs: Vec<Value> = endless.iter().map(|script| json!({"script": script})).collect();
    for (script, result) in endless.iter().zip(ran(&jobs, &["--timeout", "2s"])) {
        assert_eq!(
            (&result["status"], &result["error"]["kind"]),
            (&json!("limited"), &json!("limit")),
            "{script}: {result}"
        );
    }
}

/// bashkit's parser goes round in these for ever.
#[test]
fn shell_case_without_terminators_is_a_syntax_error() {
    let script = "case x in\n a)\n b) echo;;\n d)\nesac";
    let results = ran(&[json!({"script": script})], &["--timeout", "60s"]);
    assert_eq!(
        (&results[0]["error"]["kind"], &results[0]["exit_code"]),
        (&json!("syntax"), &json!(2)),
        "{}",
        results[0]
    );
}

#[test]
fn deep_recursion_is_limited_and_says_so() {
    let deep = [
        ("f() { f $(($1 + 1)); }; f 0; echo after", "function depth exceeded (1000)"),
        ("echo '. ./again' > again; . ./again; echo after", "depth exceeded (1000)"),
        ("f() { echo $(f); }; f", "substitution depth exceeded (256)"),
        (
            "f() { for i in 1; do if :; then case x in x) { while :; do { ( : ); [[ x ]] && f; }; done; } ;; esac; fi; done; }; f",
            "limit",
        ),
    ];
    let jobs: Vec<Value> = deep.iter().map(|(script, _)| json!({"script": script})).collect();
    for ((script, limit), result) in deep.iter().zip(ran(&jobs, &[])) {
        let message = result["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(result["status"], "limited", "{script}: {result}");
        assert!(message.contains(limit), "{script}: {message}");
    }
}

#[test]
fn jq_that_recurses_for_ever_is_limited() {
    let deep =
        ["jq -n 'def f: 1 + f; f'", "jq -n '[repeat(\"a\" * 1000)]'", "jq -n 'reduce range(1e9) as $_ ([];[.])'"];
    let jobs: Vec<Value> = deep.iter().map(|script| json!({"script": script})).collect();
    for (script, result) in deep.iter().zip(ran(&jobs, &[])) {
        // Stack or memory, whichever is used up first.
        let message = result["error"]["message"].as_str().unwrap_or_default();
        assert!(result["status"] == "limited" && message.ends_with(" reached"), "{script}: {result}");
    }
}

/// Each would go on for ever: the limit of the run would end it, and then nothing is printed.
#[test]
fn shell_loop_without_waits_is_stoppable_and_sees_time_pass() {
    for (script, expected) in [
        ("timeout 0.1 bash -c 'while :; do :; done'; echo $?", "124\n"),
        ("while :; do :; done & sleep 0.1; kill $!; echo killed", "killed\n"),
        ("f() { while true | true; do ((i++)); done; }; f & sleep 0.1; kill $!; echo killed", "killed\n"),
        ("x=$(timeout 0.1 bash -c 'until false; do (:); done'; echo $?); echo $x", "124\n"),
        ("end=$(( $(date +%s) + 1 )); while [ $(date +%s) -lt $end ]; do :; done; echo past", "past\n"),
        ("while [ $SECONDS -lt 1 ]; do :; done; echo $SECONDS", "1\n"),
    ] {
        assert_eq!(printed(script), expected, "{script}");
    }
}

#[test]
fn shell_command_timed_out_leaves_the_shell_unchanged() {
    for (script, expected) in [
        ("timeout 0.1 bash -c 'x=$(sleep 9)'; echo $?; pwd", "124\n/workspace\n"),
        ("timeout 0.1 bash -c 'cd /tmp; { sleep 9; } > out'; echo on; pwd", "on\n/workspace\n"),
        ("x=$(timeout 0.1 bash -c 'echo a; sleep 9'); echo \"$? $x\"", "124 a\n"),
        ("timeout 0.1 bash -c 'echo a; sleep 9' > f; timeout 9 cat f | tr a b", "b\n"),
        ("timeout 0.1 bash -c 'while :; do echo y; done' | tail -n 1", "y\n"),
    ] {
        assert_eq!(printed(script), expected, "{script}");
    }
}

/// The first four would write for longer than they may, if it were passed on only at their end.
#[test]
fn shell_wrapper_command_streams_output_of_its_command() {
    for (script, expected) in [
        ("timeout 9 yes | head -1", "y\n"),
        ("env A=1 yes | head -1; echo on", "y\non\n"),
        ("echo a b | xargs yes | head -2", "a b\na b\n"),
        ("timeout 9 bash -c 'while :; do echo y; done' | head -1", "y\n"),
        ("printf '1\n2\n' | xargs -n 1 echo n | cat", "n 1\nn 2\n"),
        ("seq 3 | env cat | timeout 9 tac", "3\n2\n1\n"),
    ] {
        assert_eq!(printed(script), expected, "{script}");
    }
}

#[test]
fn bc_that_loops_for_ever_ends_with_the_fuel_and_the_next_script_runs() {
    for script in [
        "echo 'while (1) x++' | bc",
        "echo 'define f(x) { return f(x) }; for (;;) 1' | bc > /dev/null",
        "echo '[lax]sa lax' | dc",
        "echo 'scale=100000; e(1)' | bc -l",
    ] {
        let results = ran(&[json!({"script": script})], &["--jobs", "1", "--fuel", "100000"]);
        assert_eq!(results[0]["error"]["kind"], "limit", "{script}: {}", results[0]);
        let message = results[0]["error"]["message"].as_str().expect("a message");
        assert!(message.contains("`fuel`"), "{script}: {message}");
    }
}

#[test]
fn bc_refuses_numbers_beyond_its_memory_and_the_script_goes_on() {
    for command in
        ["bc <<< '9^9^9'", "bc <<< 'scale=2000000000; 1/3'", "dc <<< '9 9 9^^p'", "bc <<< 'obase=2;2^-1000000000'"]
    {
        let script = format!("{command} 2> errors; echo $?; grep -ci memory errors");
        assert_eq!(printed(&script), "1\n1\n", "{command}");
    }
}

#[test]
fn bc_that_recurses_for_ever_ends_without_the_script() {
    let script =
        "echo 'define f(x) { return (f(x+1)) }; x=f(1)' | tr ';' '\\n' | bc 2> errors; echo $?; grep -ci memory errors";
    assert_eq!(printed(script), "1\n1\n");
    let script = "echo '[1 lax 2]sa lax' | dc 2> errors; echo $?; grep -ci memory errors";
    assert_eq!(printed(script), "1\n1\n");
}

#[test]
fn bc_that_computes_long_is_stopped_by_timeout() {
    assert_eq!(printed("timeout 0.2 bc <<< 'while (1) x = x + 1'; echo $?; bc <<< 1+1"), "124\n2\n");
}
