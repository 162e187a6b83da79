//! Tests of `ls` on a tree. The expected output was compared with coreutils 9.1.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Time of the tests, 2026-11-22 17:30:00 UTC.
const NOW: i64 = 1_795_368_600;

const TREE: &str = "
    mkdir -p /t/d/sub /t/e; cd /t
    printf hello > a.txt; printf %4097s > b.c; printf x > .hid; printf %5094s%5094s > 'c d'; : > w~
    ln -s a.txt link; ln -s d to; ln -s nowhere gone; chmod 4755 b.c; chmod 1777 e
    touch -d '2024-11-22 17:27' a.txt; touch -d '2026-10-01 01:02:03' b.c .hid w~
    touch -d '2027-11-22' 'c d'
    touch -d '2026-10-01 01:02:03' d/sub d e .
";

/// Returns the standard output, the standard error and the status of a script in the tree.
async fn run(script: &str) -> (String, String, i32) {
    let mut bash = crate::commands::testing::builder().username("agent").fixed_epoch(NOW).build();
    let result = bash.exec(&format!("{TREE}\n{script}")).await.unwrap();
    let text = |stream: &bashkit::StreamData| stream.to_string();
    (text(&result.stdout), text(&result.stderr), result.exit_code)
}

async fn out(script: &str) -> String {
    run(script).await.0
}

#[tokio::test]
async fn long_format_is_aligned_and_dated() {
    assert_eq!(
        out("ls -l | grep -v ^l").await,
        "total 32\n\
         -rw-r--r-- 1 agent agent     5 Nov 22  2024 a.txt\n\
         -rwsr-xr-x 1 agent agent  4097 Oct  1 01:02 b.c\n\
         -rw-r--r-- 1 agent agent 10188 Nov 22  2027 c d\n\
         drwxr-xr-x 3 agent agent  4096 Oct  1 01:02 d\n\
         drwxrwxrwt 2 agent agent  4096 Oct  1 01:02 e\n\
         -rw-r--r-- 1 agent agent     0 Oct  1 01:02 w~\n"
    );
}

#[tokio::test]
async fn owners_agree_with_id() {
    let same = "[[ $(ls -ld d) == *\" $(id -un) $(id -gn) \"* \
        && $(ls -nd d) == *\" $(id -u) $(id -g) \"* ]] && echo same";
    assert_eq!(out(same).await, "same\n");
    assert_eq!(out("ls -go a.txt").await, "-rw-r--r-- 1 5 Nov 22  2024 a.txt\n");
}

#[tokio::test]
async fn inodes_are_those_of_find() {
    let same = "i=$(ls -i a.txt); [[ $i == \"$(find a.txt -printf '%i %p')\" \
        && $i == \"$(ls -iL link | sed s/link/a.txt/)\" \
        && $i != \"$(ls -i link | sed s/link/a.txt/)\" ]] && echo same";
    assert_eq!(out(same).await, "same\n");
}

#[tokio::test]
async fn what_has_one_inode_is_one_file() {
    let same = "[ d/sub -ef to/sub ] && ls -di d/sub/ to/sub/ | cut -d' ' -f1 | uniq | wc -l";
    assert_eq!(out(same).await.trim(), "1");
}

#[tokio::test]
async fn hidden_names_and_patterns() {
    assert_eq!(out("ls -a d").await, ".\n..\nsub\n");
    assert_eq!(out("ls -Am").await, ".hid, a.txt, b.c, c d, d, e, gone, link, to, w~\n");
    assert_eq!(out("ls -mB -I '*.c' -I '?'").await, "a.txt, c d, gone, link, to\n");
    assert_eq!(out("ls -mA --hide='[!.]*' -I '*'").await, ".hid\n");
}

