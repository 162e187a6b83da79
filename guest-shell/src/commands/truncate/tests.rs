use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bashkit::builtins::{Builtin, Context};
use bashkit::fs::{FileSystem, FsLimits, InMemoryFs};

use super::Truncate;
use super::size::TargetSize;
use crate::commands::testing::run;

#[tokio::test]
async fn truncate_above_the_limit_writes_nothing() {
    let fs = Arc::new(InMemoryFs::with_limits(FsLimits::new().max_file_size(10).max_total_bytes(10)));
    let words = ["-s", "11", "/large"].map(str::to_owned);
    let (env, mut variables, mut cwd) = (HashMap::new(), HashMap::new(), PathBuf::from("/"));
    let ctx = Context::new_for_test(&words, &env, &mut variables, &mut cwd, fs.clone(), None);
    let result = Truncate.execute(ctx).await.expect("a result");
    let message = "truncate: target size 11 exceeds VFS limit (10 bytes)\n";
    assert_eq!((&*result.stderr, result.exit_code), (message, 1));
    assert!(!fs.exists(Path::new("/large")).await.expect("an answer"));
}

#[tokio::test]
async fn truncate_sets_lengths_of_files() {
    for (script, output, messages) in [
        ("printf abc > f; truncate -s 2 f; cat f", "ab", ""),
        ("printf abc > f; truncate -s +2 f new; wc -c < f; wc -c < new", "5\n2\n", ""),
        ("printf abc > f; printf abcde > g; truncate -r f g; cat g", "abc", ""),
        ("truncate -c -s 1 f; ls", "", ""),
        (
            "mkdir d; : > f; truncate -s 1 f/ d/ g; ls",
            "d\nf\ng\n",
            "truncate: cannot open 'f/' for writing: Not a directory\n\
             truncate: cannot open 'd/' for writing: Is a directory\n",
        ),
        ("truncate -r gone f", "", "truncate: cannot stat 'gone': No such file or directory\n"),
        ("truncate -s x f", "", "truncate: Invalid number: 'x'\n"),
    ] {
        let result = run(&format!("mkdir /t; cd /t; {script}")).await;
        assert_eq!((&*result.stdout, &*result.stderr), (output, messages), "{script}");
    }
}

#[test]
fn size_has_a_sign_and_a_unit() {
    for (text, size) in [
        ("100", TargetSize::Absolute(100)),
        ("1K", TargetSize::Absolute(1024)),
        ("2KB", TargetSize::Absolute(2000)),
        ("2k", TargetSize::Absolute(2048)),
        ("2MiB", TargetSize::Absolute(2 << 20)),
        ("1M", TargetSize::Absolute(1 << 20)),
        ("3B", TargetSize::Absolute(3)),
        ("1EB", TargetSize::Absolute(1_000_000_000_000_000_000)),
        ("+100", TargetSize::ExtendBy(100)),
        ("-50", TargetSize::ReduceBy(50)),
        ("<200", TargetSize::AtMost(200)),
        (">300", TargetSize::AtLeast(300)),
        ("/16", TargetSize::RoundDownTo(16)),
        ("%16", TargetSize::RoundUpTo(16)),
    ] {
        assert_eq!(TargetSize::parse(text), Ok(size), "{text}");
    }
    for wrong in ["abc", "100Q", "", "+", "1p", "1iB", "99E"] {
        assert_eq!(TargetSize::parse(wrong), Err(format!("Invalid number: '{wrong}'")));
    }
}

#[test]
fn size_depends_on_the_current_one() {
    for (size, current, resolved) in [
        (TargetSize::Absolute(100), 50, 100),
        (TargetSize::ExtendBy(10), 50, 60),
        (TargetSize::ReduceBy(20), 50, 30),
        (TargetSize::ReduceBy(100), 50, 0),
        (TargetSize::AtMost(40), 50, 40),
        (TargetSize::AtMost(60), 50, 50),
        (TargetSize::AtLeast(40), 50, 50),
        (TargetSize::AtLeast(60), 50, 60),
        (TargetSize::RoundDownTo(16), 50, 48),
        (TargetSize::RoundUpTo(16), 50, 64),
        (TargetSize::RoundUpTo(16), 48, 48),
    ] {
        assert_eq!(size.resolve(current), Ok(resolved), "{size:?}");
    }
    for size in [TargetSize::RoundDownTo(0), TargetSize::RoundUpTo(0), TargetSize::ExtendBy(u64::MAX)] {
        assert!(size.resolve(10).is_err(), "{size:?}");
    }
}
