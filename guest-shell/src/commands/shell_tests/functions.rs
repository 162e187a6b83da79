//! How functions and words of braces are printed.

use super::check;

#[tokio::test]
async fn printed_function_has_the_redirections_of_bash() {
    check(&[(
        "f() { a 3<&- <&- >&$x 2>&$x <&$x &>>f <>f >&f >>g 2>&1 1>&2; }; declare -f f | sed -n 3p",
        "    a 3>&- 0>&- >&$x 2>&$x <&$x &>> f 0<> f >&f >> g 2>&1 1>&2\n",
        0,
    )])
    .await;
}

#[tokio::test]
async fn braces_yield_no_assignments_and_keep_an_empty_letter() {
    check(&[
        ("HOME=/h; echo {x,y}=~ a=~ {~,b} x={~,b}", "x=~ y=~ a=/h /h b x=~ x=b\n", 0),
        ("printf '<%s>' {Z..a}", "<Z><[><><]><^><_><`><a>", 0),
    ])
    .await;
}

#[tokio::test]
async fn readonly_function_is_neither_defined_again_nor_unset() {
    check(&[
        ("f() { echo 1; }; readonly -f f; f() { echo 2; }; echo $?; f; unset -f f; echo $?; unset f; echo $?; declare -F; f", "1\n1\n1\n1\ndeclare -fr f\n1\n", 0),
        ("f() { :; }; g() { :; }; declare -fr f; readonly -f; declare -fx g; declare -F; declare -f f; declare -pf g; declare +r -f f; echo $?; readonly -f nof; echo $?; (f() { echo sub; }; f); echo end", "f () \n{ \n    :\n}\ndeclare -fr f\ndeclare -fr f\ndeclare -fx g\nf () \n{ \n    :\n}\ng () \n{ \n    :\n}\ndeclare -fx g\n1\n1\nend\n", 0),
    ])
    .await;
}
