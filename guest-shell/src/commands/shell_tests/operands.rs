//! Scripts whose results depend on how operands of conditionals, lengths and commands are read, compared with bash's.

use super::{check, run};

#[tokio::test]
async fn operand_of_a_regular_match_takes_backquotes() {
    check(&[
        ("[[ foo12 =~ `echo '^foo[0-9]+$'` ]] && echo ${BASH_REMATCH[0]}; echo after", "foo12\nafter\n", 0),
        ("r='b(.)d'; [[ abcd =~ a`echo \"$r\"` ]] && echo ${BASH_REMATCH[1]}", "c\n", 0),
        ("[[ a.c =~ ^`echo a`\\.c$ ]] && [[ abc =~ `echo \\`echo b\\`` ]] && echo nested", "nested\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn process_substitution_is_an_operand_of_a_conditional() {
    check(&[
        ("[[ -p <(:) ]] && echo pipe; [[ -r <(echo a) && 1 -lt 2 ]] && echo r", "pipe\nr\n", 0),
        ("[[ <(echo) == /dev/fd/* ]] && echo fd", "fd\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn number_of_elements_of_an_unset_array_abandons_the_line_under_nounset() {
    check(&[
        ("set -u; echo ${#a[@]}; echo same\necho next", "next\n", 0),
        ("set -u; s=1; echo ${#s[@]}\ne=(); echo ${#e[@]} ${#PIPESTATUS[@]} ${#BASH_SOURCE[@]}", "0 1 0\n", 0),
        ("echo ${#a[@]}", "0\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn xargs_of_the_file_that_stands_for_standard_input_runs_the_command() {
    check(&[(
        "printf 'f1\\nf2\\n' | xargs -a /dev/stdin touch; echo *; echo x | xargs -a /dev/fd/0 echo r",
        "f1 f2\nr x\n",
        0,
    )])
    .await;
}

#[tokio::test]
async fn menu_of_select_indents_behind_narrow_numbers_of_the_first_column() {
    let script =
        "COLUMNS=40; select w in one two three four five six seven eight nine ten; do break; done <<< 1 2>&1 | cat";
    let result = run(script).await;
    assert!(result.stdout.contains("4) four\t    8) eight\n"), "{}", &*result.stdout);
}

#[tokio::test]
async fn printf_of_a_time_without_zeros_pads_to_its_width() {
    check(&[("TZ=UTC printf '%(%-10H|%-5d|%-Y|%05d)T\\n' 0", "         0|    1|1970|00001\n", 0)]).await;
}

#[tokio::test]
async fn escaped_dollar_in_a_pattern_is_that_character() {
    check(&[
        (
            r#"r='a $K b'; k=K; s=${r//\$$k/v}; echo "$s" ${r#*\$$k} ${r/\$K/v}; echo "${r//\$$k/v}""#,
            "a v b b a v b\na v b\n",
            0,
        ),
        (r#"r='x`y'; s=${r//\`/q}; echo $s ${r%\`*}"#, "xqy x\n", 0),
        (r#"r='$a$(b)'; s=${r//\$$(echo a)/z}; echo "$s" ${r##*\$}"#, "z$(b) (b)\n", 0),
        ("r='$x'; k=x; cat <<E\n${r/\\$$k/w} ${r#\\$}\nE", "w x\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn escaped_dollar_in_a_regular_expression_is_that_character() {
    check(&[
        (r#"r='a $K b'; k=K; [[ $r =~ \$$k ]] && echo "${BASH_REMATCH[0]}""#, "$K\n", 0),
        (r#"k=K; [[ 'x$K' =~ ^x\$${k}$ ]] && [[ 'x$K' =~ x\$"$k" ]] && echo both"#, "both\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn escape_that_posix_does_not_know_is_the_letter() {
    check(&[
        (r#"r='\d'; [[ 5 =~ $r ]] || echo digit; [[ d =~ ^$r$ ]] && echo letter"#, "digit\nletter\n", 0),
        (r#"r='^\w+\s\S$'; [[ 'ab c' =~ $r ]] && echo known; "#, "known\n", 0),
    ])
    .await;
}