#[tokio::test]
async fn orders() {
    assert_eq!(out("ls -mS --group-directories-first").await, "d, e, to, c d, b.c, gone, a.txt, link, w~\n");
    assert_eq!(out("ls -mX").await, "c d, d, e, gone, link, to, w~, b.c, a.txt\n");
    assert_eq!(out("ls -mt a.txt b.c 'c d'").await, "c d, b.c, a.txt\n");
    assert_eq!(out("cd e; touch f10 f9 f1; ls -mv; ls -mrv").await, "f1, f9, f10\nf10, f9, f1\n");
}

#[tokio::test]
async fn sizes() {
    assert_eq!(out("ls -sh b.c 'c d' a.txt").await, "4.0K a.txt\n8.0K b.c\n 12K c d\n");
    assert!(out("ls -lh 'c d'").await.contains(" agent 10K Nov"));
    assert!(out("ls -l --si 'c d'").await.contains(" agent 11k Nov"));
    assert_eq!(out("ls -s d").await, "total 4\n4 sub\n");
}

#[tokio::test]
async fn links_and_marks() {
    assert_eq!(out("ls -p | tail -n 2").await, "to\nw~\n");
    assert_eq!(out("ls -mF").await, "a.txt, b.c*, c d, d/, e/, gone@, link@, to@, w~\n");
    assert_eq!(out("ls -lF to | sed 's/.* to /to /'").await, "to -> d/\n");
    assert_eq!(out("ls to; ls -d to/").await, "sub\nto/\n");
    let (listed, errors, status) = run("ls -lL | grep gone").await;
    assert_eq!(listed, "l????????? ? ?     ?         ?            ? gone\n");
    assert_eq!((errors.as_str(), status), ("ls: cannot access 'gone': No such file or directory\n", 0));
}

#[tokio::test]
async fn colours_only_always() {
    let coloured = "\x1b[0m\x1b[01;34md\x1b[0m\n\x1b[30;42me\x1b[0m\n";
    assert_eq!(out("TERM=xterm ls -d --color=always d e").await, coloured);
    assert_eq!(out("LS_COLORS=x=1 ls -d --color d e").await, coloured);
    assert_eq!(out("ls -d --color=auto d e; TERM=dumb ls -d --color d").await, "d\ne\nd\n");
}

#[tokio::test]
async fn what_is_missing_is_said_and_the_rest_listed() {
    let (listed, errors, status) = run("ls nope d a.txt a.txt/").await;
    assert_eq!(listed, "a.txt\n\nd:\nsub\n");
    assert_eq!(
        errors,
        "ls: cannot access 'nope': No such file or directory\n\
         ls: cannot access 'a.txt/': Not a directory\n"
    );
    assert_eq!(status, 2);
}

#[tokio::test]
async fn recursion_ends_in_loops() {
    assert_eq!(out("ls -R d").await, "d:\nsub\n\nd/sub:\n");
    let (listed, errors, status) = run("ln -s .. d/sub/up; ls -RL d").await;
    assert_eq!(listed, "d:\nsub\n\nd/sub:\nup\n");
    assert_eq!(errors, "ls: d/sub/up: not listing already-listed directory\n");
    assert_eq!(status, 2);
}

#[tokio::test]
async fn what_is_not_done_is_refused() {
    for option in ["--author", "-Z", "-D", "--hyperlink"] {
        let (listed, errors, status) = run(&format!("ls {option}")).await;
        assert_eq!((listed.as_str(), status), ("", 2), "{option}");
        assert!(errors.contains("not yet implemented"), "{option}: {errors}");
    }
    let (_, errors, status) = run("ls -l --time-style=none").await;
    assert!(errors.starts_with("ls: invalid argument 'none' for 'time style'"), "{errors}");
    assert_eq!(status, 2);
}

#[tokio::test]
async fn find_ls_has_the_same_columns() {
    let line = out("find a.txt -ls; find d -maxdepth 0 -printf '%n %u %g %b\\n'").await;
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    assert_eq!(words.join(" "), "4 -rw-r--r-- 1 agent agent 5 Nov 22 2024 a.txt 3 agent agent 8");
}
