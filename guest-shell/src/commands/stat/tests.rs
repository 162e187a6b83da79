//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::*;
use crate::commands::testing::{call, home_directory};
use bashkit::fs::FileSystem;

// ==================== stat tests ====================

#[tokio::test]
async fn test_stat_basic() {
    let (fs, cwd) = home_directory().await;

    fs.write_file(&cwd.join("test.txt"), b"content").await.unwrap();

    let result = call(&Stat::default(), fs.clone(), &cwd, &["test.txt"]).await;
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("test.txt"));
    assert!(result.stdout.contains("Size:"));
}

#[tokio::test]
async fn test_stat_format_name() {
    let (fs, cwd) = home_directory().await;

    fs.write_file(&cwd.join("test.txt"), b"content").await.unwrap();

    let result = call(&Stat::default(), fs.clone(), &cwd, &["-c", "%n", "test.txt"]).await;
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout.trim(), "test.txt");
}

#[tokio::test]
async fn test_stat_format_size() {
    let (fs, cwd) = home_directory().await;

    fs.write_file(&cwd.join("test.txt"), b"content").await.unwrap();

    let result = call(&Stat::default(), fs.clone(), &cwd, &["-c", "%s", "test.txt"]).await;
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout.trim(), "7"); // "content" is 7 bytes
}

#[tokio::test]
async fn test_stat_format_permissions() {
    let (fs, cwd) = home_directory().await;

    fs.write_file(&cwd.join("test.txt"), b"content").await.unwrap();
    fs.chmod(&cwd.join("test.txt"), 0o755).await.unwrap();

    let result = call(&Stat::default(), fs.clone(), &cwd, &["-c", "%a", "test.txt"]).await;
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout.trim(), "755");
}

#[tokio::test]
async fn test_stat_format_type() {
    let (fs, cwd) = home_directory().await;

    fs.mkdir(&cwd.join("testdir"), false).await.unwrap();

    let result = call(&Stat::default(), fs.clone(), &cwd, &["-c", "%F", "testdir"]).await;
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("directory"));
}

#[tokio::test]
async fn test_stat_nonexistent() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Stat::default(), fs.clone(), &cwd, &["nonexistent"]).await;
    assert_eq!(result.exit_code, 1);
    assert!(result.stderr.contains("No such file or directory"));
}

#[tokio::test]
async fn test_stat_missing_operand() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Stat::default(), fs.clone(), &cwd, &[]).await;
    assert_eq!(result.exit_code, 1);
    assert!(result.stderr.contains("missing operand"));
}

#[tokio::test]
async fn test_stat_missing_format_arg() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Stat::default(), fs, &cwd, &["-c"]).await;
    assert_eq!(result.exit_code, 1);
    assert_eq!(
        &*result.stderr,
        "stat: option '--format' requires an argument\nTry 'stat --help' for more information.\n"
    );
}

/// Returns the standard output, the standard error and the status of a script, in a tree with fixed times. The expected
/// output was compared with coreutils 9.1.
async fn run(script: &str) -> (String, String, i32) {
    let tree = "mkdir -p /t/d/sub; cd /t; printf hello > a; : > z; ln -s a l
        touch -d '2024-11-22 17:27:01' a";
    let mut bash = crate::commands::testing::builder().username("agent").build();
    let result = bash.exec(&format!("{tree}\n{script}")).await.unwrap();
    let text = |stream: &bashkit::StreamData| stream.to_string();
    (text(&result.stdout), text(&result.stderr), result.exit_code)
}

#[tokio::test]
async fn default_output_is_gnus() {
    let (listed, _, _) = run("stat a | sed 's/Inode: [0-9]* */Inode: I /; $d'").await;
    assert_eq!(
        listed,
        "  File: a\n  Size: 5         \tBlocks: 8          IO Block: 4096   regular file\n\
         Device: 0,1\tInode: I Links: 1\n\
         Access: (0644/-rw-r--r--)  Uid: ( 1000/   agent)   Gid: ( 1000/   agent)\n\
         Access: 2024-11-22 17:27:01.000000000 +0000\n\
         Modify: 2024-11-22 17:27:01.000000000 +0000\n\
         Change: 2024-11-22 17:27:01.000000000 +0000\n"
    );
    assert_eq!(run("stat l | head -n 1").await.0, "  File: l -> a\n");
}

#[tokio::test]
async fn directives() {
    let cases = [
        ("-c '%a %A %f %F %s %h' a", "644 -rw-r--r-- 81a4 regular file 5 1\n"),
        ("-c '%F %h %b' z d", "regular empty file 1 0\ndirectory 3 8\n"),
        ("-c '%N %F' l", "'l' -> 'a' symbolic link\n"),
        ("-L -c '%N %F' l", "'l' regular file\n"),
        ("-c '%U %u %G %g %d %D %Hd,%Ld %m' a", "agent 1000 agent 1000 1 1 0,1 /\n"),
        ("-c '%Y %.3Y' a", "1732296421 1732296421.000\n"),
        ("-c '%-5s|%5s|%05s|%+s|%#a|%.1n|' a", "5    |    5|00005|+5|0644|a|\n"),
        ("-c '%n\\n' a", "a\\n\n"),
        ("--printf '%n\\t\\x41\\n' a", "a\tA\n"),
        ("--printf '%s' -c %n a", "a\n"),
        ("-c '%% %Q %' a", "% ? %\n"),
    ];
    for (arguments, expected) in cases {
        let (listed, errors, status) = run(&format!("stat {arguments}")).await;
        assert_eq!((listed.as_str(), status), (expected, 0), "{arguments}: {errors}");
    }
}

#[tokio::test]
async fn terse_has_sixteen_fields() {
    let (listed, _, _) = run("stat -t a").await;
    let words: Vec<&str> = listed.split_whitespace().collect();
    assert_eq!(words.len(), 16);
    assert_eq!(words[..7].join(" "), "a 5 8 81a4 1000 1000 1");
    assert_eq!(words[8..].join(" "), "1 0 0 1732296421 1732296421 1732296421 ".to_string() + words[14] + " 4096");
}

#[tokio::test]
async fn what_is_missing_is_said_and_the_rest_shown() {
    let (listed, errors, status) = run("stat -c %n a nope z/ d").await;
    assert_eq!(listed, "a\nd\n");
    assert_eq!(
        errors,
        "stat: cannot statx 'nope': No such file or directory\n\
         stat: cannot statx 'z/': Not a directory\n"
    );
    assert_eq!(status, 1);
    let (_, errors, status) = run("stat -f a").await;
    assert!(errors.contains("the option '--file-system' is not available"), "{errors}");
    assert_eq!(status, 1);
}

#[tokio::test]
async fn inodes_are_those_of_ls() {
    let same = "[[ $(ls -i a) == \"$(stat -c '%i %n' a)\" && $(stat -Lc %i l) == $(stat -c %i a) \
        && $(stat -c %i l) != $(stat -c %i a) ]] && echo same";
    assert_eq!(run(same).await.0, "same\n");
}
