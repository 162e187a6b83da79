//! Scripts whose results depend on our patches of bashkit, compared with the output of bash.

use super::testing::{builder, run, run_live};

mod arrays;
mod byte_locale;
mod child_shells;
mod commands;
mod descriptors;
mod file_errors;
mod filters;
mod functions;
mod launchers;
mod lines;
mod operands;
mod option_values;
mod ownership;
mod pipelines;
mod signals;
mod substitutions;
mod traces;
mod traps;
mod unset_elements;
mod unset_variables;
mod utilities;
mod write_order;

async fn check(cases: &[(&str, &str, i32)]) {
    for (script, output, status) in cases {
        let result = run(script).await;
        assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
    }
}

/// [`check`] of scripts whose output is also delivered as it comes.
async fn check_live(cases: &[(&str, &str, i32)]) {
    check(cases).await;
    for (script, output, _) in cases {
        assert_eq!(run_live(script).await, *output, "live: {script}");
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

#[tokio::test]
async fn expansions_in_arithmetic_follow_those_of_words() {
    check(&[
        ("b=5 d=2024-03-09 v=012; declare -A h; k=a; (( h[$k] += ${b/-/0} )); echo \"${h[a]}\" $((${b/5/7}+1)) $((${b^}+1)) $((10#${d:5:2}+10#${v:1})) $(( ${u:=4} + u )) $((${x:-$b}*2)); for ((i=${s:-0}; i<${e:=3}; i+=${st:-1})); do echo $i; done; a=(1 2 3); t=b; echo $((${!t}+1)) $(( ${a[@]:1:1} )) \"${a[${i/3/1}]}\" \"${d:${x:-5}:${#e}}\"", "5 8 6 15 8 10\n0\n1\n2\n6 2 2 0\n", 0),
        ("set -- p q r; echo $((${#}+1)) $((${#@}*2)) $(( ${#*} )) ${x:-${#@}}", "4 6 3 3\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn replacement_of_all_has_no_anchor_and_quotes_in_patterns_are_quotes() {
    check(&[
        ("s=a%26b#; echo \"${s//%/\\\\x}\" \"${s//#/-}\" \"${s/%/-}\" \"${s/#/-}\" \"${s//%*/}\"; p='#a'; echo \"${s/$p/X}\" \"${s/\"$p\"/X}\" \"${s//$p/X}\"; u='a+b%26c'; printf '%b\\n' \"${u//%/\\\\x}\"", "a\\x26b# a%26b- a%26b#- -a%26b# a\nX%26b# a%26b# a%26b#\na+b&c\n", 0),
        ("q='say \"hi\"'; echo \"${q//'\"'/\\\\\\\"}\" \"${q//$'\"'/x}\"; cat <<E\n${q//'\"'/x} ${e:-`echo bt`}\nE", "say \\\"hi\\\" say xhix\nsay xhix bt\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn operands_of_operands_are_expanded_as_words() {
    check(&[
        ("port=${PORT:-${DEFAULT:-$(echo 8080)}}; n=${N:-$(( $(echo 4) * 2 ))}; y=${Y:-\"${Z:-$(printf 'a  b')}\"}; echo \"$port $n $y\"; echo \"${A:-${B=$(echo set)}} ${B:-$(echo no >&2)}\"; a=(one two); r=s s=Hello; echo ${x:-${a[@]/o/0}} \"${x:-${a[*]^}}\" \"${s/l/${!r}}\" \"${s/l/${!r:0:2}}\" \"${s#${!r%%l*}}\"", "8080 8 a  b\nset set\n0ne tw0 One Two HeHellolo HeHelo llo\n", 0),
        ("e= n=3 s=x; echo ${m:-\"${e:-\"in $n\"}\"} \"${m:-\"${s:+\"x\"}\"}\" \"${s:+\"[${s//\"x\"/\"y\"}]\"}\" ${m:-\"${s%%\"${s#?}\"}\"} ${m:-$\"loc\"}", "in 3 x [y] x loc\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn exec_ends_the_shell_wherever_it_is() {
    check(&[
        ("trap 'echo no trap' EXIT; main() { exec \"$@\"; }; main sh -c 'echo in; exit 3'; echo no", "in\n", 3),
        ("x=$(f() { exec echo q; }; f; echo no); echo \"$x\"; (exec nosuchcmd; echo no) 2> /dev/null; echo $?; { exec echo stage; echo no; } | cat; echo 'exec echo sourced' > l; . ./l; echo no", "q\n127\nstage\nsourced\n", 0),
        ("shopt -s execfail; exec nosuchcmd 2> /dev/null; echo $?; shopt -u execfail; f() { exec nosuchcmd 2> /dev/null; }; f || echo no", "127\n", 127),
    ])
    .await;
}

#[tokio::test]
async fn wait_p_unsets_and_select_keeps_its_order_and_mapfile_exits() {
    check(&[
        (
            "w=old; wait -n -p w; echo $? ${w-unset}; (exit 4) & wait -p w $!; echo $? $([[ $w == $! ]] && echo same)",
            "127 unset\n4 same\n",
            0,
        ),
        (
            "PS3='? '; select x in a b; do echo \"$x\"; [[ $x ]] && break; done <<< $'\\n3\\n1' 2>&1",
            "1) a\n2) b\n? 1) a\n2) b\n? \n? a\n",
            0,
        ),
        ("cb() { echo \"cb $1\"; exit 3; }; mapfile -c 1 -C cb a < <(seq 3); echo no", "cb 0\n", 3),
    ])
    .await;
}

#[tokio::test]
async fn extended_patterns_take_quotes_and_classes_hold_all_scripts() {
    check(&[
        ("shopt -s extglob\np='a*' s=abc u=é; for v in ab 'a*' z; do case $v in @(\"$p\"|z)) echo yes;; *) echo no;; esac; done; [[ $s == @(\"${s%c}\"|x)c ]] && echo braces; [[ $u == [[:alpha:]] && $u == [[:alpha:][:digit:]] && É == [[:upper:]] && é =~ ^[[:alpha:]]$ ]] && echo letters; t='déjà vu!'; echo \"${t//[^[:alpha:]]/_}\" \"${t//[![:alnum:][:space:]]}\"; case abc in [[.a.]][[=b=]]c) echo elements;; esac", "no\nyes\nyes\nbraces\nletters\ndéjà_vu_ déjà vu\nelements\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn substitutions_and_stages_leave_arguments_and_loops_alone() {
    check(&[
        ("set -- a b c; v=$(set -- x; echo $#); echo \"$# $v\"; v=`shift; echo $1`; echo \"$1 $v\"; cat <(set -- k; echo $#); f() { local n=1; v=$(local n=2; set -- q; echo \"$1 $n\"); echo \"$# $n $v\"; }; f 1 2 3 4; echo $#", "3 1\na b\n1\n4 1 q 2\n3\n", 0),
        ("for i in 1 2; do { break; echo stage; } 2> /dev/null | cat; echo p | { read -r l; continue; echo no; } 2> /dev/null; echo \"it $i\"; done", "stage\nno\nit 1\nstage\nno\nit 2\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn redirections_to_files_behind_exec_and_of_filters_reach_them() {
    check(&[
        ("echo hi > in; cat in nofile >& o1; echo $?; grep h in >& /dev/null && echo found; sort < o1 >& o2; cat o2", "1\nfound\ncat: nofile: No such file or directory\nhi\n", 0),
        ("exec 2>&1; ( echo o; echo e >&2 ) > o1; echo rc; cat o1; (echo lost >&2; exit 3) > /dev/null; echo $?; (exec 2>&1; echo own >&2) > o2; cat o2", "e\nrc\no\nlost\n3\nown\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn slices_run_the_substitutions_in_their_expressions() {
    check(&[
        ("s=name=value; set -- \"$s\"; a=(p q r); echo \"${s:0:$(expr index \"$s\" =)-1}\" \"${s:`echo 2`:2}\" \"${1:$(echo 5)}\" \"${a[@]:$(echo 1):$(echo 1)}\" ${s:$(echo 5)}", "name me value q value\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn break_and_return_end_a_substitution() {
    check(&[(
        "for i in 1; do x=$(break\necho no); echo \"[$x]\"; done; f() { v=$(return 3\necho no); echo \"[$v] $?\"; }; f",
        "[]\n[] 3\n",
        0,
    )])
    .await;
}

#[tokio::test]
async fn keys_of_associative_arrays_expand_operations() {
    check(&[
        ("declare -A n=([INFO]=1 [W]=2); L=; echo \"${n[${L:-INFO}]}\" \"${z:-${n[${L:-W}]}}\" \"${n[${L:-INFO}]:-none}\" ${#n[${L:-INFO}]}; ((${n[${L:-INFO}]} == 1)) && echo $((n[${L:-W}] + ${n[${L:-W}]})); log() { local -A r=([DEBUG]=0 [INFO]=1); ((${r[$1]} >= ${r[${LEVEL:-INFO}]})) && echo \"$2\"; }; log DEBUG no; log INFO yes", "1 2 1 1\n4\nyes\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn substitution_in_an_arithmetic_command_keeps_its_quotes() {
    check(&[
        ("(( $(echo \"2.5 > 1.5\" | bc -l) )) && echo gt; ls", "gt\n", 0),
        ("x=2.5 y=1.5; if (( $(echo \"$x < $y\" | bc) == 0 )); then echo ge; fi", "ge\n", 0),
        ("(( `echo \"1 > 2\" | bc` )) || echo le; ls", "le\n", 0),
        ("for (( i = $(printf '%s\\n' \"a b\" c | wc -l); i < 4; i++ )); do echo $i; done", "2\n3\n", 0),
        ("declare -A m=([\"x y\"]=3); (( m[\"x y\"] > 2 && \"1\" + 1 == 2 )) && echo yes", "yes\n", 0),
        ("f() { (( $(echo \"1;0\" | cut -d\";\" -f1) )); }; f && echo one", "one\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn child_shell_knows_the_version_of_bash() {
    check(&[
        ("bash -c 'echo ${BASH_VERSINFO[0]} ${BASH_VERSION%%.*}'", "5 5\n", 0),
        ("echo '(( BASH_VERSINFO[0] >= 4 )) && echo new' > s.sh; bash s.sh; chmod +x s.sh; ./s.sh", "new\nnew\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn read_with_a_timeout_waits_no_longer_on_a_pipe() {
    for (script, output) in [
        ("(sleep 0.5; echo late) | { read -t 0.05 x; echo \"$? [$x]\"; }", "142 []\n"),
        ("(printf part; sleep 0.5) | { read -t 0.05 x; echo \"$? [$x]\"; }", "142 [part]\n"),
        ("printf 'a b\\n' | { read -t 5 x y; echo \"$? $x|$y\"; read -t 5 z; echo $?; }", "0 a|b\n1\n"),
        ("(sleep 0.5; echo late) | { read -t 0; echo $?; }", "1\n"),
        ("echo x | { sleep 0.05; read -t 0; echo $?; read v; echo $v; }; read -t 0 < /dev/null; echo $?", "0\nx\n0\n"),
    ] {
        let result = builder().sleep().build().exec(script).await.expect("a script that ends");
        assert_eq!((&*result.stdout, &*result.stderr), (output, ""), "{script}");
    }
}

#[tokio::test]
async fn descriptor_that_is_open_for_reading_is_a_file_of_commands() {
    check(&[
        ("cat /dev/fd/3 3<<< three", "three\n", 0),
        ("exec 4< <(echo four); cat /dev/fd/4; exec 4<&-; cat /dev/fd/4 2> /dev/null; echo $?", "four\n1\n", 0),
        ("paste -d, <(seq 2) /dev/fd/5 5< <(seq 7 8)", "1,7\n2,8\n", 0),
        ("grep -c b - /dev/fd/6 6<<< 'b' <<< 'b'", "(standard input):1\n/dev/fd/6:1\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn shell_runs_the_script_that_a_descriptor_has() {
    check(&[
        ("echo 'echo \"args: $@ $#\"' | bash /dev/stdin a b", "args: a b 2\n", 0),
        ("bash /dev/stdin one <<'E'\necho \"got $1\"\nexit 3\nE\necho \"rc $?\"", "got one\nrc 3\n", 0),
        ("sh /dev/fd/0 <<< 'echo zero'; bash /dev/fd/7 x 7<<< 'echo $1'", "zero\nx\n", 0),
        (". /dev/fd/7 7<<< 'v=5'; echo $v; source /dev/stdin <<< 'w=6'; echo $w", "5\n6\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn locale_c_makes_each_byte_a_character() {
    check(&[
        (
            "s=héllo; LC_ALL=C; echo ${#s}; echo \"${s:0:2}\" | od -An -tx1; unset LC_ALL; echo ${#s}",
            "6\n 68 c3 0a\n5\n",
            0,
        ),
        ("LC_ALL=C; s=$'\\303\\251x'; echo ${#s} \"${s:2:1}\"; a=(é); echo ${#a[0]}", "3 x\n2\n", 0),
        ("f() { local LC_ALL=C; echo ${#1}; }; f 日本語; s=日本; echo ${s:1:1}", "9\n本\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn substitution_that_begins_with_a_subshell_is_no_arithmetic_in_quotes_either() {
    check(&[
        ("echo \"$((cd /tmp; pwd) | tr a-z A-Z)\"; v=\"$((echo q) 2>&1)\"; echo $v", "/TMP\nq\n", 0),
        ("cat <<E\n[$((echo h) | cat)] $(( 1 + 2 ))\nE\necho \"${x:-$((echo d) | cat)}\"", "[h] 3\nd\n", 0),
        ("echo \"$(((2+3)*2))\" \"$(( (1) + (2) ))\" \"$(((1)+1))\" \"$(( $(echo \"(2)\") + (3) ))\"", "10 3 2 5\n", 0),
    ])
    .await;
}

/// Script that makes the files of [`check_with_files`].
const FILES: &str = r"mkdir -p /t/src; cd /t; printf '1 ann\n2 bob\n4 dan\n' > left.txt; printf '1 red\n2 blue\n3 green\n' > right.txt
printf 'apple\nBanana\ncherry\napple\ndate\nélan\nZebra\nfig 10\nfig 9\n\nbanana\n' > words
";

/// Checks scripts that run beside some files of text.
pub(super) async fn check_with_files(cases: &[(&str, &str, i32)]) {
    for (script, output, status) in cases {
        let result = run(&format!("{FILES}{script}")).await;
        assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
    }
}
