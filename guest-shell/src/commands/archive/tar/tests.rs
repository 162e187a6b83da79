//! Scripts with `tar`, with what GNU's prints of them, and archives that no `tar` makes.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bashkit::ExecResult;
use bashkit::builtins::{Builtin, Context};
use bashkit::fs::{FileSystem, FsLimits, InMemoryFs};

use super::Tar;
use crate::commands::testing::run;

/// Scripts and their output.
const SCRIPTS: &[(&str, &str)] = &[
    ("echo a > f; tar -cf t.tar f; tar -tf t.tar", "f\n"),
    ("echo a > f; tar cf t.tar f; rm f; tar xf t.tar; cat f", "a\n"),
    ("echo a > f; tar -cvf t.tar f", "f\n"),
    ("mkdir d; echo a > d/f; tar -cf t.tar d; tar -tf t.tar", "d/\nd/f\n"),
    ("echo a > f; tar cjf t.tbz2 f; head -c 3 t.tbz2; tar --bzip2 -tf t.tbz2; tar -xOjf t.tbz2", "BZhf\na\n"),
    ("echo a > f; tar -caf t.tgz f; head -c 2 t.tgz | xxd -p; tar -tf t.tgz", "1f8b\nf\n"),
    ("echo a > f; echo b > g; tar -cf t.tar f; tar -rf t.tar g; tar -tf t.tar", "f\ng\n"),
    ("echo a > f; tar -cf t.tar f; tar -uf t.tar f; tar -tf t.tar", "f\n"),
    ("echo a > f; echo f > l; tar -cf t.tar -T l; tar -tf t.tar f", "f\n"),
    ("mkdir d; echo a > d/f; echo b > d/g.log; tar -cf t.tar --exclude='*.log' d; tar -tf t.tar", "d/\nd/f\n"),
    ("mkdir d; echo a > d/f; tar -cf t.tar d; rm -r d; tar --strip-components=1 -xvf t.tar; cat f", "f\na\n"),
    ("mkdir d o; echo a > d/f; tar -cf t.tar -C d f; tar -xf t.tar -C o; cat o/f", "a\n"),
    ("echo a > f; ln -s f l; tar -cf t.tar l; rm l; tar -xf t.tar; readlink l", "f\n"),
    ("echo a > f; tar -cf t.tar f; tar -tf t.tar g 2>&1; echo $?", NOT_FOUND),
    ("tar -cf t.tar 2>&1; echo $?", COWARDLY),
    ("tar -cf t.tar none 2>/dev/null; echo $?", "2\n"),
    ("tar -f t.tar 2>/dev/null; echo $?", "2\n"),
    ("tar -cxf t.tar 2>/dev/null; echo $?", "2\n"),
    ("tar qf t.tar 2>&1 | head -1; tar -xf 2>&1 | head -1", INVALID_OPTIONS),
    ("tar -xf none 2>&1; echo $?", CANNOT_OPEN),
];

const NOT_FOUND: &str = "tar: g: Not found in archive\ntar: Exiting with failure status due to previous errors\n2\n";
const COWARDLY: &str = "tar: Cowardly refusing to create an empty archive\n\
                        Try 'tar --help' or 'tar --usage' for more information.\n2\n";
const INVALID_OPTIONS: &str = "tar: invalid option -- 'q'\ntar: option requires an argument -- 'f'\n";
const CANNOT_OPEN: &str =
    "tar: none: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now\n2\n";

