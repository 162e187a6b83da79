//! Commands of bashkit that our patches change, compared with the real programs.

use super::check;
use crate::commands::testing::{builder, run};

#[tokio::test]
async fn timeout_that_is_reached_has_the_status_of_its_signal() {
    for (script, output) in [
        ("timeout -s KILL 0.05 sleep 9; echo $?", "137\n"),
        ("timeout --signal=9 0.05 sleep 9; echo $?", "137\n"),
        ("timeout -sTERM 0.05 sleep 9; echo $?", "124\n"),
        ("timeout --preserve-status -s INT 0.05 sleep 9; echo $?", "130\n"),
        ("timeout --preserve-status 0.05 sleep 9; echo $?", "143\n"),
        ("timeout -s FOO 1 true 2>&1; echo $?", INVALID_SIGNAL),
    ] {
        let result = builder().sleep().build().exec(script).await.expect("a script that ends");
        assert_eq!(&*result.stdout, output, "{script}");
    }
}

const INVALID_SIGNAL: &str = "timeout: 'FOO': invalid signal\nTry 'timeout --help' for more information.\n125\n";

#[tokio::test]
async fn wrong_option_of_cat_or_tee_is_refused_in_the_words_of_gnu() {
    for (script, message) in [
        ("cat -z", "cat: invalid option -- 'z'\nTry 'cat --help' for more information.\n"),
        ("cat --bogus", "cat: unrecognized option '--bogus'\nTry 'cat --help' for more information.\n"),
        ("tee -x < /dev/null", "tee: invalid option -- 'x'\nTry 'tee --help' for more information.\n"),
    ] {
        let result = run(script).await;
        assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{script}");
    }
}

