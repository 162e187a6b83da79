//! Programs that start a command: `xargs`, `find -exec`, `env`, `nice` and their like.

use super::check;

#[tokio::test]
async fn command_that_does_not_exist_is_reported_by_the_program_that_starts_it() {
    check(&[
        ("printf 'a b c' | xargs -n1 nosuch 2>&1; echo $?", "xargs: nosuch: No such file or directory\n127\n", 0),
        ("> f; find f -exec nosuch {} \\; 2>&1; echo $?", "find: 'nosuch': No such file or directory\n0\n", 0),
        ("env nosuch 2>&1; echo $?", "env: 'nosuch': No such file or directory\n127\n", 0),
        ("nice nosuch 2>&1; echo $?", "nice: 'nosuch': No such file or directory\n127\n", 0),
        ("nohup nosuch 2>&1; echo $?", "nohup: failed to run command 'nosuch': No such file or directory\n127\n", 0),
        ("setsid nosuch 2>&1; echo $?", "setsid: failed to execute nosuch: No such file or directory\n127\n", 0),
        ("flock l nosuch 2>&1; echo $?", "flock: failed to execute nosuch: No such file or directory\n69\n", 0),
        (
            "timeout 5 nosuch 2>&1; echo $?",
            "timeout: failed to run command 'nosuch': No such file or directory\n127\n",
            0,
        ),
    ])
    .await;
}

#[tokio::test]
async fn file_that_is_not_executable_is_reported_by_the_program_that_starts_it() {
    check(&[
        ("> f; echo a | xargs ./f 2>&1; echo $?", "xargs: ./f: Permission denied\n126\n", 0),
        ("mkdir d; env ./d 2>&1; echo $?", "env: './d': Permission denied\n126\n", 0),
        ("printf '#!/bin/sh\\necho ran $1' > f; chmod +x f; echo a | xargs ./f", "ran a\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn programs_that_start_a_command_know_no_functions_and_builtins() {
    check(&[
        ("f() { echo f; }; echo a | xargs f 2>&1; echo $?", "xargs: f: No such file or directory\n127\n", 0),
        ("echo() { printf 'function\\n'; }; printf a | xargs echo program; env echo too", "program a\ntoo\n", 0),
        ("printf a | xargs cd 2>&1; echo $?", "xargs: cd: No such file or directory\n127\n", 0),
        ("printf 'a\\nb\\n' | xargs -n1 sh -c 'echo $0; exit 127'; echo $?", "a\nb\n123\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn question_takes_one_line_of_an_input_that_never_ends() {
    check(&[
        ("> f; yes | rm -i f 2> /dev/null; echo $?; ls", "0\n", 0),
        ("echo 1 > f; echo 2 > g; yes n | cp -i f g 2> /dev/null; cat g", "2\n", 0),
        ("> f; > g; printf 'y\\nrest\\n' | { rm -i f; cat; } 2> /dev/null; ls", "rest\ng\n", 0),
    ])
    .await;
}
