//! Scripts whose results bashkit's patches changed, with what bash prints of them.

use super::testing::run;

async fn check(cases: &[(&str, &str, i32)]) {
    for (script, output, status) in cases {
        let result = run(script).await;
        assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn eval_and_source_with_a_syntax_error_run_the_lines_before_it() {
    check(&[
        ("eval 'echo a\n)'; echo $?", "a\n2\n", 0),
        ("printf 'echo a\\n)\\necho b\\n' > f; . ./f; echo $?; . ./f || echo or", "a\n2\na\nor\n", 0),
        ("printf 'return 3\\n)\\n' > f; . ./f; echo $?", "3\n", 0),
        ("eval 'echo a; )'; echo $?", "2\n", 0),
        ("eval 'echo 1\n[[ a b ]]\necho 2'; echo $?", "1\n2\n", 0),
        ("set -e; eval 'echo x\n)'; echo y", "x\n", 2),
        (
            "{ eval 'echo x\n)'; } 2>&1 | grep -c syntax; f() { eval 'echo in\n)' 2> /dev/null; echo after; }; f",
            "1\nin\nafter\n",
            0,
        ),
    ])
    .await;
}

#[tokio::test]
async fn option_that_changes_parsing_holds_for_the_next_lines_of_eval_and_source() {
    check(&[
        ("printf 'shopt -s extglob\\ncase ab in @(ab|c)) echo ok;; esac\\n' > lib; . ./lib", "ok\n", 0),
        ("eval 'shopt -s extglob\necho ${x-@(a|b)} && [[ ab == @(ab|c) ]] && echo ok'", "@(a|b)\nok\n", 0),
        ("eval 'shopt -s extglob\ncase ab in +([a-z])) echo ok;; esac'", "ok\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn case_in_a_substitution_takes_a_substitution_as_subject() {
    check(&[
        ("x=$(case $(echo a) in a) echo foo;; esac); echo $x", "foo\n", 0),
        ("x=$(\ncase $((1 << 1)) in\n  2) echo two ;;\n  *) echo other ;;\nesac\n); echo $x", "two\n", 0),
        ("echo \"$(case x$(echo a)y in $(echo xay)|b) echo m;; esac)\" $(( $(cat <<X\n1\nX\n) << 2 ))", "m 4\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn heredoc_line_that_ends_in_a_backslash_is_joined_before_its_end_is_looked_for() {
    check(&[
        ("cat <<E\nhi\\\nE\nE\necho end", "hiE\nend\n", 0),
        ("cat <<'E'\nhi\\\nE\necho end", "hi\\\nend\n", 0),
        ("cat <<E\na\\\\\nE\necho end", "a\\\nend\n", 0),
        ("cat <<-E\n\ta\\\n\tb\n\tE\necho end", "a\tb\nend\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn associative_list_takes_each_word_for_one_field() {
    check(&[
        ("declare -A m; k='a b'; m=($k $k); echo \"${#m[@]} ${m[a b]}\"", "1 a b\n", 0),
        ("p=(a 1 b 2); declare -A m=(\"${p[@]}\"); echo \"${!m[@]}\"", "a 1 b 2\n", 0),
        ("declare -A m=(* {a,b} ~ ~); echo \"${m[*]}|${m[~]}\"; m[@]=1 2> /dev/null; m['@']=3; declare -p m | grep -c '\\[\"@\"\\]'", "{a,b} ~|~\n1\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn declarations_of_lists_and_listings_are_bashs() {
    check(&[
        ("readonly -a r='(5 6)'; declare -p r", "declare -ar r=([0]=\"5\" [1]=\"6\")\n", 0),
        ("a=(1); declare -a 'a[0]=(9 8)'; declare -p a", "declare -a a=([0]=\"9\" [1]=\"8\")\n", 0),
        ("a=(1); declare 'a[0]=(9 8)'; declare -p a", "declare -a a=([0]=\"(9 8)\")\n", 0),
        ("a=(1 2); declare +a 'a=(3 4)' 2> /dev/null; echo $? ${a[@]}", "1 1 2\n", 0),
        (
            "declare -r zr=1; declare -t zt=2; declare -rt zb=3; declare -prt | grep ' z' | sort",
            "declare -r zr=\"1\"\ndeclare -rt zb=\"3\"\ndeclare -t zt=\"2\"\n",
            0,
        ),
        ("f() { :; }; declare -F f; declare -pF f", "f\ndeclare -f f\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn references_end_as_in_bash() {
    check(&[
        ("v=deep; declare -n c9=v c8=c9 c7=c8 c6=c7 c5=c6 c4=c5 c3=c4 c2=c3 c1=c2; echo \"$c1|$c2\"", "|deep\n", 0),
        (
            "declare -n r; [[ -R r ]] || echo unset; declare -rn q=v; unset -n q 2> /dev/null; echo $?; declare -p q",
            "unset\n1\ndeclare -nr q=\"v\"\n",
            0,
        ),
        ("x=x; declare -n x; echo $?; declare -p x", "0\ndeclare -n x=\"x\"\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn case_conversion_maps_character_by_character() {
    check(&[
        (
            "s=ß; echo ${s^^} ${s@U} ${s^}; t=ΑΣ; echo ${t,,} ${t@L}; declare -u u=ß; declare -l l=ΑΣ; echo $u $l",
            "ß ß ß\nασ ασ\nß ασ\n",
            0,
        ),
        ("a=(x 'y z'); printf '<%s>' \"${a[@]@P}\"; echo", "<x><y z>\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn trace_of_a_function_stands_before_its_body_behind_exec() {
    check(&[("exec 2>&1; f() { echo in; }; set -x; f a", "+ f a\n+ echo in\nin\n", 0)]).await;
}

#[tokio::test]
async fn command_that_cannot_open_a_file_says_so_and_the_script_goes_on() {
    check(&[
        ("join nof nof2; echo $?", "1\n", 0),
        ("join . .; echo $?", "1\n", 0),
        ("xargs -a nof echo; echo $?", "1\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn variables_of_calls_are_declared_without_a_call() {
    check(&[
        (
            "declare -p BASH_SOURCE BASH_LINENO FUNCNAME BASH_ARGV BASH_ARGC",
            "declare -a BASH_SOURCE=()\ndeclare -a BASH_LINENO=()\ndeclare -a FUNCNAME\ndeclare -a BASH_ARGV=()\ndeclare -a BASH_ARGC=([0]=\"0\")\n",
            0,
        ),
        ("f() { declare -p BASH_ARGV BASH_ARGC; }; f a b", "declare -a BASH_ARGV=()\ndeclare -a BASH_ARGC=()\n", 0),
    ])
    .await;
}
