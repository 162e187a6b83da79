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