#[tokio::test]
async fn command_that_is_not_there_has_a_hint_that_names_no_command_twice() {
    check(&[
        ("cpoi 2>&1 | tail -1 | grep -c 'cp, cp'", "0\n", 1),
        ("fd x 2>&1 | tail -1", "hint: `find`, `rg --files` and `command -v` are there\n", 0),
        ("rename a b 2>&1 | tail -1 | cut -c 1-20", "hint: a loop renames\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn filters_of_unusual_texts_give_what_gnus_do() {
    check(&[
        ("printf 'h\\303\\251 \\377\\n' | wc -m; printf 'h\\303\\251\\n' | LC_ALL=C wc -m", "4\n4\n", 0),
        ("printf 'b\\na' > f; split -e -n 20 f; ls x*; cat xaa xac", "xaa\nxab\nxac\nba", 0),
        ("printf 'a\\nb' > f; seq 2 | sed 'r f'; echo; seq 3 | sed 'R f'", "1\na\nb2\na\nb\n1\na\n2\nb3\n", 0),
        ("echo a | bzip2 - | bunzip2 -", "a\n", 0),
        ("printf '\\377\\303\\251\\n' | LC_ALL=C sed -n l", "\\377\\303\\251$\n", 0),
        ("mkdir d; echo a > f; head -n 1 f d 2> /dev/null; tail -n 1 d f 2> /dev/null", HEADERS, 1),
        ("mkdir d; echo x > f; sed -i s/x/y/ f d 2>&1; echo $?; cat f; sed p d 2>&1", SED_OF_DIRECTORY, 4),
        ("awk 'BEGIN { x = @/a+/; print match(\"baa\", x), split(\"a.b\", p, @/./) }'", "2 4\n", 0),
    ])
    .await;
}

const HEADERS: &str = "==> f <==\na\n\n==> d <==\n==> d <==\n\n==> f <==\na\n";
const SED_OF_DIRECTORY: &str = "sed: couldn't edit d: not a regular file\n4\ny\nsed: read error on d: Is a directory\n";

#[tokio::test]
async fn arithmetic_errors_show_the_expanded_expression_with_the_blanks_behind_it() {
    for (script, message) in [
        ("echo $(( 1 / 0 ))", "bash: line 1: 1 / 0 : division by 0 (error token is \"0 \")\n"),
        ("t=/; a=5 b=0; echo $(( a $t b ))", "bash: line 1: a / b : division by 0 (error token is \"b \")\n"),
        ("let '3 / 0 '", "bash: line 1: let: 3 / 0 : division by 0 (error token is \"0 \")\n"),
        ("x='1 +'; echo $(( x ))", "bash: line 1: 1 +: syntax error: operand expected (error token is \"+\")\n"),
        ("echo $(( 2 ** -1 ))", "bash: line 1: 2 ** -1 : exponent less than 0 (error token is \"1 \")\n"),
        ("echo $(( 1 + 08 + 2 ))", "bash: line 1: 1 + 08: value too great for base (error token is \"08\")\n"),
        ("v=x; echo $(( $v y ))", "bash: line 1: x y : syntax error in expression (error token is \"y \")\n"),
        ("[[ 1 -eq '1 / 0 ' ]]", "bash: line 1: [[: 1 / 0 : division by 0 (error token is \"0 \")\n"),
    ] {
        assert_eq!(&*run(script).await.stderr, message, "{script}");
    }
}

#[tokio::test]
async fn reading_from_a_descriptor_that_is_not_open_fails() {
    for (script, message) in [
        ("read -u 77 x", "bash: line 1: read: 77: invalid file descriptor: Bad file descriptor\n"),
        ("mapfile -u 55 a", "bash: line 1: mapfile: 55: invalid file descriptor: Bad file descriptor\n"),
    ] {
        let result = run(script).await;
        assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{script}");
    }
    let result = run("exec 7<<< hi; read -u 7 x; echo $x; read -u 9 y 9<<< yo; echo $y").await;
    assert_eq!(&*result.stdout, "hi\nyo\n");
}

#[tokio::test]
async fn lines_of_a_script_run_by_its_path_count_from_the_shebang() {
    check(&[("printf '#!/bin/bash\\necho $LINENO\\n' > s; chmod +x s; ./s; bash s", "2\n2\n", 0)]).await;
}

#[tokio::test]
async fn startup_file_of_a_child_shell_is_that_of_bash_env() {
    check(&[
        ("echo 'echo in $1' > e; echo 'echo body' > s; export BASH_ENV=./e; bash -c 'echo c'; bash s x; sh -c 'echo sh'", "in\nc\nin x\nbody\nsh\n", 0),
        ("echo 'echo in' > e; printf '#!/bin/bash\\necho s\\n' > s; chmod +x s; BASH_ENV=e ./s; BASH_ENV=none ./s", "in\ns\ns\n", 0),
        ("echo 'v=5; exit 3' > e; BASH_ENV=e bash -c 'echo $v'; echo $?; BASH_ENV=e bash -p -c 'echo p'", "3\np\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn quoted_characters_behind_a_dollar_and_quoted_keys_are_taken_as_they_are() {
    check(&[
        ("k=v; echo $\\k $\\k\"$k\" $\\\\", "$k $kv $\\\n", 0),
        ("declare -A m=([a]=1 ['*']=star ['@']=at); echo \"${m['*']} ${m['@']} ${#m[*]}\"", "star at 3\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn sed_of_a_file_ends_with_the_reader_of_its_output() {
    check(&[("seq 3 > f; sed -n ':a;p;ba' f | head -2; echo ${PIPESTATUS[0]}", "1\n1\n141\n", 0)]).await;
}

#[tokio::test]
async fn commands_of_our_own_are_programs_or_builtins_as_in_bash() {
    for name in ["cat", "dirname", "ls", "sleep", "tee", "timeout", "watch", "which", "xargs", "yes"] {
        let script = format!("type {name}; command -v {name}; which {name}");
        let result = builder().sleep().build().exec(&script).await.expect("a script that ends");
        assert_eq!(&*result.stdout, format!("{name} is /usr/bin/{name}\n/usr/bin/{name}\n/usr/bin/{name}\n"));
    }
    for name in ["enable", "logout", "mapfile", "readarray", "suspend"] {
        let script = format!("type {name}; command -v {name}");
        let result = builder().build().exec(&script).await.expect("a script that ends");
        assert_eq!(&*result.stdout, format!("{name} is a shell builtin\n{name}\n"));
    }
}

#[tokio::test]
async fn column_with_a_missing_file_fails() {
    check(&[
        ("echo a > f; column f none 2> /dev/null; echo $?; column none f 2> /dev/null; echo $?", "a\n1\na\n1\n", 0),
        ("column none 2> /dev/null; echo $?; column none other 2> /dev/null; echo $?", "1\n2\n", 0),
    ])
    .await;
}