#[tokio::test]
async fn tar_output_is_gnus() {
    for (script, output) in SCRIPTS {
        let result = run(script).await;
        assert_eq!(&*result.stdout, *output, "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn tar_name_list_is_read_as_text_with_replacements() {
    let result = run("printf 'a\\377\\360\\237\\n' > l; tar -cf t.tar -T l").await;
    let messages = "tar: a\u{fffd}\u{fffd}: Cannot stat: No such file or directory\n\
                    tar: Exiting with failure status due to previous errors\n";
    assert_eq!((&*result.stderr, result.exit_code), (messages, 2));
}

/// Member that a test puts into an archive.
struct CraftedMember<'a> {
    name: &'a str,
    kind: u8,
    /// Digits of the size, if they are not those of the content.
    size: Option<&'a str>,
    content: &'a [u8],
}

impl<'a> CraftedMember<'a> {
    fn file(name: &'a str, content: &'a [u8]) -> Self {
        Self { name, kind: b'0', size: None, content }
    }

    fn empty(name: &'a str, kind: u8) -> Self {
        Self { name, kind, size: None, content: b"" }
    }

    fn blocks(&self) -> Vec<u8> {
        let mut header = [0u8; 512];
        let size = self.size.map_or_else(|| format!("{:011o}", self.content.len()), str::to_owned);
        for (place, field) in [(0, self.name), (100, "0000644"), (124, &size), (136, "00000000000"), (257, "ustar  ")] {
            header[place..place + field.len()].copy_from_slice(field.as_bytes());
        }
        header[156] = self.kind;
        header[148..156].fill(b' ');
        let checksum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{checksum:06o}\0").as_bytes());
        let mut blocks = header.to_vec();
        blocks.extend_from_slice(self.content);
        blocks.resize(blocks.len().next_multiple_of(512), 0);
        blocks
    }
}

fn archive(members: &[CraftedMember<'_>]) -> Vec<u8> {
    let mut archive: Vec<u8> = members.iter().flat_map(CraftedMember::blocks).collect();
    archive.extend_from_slice(&[0u8; 1024]);
    archive
}

/// Directory with an archive in the file `t.tar`.
struct ArchiveFolder {
    fs: Arc<InMemoryFs>,
    cwd: PathBuf,
}

impl ArchiveFolder {
    async fn new(limits: FsLimits, archive: &[u8]) -> Self {
        let fs = Arc::new(InMemoryFs::with_limits(limits));
        let cwd = PathBuf::from("/home/user");
        fs.mkdir(&cwd, true).await.expect("a directory");
        fs.write_file(&cwd.join("t.tar"), archive).await.expect("a file");
        Self { fs, cwd }
    }

    async fn tar(&mut self, option: &str) -> ExecResult {
        let words = [option.to_owned(), "t.tar".to_owned()];
        let (env, mut variables) = (HashMap::new(), HashMap::new());
        let ctx = Context::new_for_test(&words, &env, &mut variables, &mut self.cwd, self.fs.clone(), None);
        Tar.execute(ctx).await.expect("no error of the shell")
    }

    async fn has(&self, name: &str) -> bool {
        self.fs.exists(&self.cwd.join(name)).await.expect("a path")
    }
}

#[tokio::test]
async fn tar_extract_of_a_name_outside_of_the_directory_is_refused() {
    for member in [
        CraftedMember::file("../../../etc/passwd", b"x"),
        CraftedMember::file("/etc/passwd", b"x"),
        CraftedMember::empty("../../etc/", b'5'),
    ] {
        let archive = archive(&[CraftedMember::file("before", b"x"), member]);
        let mut folder = ArchiveFolder::new(FsLimits::new(), &archive).await;
        let result = folder.tar("-xf").await;
        assert_eq!(result.exit_code, 2);
        assert!(result.stderr.contains("path traversal blocked"), "{}", &*result.stderr);
        assert!(!folder.fs.exists(Path::new("/etc")).await.expect("a path"));
        assert!(!folder.has("before").await, "nothing is extracted before the check");
    }
}

#[tokio::test]
async fn tar_of_a_size_that_is_no_number_fails() {
    let member = CraftedMember { size: Some("88888888888"), ..CraftedMember::file("bad.txt", b"payload") };
    let mut folder = ArchiveFolder::new(FsLimits::new(), &archive(&[member])).await;
    for option in ["-xf", "-tf"] {
        let result = folder.tar(option).await;
        assert_eq!((&*result.stderr, result.exit_code), ("tar: bad.txt: invalid size field\n", 2), "{option}");
    }
    assert!(!folder.has("bad.txt").await);
}

#[tokio::test]
async fn tar_extract_tells_of_kinds_that_it_skips() {
    for (kind, reason) in [(b'1', "hard link skipped (not supported in VFS)"), (b'3', "unsupported entry type skipped")]
    {
        let mut folder = ArchiveFolder::new(FsLimits::new(), &archive(&[CraftedMember::empty("skipped", kind)])).await;
        let result = folder.tar("-xf").await;
        assert_eq!((&*result.stderr, result.exit_code), (&*format!("tar: skipped: {reason}\n"), 0));
        assert!(!folder.has("skipped").await);
    }
}

#[tokio::test]
async fn tar_extract_of_a_directory_with_contents_skips_them() {
    let hidden = archive(&[CraftedMember::file("hidden", b"x")]);
    let directory = CraftedMember { content: &hidden, ..CraftedMember::empty("d/", b'5') };
    let mut folder = ArchiveFolder::new(FsLimits::new(), &archive(&[directory])).await;
    for (option, listed) in [("-xvf", "d/\n"), ("-rf", ""), ("-tf", "d/\n")] {
        let result = folder.tar(option).await;
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (listed, "", 0), "{option}");
    }
    assert!(folder.has("d").await);
    assert!(!folder.has("hidden").await);
}

#[tokio::test]
async fn tar_extract_to_stdout_above_a_limit_fails() {
    let archive = archive(&[CraftedMember::file("one", &[b'a'; 3000]), CraftedMember::file("two", &[b'b'; 2500])]);
    let input = std::str::from_utf8(&archive).expect("text");
    for (limits, reason) in [
        (FsLimits::new().max_file_size(2000).max_total_bytes(20_000), "file too large"),
        (FsLimits::new().max_file_size(10_000).max_total_bytes(5000), "filesystem full"),
    ] {
        let fs = Arc::new(InMemoryFs::with_limits(limits));
        let mut cwd = PathBuf::from("/");
        let words = ["-xOf".to_owned(), "-".to_owned()];
        let (env, mut variables) = (HashMap::new(), HashMap::new());
        let ctx = Context::new_for_test(&words, &env, &mut variables, &mut cwd, fs, Some(input));
        let result = Tar.execute(ctx).await.expect("no error of the shell");
        assert_eq!((result.stdout.len(), result.exit_code), (0, 2));
        assert!(result.stderr.contains(reason), "{}", &*result.stderr);
    }
}
