//! Lists, subscripts and sums of arrays.

use super::{check, run};

#[tokio::test]
async fn list_directly_before_the_end_of_a_subshell_is_assigned() {
    check(&[
        ("(a=(x)); echo ok", "ok\n", 0),
        ("if true; then (a=(1 2); echo \"${a[1]}\"; b=(3)) fi; echo ok", "2\nok\n", 0),
        ("f() (a+=(x)); f; case x in x) (a=($(echo y)));; esac; echo ok", "ok\n", 0),
        ("echo $((1 + (2))) $(( (3) ))", "3 3\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn list_with_an_empty_subscript_leaves_the_element_out() {
    let script = "a=([$none]=x y); echo $?; declare -p a";
    check(&[(script, "0\ndeclare -a a=([0]=\"y\")\n", 0)]).await;
    assert_eq!(&*run(script).await.stderr, "bash: line 1: []=x: bad array subscript\n");
}

#[tokio::test]
async fn associative_list_with_a_word_without_key_names_the_word_as_written() {
    let result = run("f() { declare -A m; m=([k]=v \"$x\" '*' a\\ b); }; f").await;
    let reported =
        |word| format!("environment: line 1: m: {word}: must use subscript when assigning associative array\n");
    assert_eq!(&*result.stderr, [reported("\"$x\""), reported("'*'"), reported("a\\ b")].concat());
}

#[tokio::test]
async fn integer_plus_nothing_stays_what_it_is() {
    check(&[
        ("declare -i z+=''; echo \"$z\"; z=4; z+=; z+=' '; z+=2*3; echo \"$z\"", "0\n10\n", 0),
        ("declare -ia a=(1 2); a[1]+=; a[0]+=5; a+=([1]+=1); echo \"${a[@]}\"", "6 3\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn condition_on_all_elements_asks_an_associative_array_for_the_key() {
    check(&[(
        "declare -A m=([k]=v) n=(['@']=1); a=(1); for x in 'm[@]' 'n[@]' 'n[*]' 'a[@]'; do [[ -v $x ]]; echo $?; done",
        "1\n0\n1\n0\n",
        0,
    )])
    .await;
}

#[tokio::test]
async fn element_that_cannot_be_is_reported() {
    check(&[
        ("exec 2>&1; declare -A m=([k]=v); x=; echo \"${m[$x]-y}\"; echo \"${m[$x]:+y}\"; echo \"${m[$x]#a}\"", "bash: line 1: m: bad array subscript\ny\nbash: line 1: m: bad array subscript\n\nbash: line 1: m: bad array subscript\n\n", 0),
        ("exec 2>&1; a=(); echo \"${a[-1]:=d}\"; echo no\necho next", "bash: line 1: a: bad array subscript\nbash: line 1: a[-1]: bad array subscript\nnext\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn word_like_an_element_is_a_command() {
    check(&[(
        "declare -A m; m[a]b]=12; echo $?; m[x]+=y; m['a]b']=3; a[a[0]]=x; declare -p m a",
        "127\ndeclare -A m=([x]=\"y\" [\"a]b\"]=\"3\" )\ndeclare -a a=([0]=\"x\")\n",
        0,
    )])
    .await;
}

#[tokio::test]
async fn declaration_that_fails_says_which() {
    check(&[
        ("(declare -i n=1+; echo no) 2>&1; (declare -n r=; echo $?) 2>&1; readonly ro=1; (export ro=2; declare ro=3; readonly ro=4) 2>&1", "bash: line 1: declare: 1+: syntax error: operand expected (error token is \"+\")\nbash: line 1: declare: `': not a valid identifier\n1\nbash: line 1: ro: readonly variable\nbash: line 1: declare: ro: readonly variable\nbash: line 1: ro: readonly variable\n", 1),
    ])
    .await;
}
