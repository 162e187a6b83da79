//! `chown` and `chgrp`, and operands that exist already.

use super::check;

#[tokio::test]
async fn chown_of_unknown_users_and_groups_fails() {
    check(&[
        ("> f; chown nosuch f 2>&1; echo $?", "chown: invalid user: 'nosuch'\n1\n", 0),
        ("> f; chown sandbox:nosuch f 2>&1; echo $?", "chown: invalid group: 'sandbox:nosuch'\n1\n", 0),
        ("> f; chown 1000: f; chown 7: f 2>&1; echo $?", "chown: invalid spec: '7:'\n1\n", 0),
        ("> f; chgrp nosuch f 2>&1; echo $?", "chgrp: invalid group: 'nosuch'\n1\n", 0),
        ("chown 2>&1; echo $?", "chown: missing operand\nTry 'chown --help' for more information.\n1\n", 0),
        ("chgrp x 2>&1", "chgrp: missing operand after 'x'\nTry 'chgrp --help' for more information.\n", 1),
    ])
    .await;
}

#[tokio::test]
async fn chown_to_the_owner_changes_nothing_and_to_another_is_refused() {
    check(&[
        ("> f; chown sandbox:sandbox f; chown 1000 f; chown :1000 f; chown '' f; chgrp sandbox f; echo $?", "0\n", 0),
        (
            "> f; chown -v sandbox f; chown -v :sandbox f; chgrp -v sandbox f; chown -c sandbox f",
            "ownership of 'f' retained as sandbox\nownership of 'f' retained as :sandbox\ngroup of 'f' retained as sandbox\n",
            0,
        ),
        ("> f; chown root f 2>&1; echo $?", "chown: changing ownership of 'f': Operation not permitted\n1\n", 0),
        ("> f; chgrp root f 2>&1; echo $?", "chgrp: changing group of 'f': Operation not permitted\n1\n", 0),
        ("> f; chown --from=root root f; echo $?; chown -f root f; echo $?", "0\n1\n", 0),
        (
            "> f; chgrp --from=root root f 2>&1; chgrp --re 2>&1",
            "chgrp: unrecognized option '--from=root'\nTry 'chgrp --help' for more information.\n\
             chgrp: option '--re' is ambiguous; possibilities: '--recursive' '--reference'\n\
             Try 'chgrp --help' for more information.\n",
            1,
        ),
        (
            "mkdir -p d/e; > d/f; chown -R root d 2>&1 | sort",
            "chown: changing ownership of 'd': Operation not permitted\n\
             chown: changing ownership of 'd/e': Operation not permitted\n\
             chown: changing ownership of 'd/f': Operation not permitted\n",
            0,
        ),
        ("chown sandbox none 2>&1; echo $?", "chown: cannot access 'none': No such file or directory\n1\n", 0),
        ("ln -s none l; chown sandbox l 2>&1; chown -h sandbox l; echo $?", "chown: cannot dereference 'l': No such file or directory\n0\n", 0),
        ("> f; > r; chown --reference=r f; chown --reference=none f 2>&1", "chown: failed to get attributes of 'none': No such file or directory\n", 1),
    ])
    .await;
}

#[tokio::test]
async fn symbolic_link_over_a_file_that_exists_fails() {
    check(&[
        (
            "echo 1 > f; ln -s x f 2>&1; echo $?; cat f",
            "ln: failed to create symbolic link 'f': File exists\n1\n1\n",
            0,
        ),
        (
            "ln -s a l; ln -s b l 2>&1; readlink l; ln -sf b l; readlink l",
            "ln: failed to create symbolic link 'l': File exists\na\nb\n",
            0,
        ),
    ])
    .await;
}

#[tokio::test]
async fn argument_that_an_option_does_not_take_is_an_error_in_gnus_words() {
    check(&[
        (
            "ls --sort=bad 2>&1 | sed -n '1p;$p'; ls --color=bad 2> /dev/null; echo $?",
            "ls: invalid argument 'bad' for '--sort'\nTry 'ls --help' for more information.\n1\n",
            0,
        ),
        ("ls '' 2>&1; echo $?", "ls: cannot access '': No such file or directory\n2\n", 0),
        ("touch -; ls; echo $?", "0\n", 0),
    ])
    .await;
}
