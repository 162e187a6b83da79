//! Values of options that commands refuse, as GNU's do, instead of ignoring them.

use super::{check, check_with_files};

#[tokio::test]
async fn value_of_an_option_that_takes_none_is_refused() {
    check(&[
        (
            "printf 'a\\n' > f; sed --quiet=x p f 2>&1 | head -n 1; sed --qui p f",
            "sed: option '--quiet' doesn't allow an argument\na\n",
            0,
        ),
        (
            "fmt --split-only=x 2>&1 < /dev/null | head -n 1",
            "fmt: option '--split-only' doesn't allow an argument\n",
            0,
        ),
        ("touch --no-create=x f 2>&1 | head -n 1; ls", "touch: option '--no-create' doesn't allow an argument\n", 0),
        ("echo a | tee --app f 2>&1; cat f", "a\na\n", 0),
        ("echo a | tee --none f 2>&1 | head -n 1; ls", "tee: unrecognized option '--none'\n", 0),
        (
            "whoami --none 2>&1; whoami x 2>&1",
            "whoami: unrecognized option '--none'\nTry 'whoami --help' for more information.\n\
             whoami: extra operand 'x'\nTry 'whoami --help' for more information.\n",
            1,
        ),
        ("uname x 2>&1 | head -n 1; uname -p; uname -sp", "uname: extra operand 'x'\nunknown\nLinux unknown\n", 0),
        ("nohup --none true 2>&1 | head -n 1; nice -- echo a", "nohup: unrecognized option '--none'\na\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn value_that_an_option_does_not_take_is_refused() {
    check(&[
        ("> f; sort -S x f 2>&1; echo $?", "sort: invalid -S argument 'x'\n2\n", 0),
        (
            "> f; sort --batch-size=1 f 2>&1 | head -n 1; sort -S 10% --batch-size=2 f; echo $?",
            "sort: invalid --batch-size argument '1'\n0\n",
            0,
        ),
        (
            "> f; cp --reflink=x f g 2>&1 | head -n 1; cp --sparse=2 f g 2> /dev/null; echo $?; ls",
            "cp: invalid argument ‘x’ for ‘--reflink’\n1\nf\n",
            0,
        ),
        (
            "> f; cp --reflink f g 2>&1; cp --reflink=auto f h; ls",
            "cp: failed to clone 'g' from 'f': Operation not supported\nf\nh\n",
            0,
        ),
        ("> f; rm --interactive=x f 2>&1 | head -n 1; ls", "rm: invalid argument ‘x’ for ‘--interactive’\nf\n", 0),
        (
            "> f; truncate -r f -s 5 f 2>&1 | head -n 1; printf abc > r; truncate -r r -s +2 f; wc -c < f",
            "truncate: you must specify a relative '--size' with '--reference'\n5\n",
            0,
        ),
        ("env -u '' true 2>&1; echo $?", "env: cannot unset '': Invalid argument\n125\n", 0),
        ("> a; diff3 -L x a a a 2>&1 | head -n 1", "diff3: incompatible options\n", 0),
        ("flock -w x l true 2>&1; echo $?", "flock: invalid timeout value: 'x'\n64\n", 0),
        (
            "printenv --none 2>&1 | head -n 1; X=1 printenv -0 X | tr '\\0' ,",
            "printenv: unrecognized option '--none'\n1,",
            0,
        ),
    ])
    .await;
}

#[tokio::test]
async fn optional_value_of_an_option_is_in_the_same_word() {
    check(&[
        ("printf abc > f; od -An -c -w f; od -An -c -w2 f", "   a   b   c\n   a   b\n   c\n", 0),
        (
            "printf abc > f; xxd -i -n2 f | head -n 1; xxd -i -n name f | head -n 1",
            "unsigned char __2[] = {\nunsigned char name[] = {\n",
            0,
        ),
    ])
    .await;
}

#[tokio::test]
async fn shell_names_itself() {
    check(&[
        ("\"$BASH\" -c 'echo $BASH'", "/bin/bash\n", 0),
        (
            "echo $((0x)) $((0x + 1)); command nosuch 2>&1 | head -n 1",
            "0 1\nbash: line 1: nosuch: command not found\n",
            0,
        ),
    ])
    .await;
}

#[tokio::test]
async fn options_that_exclude_each_other_are_refused() {
    check_with_files(&[
        ("xargs -o echo < words 2>/dev/null; echo $?", "125\n", 0),
        ("setsid -c echo a; echo $?", "1\n", 0),
        ("cmp -s -l left.txt right.txt; echo $?", "2\n", 0),
        ("od -a -S1 words; echo $?", "1\n", 0),
        ("bzip2 -t -c words; echo $?", "1\n", 0),
        ("zip -x q.zip words; echo $?", "\nzip error: Invalid command arguments (nothing to select from)\n16\n", 0),
        ("column -W x -t left.txt; echo $?; column -T 1 -t left.txt", "1\n1  ann\n2  bob\n4  dan\n", 0),
        ("xxd -r -i words; echo $?", "255\n", 0),
        (
            "split -t1 -tx words; echo $?; split -ta -ta -l1 words; ls x*",
            "1\nxaa\nxab\nxac\nxad\nxae\nxaf\nxag\nxah\nxai\nxaj\nxak\nxal\n",
            0,
        ),
        (
            "numfmt --from=iec-i 1500; numfmt --from=iec-i --suffix=x 1500Kix; numfmt --from=iec-i 2Ki",
            "1536000x\n2048\n",
            0,
        ),
        ("fallocate -n -l 9 zz; echo $?; ls zz; fallocate -n -l 99 words; wc -c < words", "1\n64\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn colours_of_ls_need_a_terminal_that_has_some() {
    check_with_files(&[
        ("env -u TERM -u LS_COLORS ls --color=always -d src; TERM=dumb ls --color=always -d src;  TERM=xterm-256color ls --color=always -d src | cat -v; env TERM= COLORTERM=1 ls --color=always -d src | cat -v", "src\nsrc\n^[[0m^[[01;34msrc^[[0m\n^[[0m^[[01;34msrc^[[0m\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn date_that_is_to_be_set_is_printed_and_refused() {
    check_with_files(&[(
        "date -u -s '2024-01-01' 2>&1 | sort; date -u -s '2024-01-01' +%F 2>/dev/null; echo $?; date -s nope; echo $?",
        "Mon Jan  1 00:00:00 UTC 2024\ndate: cannot set date: Operation not permitted\n2024-01-01\n1\n1\n",
        0,
    )])
    .await;
}

#[tokio::test]
async fn keys_and_fields_in_the_old_form_are_those_of_gnu() {
    let input = "printf 'b 1 x\\na 3 y\\nc 2 z\\na 1 q\\n' > s; ";
    let script = |words: &str| format!("{input}{words}");
    let [one, two, three, four, five] = [
        "sort +1 -2 s | tr '\\n' ,",
        "sort s +2 | tr '\\n' ,",
        "sort +1 -1.1 +0r s | tr '\\n' ,",
        "sort -2 s 2>&1 | head -1",
        "sort +x s 2>&1",
    ]
    .map(script);
    check(&[
        (&one, "a 1 q,b 1 x,c 2 z,a 3 y,", 0),
        (&two, "a 1 q,b 1 x,a 3 y,c 2 z,", 0),
        (&three, "c 2 z,b 1 x,a 3 y,a 1 q,", 0),
        (&four, "sort: invalid option -- '2'\n", 0),
        (&five, "sort: cannot read: +x: No such file or directory\n", 2),
        ("printf '1 a\\n2 a\\n3 b\\n' | uniq -1c", "      2 1 a\n      1 3 b\n", 0),
        ("printf 'xa\\nya\\nzb\\n' | uniq +1", "xa\nzb\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn modes_of_new_files_and_directories_are_those_of_gnu() {
    check(&[
        ("mkdir -m +t a; mkdir -m +t,g+w b; mkdir -m u+s c; stat -c %a a b c", "1755\n1777\n4777\n", 0),
        (
            "touch a b; cp --backup=none -n a b 2>&1 | head -1; ls",
            "cp: options --backup and --no-clobber are mutually exclusive\na\nb\n",
            0,
        ),
        (
            "echo a > f; printf '%s\\n' '--- f' '+++ f' '@@ -1 +1 @@' -a +b > p; echo > old; chmod 640 old; \
             patch -o new f < p > /dev/null; patch -o old f < p > /dev/null; stat -c %a new old",
            "600\n640\n",
            0,
        ),
        (
            "mkdir d; grep -d sk a d; echo $?; grep -d re a d 2>&1 | head -1",
            "1\ngrep: ambiguous argument ‘re’ for ‘--directories’\n",
            0,
        ),
    ])
    .await;
}
