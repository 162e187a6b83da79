//! Elements that are missing or empty: `set -u` in arithmetic, and `:+`.

use super::check;

#[tokio::test]
async fn nounset_in_arithmetic_takes_an_array_with_a_list_for_set() {
    check(&[
        ("set -u; declare -A n=(); for w in a b a; do (( n[$w] += 1 )); done; echo ${n[a]} ${n[b]}", "2 1\n", 0),
        ("set -u; a=(); echo $(( a + 1 )) $(( a[3] + 1 ))", "1 1\n", 0),
        ("set -u; f() { local -A m=(); (( m[x]++ )); echo ${m[x]}; }; f", "1\n", 0),
        ("(set -u; declare -A n; echo $(( n[k] + 1 ))) 2>&1; echo $?", "bash: line 1: n: unbound variable\n1\n", 0),
        ("(set -u; declare -A n=(); w=k; echo $(( ${n[$w]} + 1 ))) 2>&1", "bash: line 1: n[$w]: unbound variable\n", 1),
        ("set -u; declare -A n=([k]=4); w=k; echo $(( ${n[$w]} + ${n[k]} + ${#n[@]} ))", "9\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn replacement_of_empty_elements_is_an_empty_field() {
    check(&[
        (
            "f() { echo $#; }; y=(''); f \"${y[@]:+set}\"; y=(); f \"${y[@]:+set}\"; y=('' ''); f \"${y[@]:+set}\"",
            "1\n0\n1\n",
            0,
        ),
        ("f() { echo $#; }; set -- ''; f \"${@:+set}\"; set --; f \"${@:+set}\"", "1\n0\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn optind_is_an_integer() {
    check(&[("declare -p OPTIND; OPTIND=1+1; echo $OPTIND", "declare -i OPTIND=\"1\"\n2\n", 0)]).await;
}

#[tokio::test]
async fn case_changes_keep_a_character_that_has_no_single_other_case() {
    check(&[(
        "echo Straße | sed 's/.*/\\U&/'; echo Straße | awk '{ print toupper($0), tolower(\"ÀΣ\") }'",
        "STRAßE\nSTRAßE àσ\n",
        0,
    )])
    .await;
}
