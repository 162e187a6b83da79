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
