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
    ("mkdir d; echo a > d/f; tar -cf t.tar d; rm -r d; tar --strip-components=1 -xvf t.tar; cat f", "d/f\na\n"),
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

/// Directory with files whose times are known.
const TREE: &str = "mkdir -p p/src p/doc; echo a > p/a.txt; echo b > p/src/b.rs; echo c > p/doc/c.md; echo l > p/x.log; \
                    ln -s a.txt p/lnk; \
                    touch -d '2024-01-02 03:04:05' p/a.txt p/src/b.rs p/doc/c.md p/x.log p/src p/doc p; ";

async fn check_tree(cases: &[(&str, &str)]) {
    for (script, output) in cases {
        let result = run(&format!("{TREE}{script}")).await;
        assert_eq!(&*result.stdout, *output, "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn tar_with_set_attributes_makes_the_bytes_of_gnus() {
    check_tree(&[
        (
            "tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf x.tar p; sha256sum x.tar",
            "61d55fc5381b57bf723f77cf785dccf6fbc3e51dbbf2e2d7e8c17bc8b786393d  x.tar\n",
        ),
        (
            "mkdir d; n=$(printf 'x%.0s' {1..120}); echo a > d/$n; \
             tar --owner=0 --group=0 --mtime=@0 --sort=name -cf t.tar d; sha256sum t.tar",
            "18448d78ed8c6ceed9a814b6981baf6ff0c71977ab82bcc68a9ad66a34c00e71  t.tar\n",
        ),
        (
            "mkdir d; echo a > d/f; tar --owner=root --group=root --mtime=@0 -cf t.tar d; sha256sum t.tar",
            "96e7ce5286afc477c4371018b8308b71e0a76636c3782826a3b6c279d4620c12  t.tar\n",
        ),
        ("tar cf - p | wc -c; tar cb 1 p/a.txt | wc -c", "10240\n2048\n"),
    ])
    .await;
}

#[tokio::test]
async fn tar_attributes_are_those_of_the_options() {
    check_tree(&[
        ("tar cf x --owner=bob:7 --group=g:8 p/a.txt; tar tvf x; tar tvf x --numeric-owner", OWNERS),
        ("tar cf x --owner=0 --group=0 --mode=600 --mtime='2020-01-01 UTC' p/a.txt; tar tvf x", MODE),
        ("tar cf x --owner=0 --group=0 p/a.txt; tar tvf x --full-time | cut -c 32-", "2024-01-02 03:04:05 p/a.txt\n"),
        ("tar cvvf x --owner=a:1 --group=b:2 p/a.txt", "-rw-r--r-- a/b               2 2024-01-02 03:04 p/a.txt\n"),
    ])
    .await;
}

const OWNERS: &str = "-rw-r--r-- bob/g             2 2024-01-02 03:04 p/a.txt\n\
                      -rw-r--r-- 7/8               2 2024-01-02 03:04 p/a.txt\n";
const MODE: &str = "-rw------- root/root         2 2020-01-01 00:00 p/a.txt\n";

#[tokio::test]
async fn tar_names_are_selected_and_changed() {
    check_tree(&[
        ("tar cvf x --transform 's/^p/q/' p/src; tar tf x", "p/src/\np/src/b.rs\nq/src/\nq/src/b.rs\n"),
        ("tar cvf x --show-transformed-names --xform 's,^p/,,' p/src", "src/\nsrc/b.rs\n"),
        ("tar cf x p/src; tar xf x --transform 's/^p/q/'; ls q/src", "b.rs\n"),
        ("printf '*.log\\nsrc\\n' > ex; tar cf x -X ex p; tar tf x", "p/\np/a.txt\np/doc/\np/doc/c.md\np/lnk\n"),
        ("find p -name '*.md' -print0 | tar --null -czf x -T -; tar tf x", "p/doc/c.md\n"),
        ("mkdir p/.git; touch p/.git/x; tar cf x --exclude-vcs p; tar tf x | grep -c git", "0\n"),
        ("tar cf x --no-recursion p; tar tf x", "p/\n"),
        ("tar cf x --transform='s,^p/,v1/,' p/src p; tar tf x | sort -u | head -3", "p/\nv1/a.txt\nv1/doc/\n"),
        ("tar cf x -C p a.txt -C src b.rs; tar tf x", "a.txt\nb.rs\n"),
        ("tar cf x --newer-mtime=2024-06-01 p/a.txt p/src; tar tf x", "p/src/\n"),
        ("tar cf x -h p/lnk; tar tvf x | cut -c 1", "-\n"),
        ("tar cf x.tar p/src; tar xf x.tar --one-top-level --strip=1; find x | sort", "x\nx/src\nx/src/b.rs\n"),
        ("tar cf x --remove-files p/src p/doc; ls p", "a.txt\nlnk\nx.log\n"),
        ("tar cfz x.tgz p/a.txt; tar -tf x.tgz; tar -I gzip -cf y p/a.txt; zcat y | tar t", "p/a.txt\np/a.txt\n"),
    ])
    .await;
}

#[tokio::test]
async fn tar_compares_and_deletes_members() {
    check_tree(&[
        ("tar cf x p/src; tar df x && echo same; tar dvf x", "same\np/src/\np/src/b.rs\n"),
        (
            "tar cf x p; echo more >> p/a.txt; tar df x; echo $?",
            "p/a.txt: Mod time differs\np/a.txt: Size differs\n1\n",
        ),
        ("tar cf x p; rm p/a.txt; tar df x 2>&1", "tar: p/a.txt: Warning: Cannot stat: No such file or directory\n"),
        ("tar cf x p/a.txt p/src; tar --delete -f x p/a.txt; tar tf x; wc -c < x", "p/src/\np/src/b.rs\n10240\n"),
        ("tar cf x p/a.txt; tar --delete -f x none 2>&1 | head -1", "tar: none: Not found in archive\n"),
    ])
    .await;
}

#[tokio::test]
async fn tar_of_posix_formats_keeps_names() {
    let long = "d".repeat(90) + "/" + &"f".repeat(90);
    let longer = "f".repeat(120);
    let files = format!("mkdir {}; echo a > {long}; echo b > {longer}; ln -s {longer} l; ", "d".repeat(90));
    for format in ["ustar", "posix", "pax"] {
        let script = format!("{files} tar cf x --format={format} {long} l; tar tf x; od -A n -c -j 257 -N 8 x");
        let result = crate::commands::testing::run(&script).await;
        let listed = if format == "ustar" { format!("{long}\n") } else { format!("{long}\nl\n") };
        assert_eq!(&*result.stdout, listed + "   u   s   t   a   r  \\0   0   0\n", "{format}");
    }
    for (format, output) in [("ustar", "2\n"), ("pax", "0\nb\n"), ("gnu", "0\nb\n")] {
        let script = format!("{files} tar cf x -H {format} {longer} 2>/dev/null; echo $?; tar xOf x");
        assert_eq!(&*crate::commands::testing::run(&script).await.stdout, output, "{format}");
    }
}

#[tokio::test]
async fn tar_of_a_directory_tells_of_the_archive_in_it() {
    let result =
        crate::commands::testing::run("echo a > f; tar cf x.tar .; tar tf x.tar; tar cPf y $PWD/f; tar tf y").await;
    assert_eq!(result.stdout.lines().take(2).collect::<Vec<_>>(), ["./", "./f"]);
    let notices = "tar: ./x.tar: file is the archive; not dumped\ntar: Removing leading `/' from member names\n";
    assert_eq!((&*result.stderr, result.exit_code), (notices, 0));
}

#[tokio::test]
async fn tar_compresses_as_an_option_or_the_name_says() {
    check_tree(&[
        ("tar cJf x p; head -c 6 x | od -An -c; tar tf x | head -1", " 375   7   z   X   Z  \\0\np/\n"),
        ("tar cf x.tar.zst -a p; head -c 4 x.tar.zst | od -An -tx1; tar tf x.tar.zst | head -1", " 28 b5 2f fd\np/\n"),
        ("tar --zstd -cf x p; tar --zstd -tf x | head -1; tar c --lzma p | tar t --lzma | head -1", "p/\np/\n"),
        ("tar cf x.txz -a p; mkdir d; tar xf x.txz -C d; ls d; tar -I xz -cf - p | xz -d | tar t | head -1", "p\np/\n"),
    ])
    .await;
}

#[tokio::test]
async fn tar_into_what_cannot_be_written_fails_and_the_script_goes_on() {
    for (script, messages, status) in [
        (
            "echo a > f; tar cf x f; mkdir -p d/f/g; tar xf x -C d; echo $?",
            "tar: f: Cannot open: Is a directory\ntar: Exiting with failure status due to previous errors\n",
            "2\n",
        ),
        (
            "mkdir d; echo a > d/f; tar cf x d; rm -r d; echo > d; tar xf x; echo $?",
            // The files of these tests call a file in the place of a directory one.
            "tar: d: Cannot mkdir: directory exists\ntar: d: Cannot mkdir: directory exists\n\
             tar: d/f: Cannot open: No such file or directory\n\
             tar: Exiting with failure status due to previous errors\n",
            "2\n",
        ),
        (
            "mkdir d; tar tf d; echo $?",
            "tar: d: Cannot read: Is a directory\ntar: At beginning of tape, quitting now\n\
             tar: Error is not recoverable: exiting now\n",
            "2\n",
        ),
    ] {
        let result = crate::commands::testing::run(script).await;
        assert_eq!((&*result.stderr, &*result.stdout), (messages, status), "{script}");
    }
}

#[tokio::test]
async fn tar_call_that_cannot_be_obeyed_is_an_error() {
    check_tree(&[
        ("tar cZf x p 2>&1 | head -1; ls x", "tar (child): compress: Cannot exec: No such file or directory\n"),
        ("tar cf x.tar.lz -a p 2>&1 | head -1", "tar (child): lz: Cannot exec: No such file or directory\n"),
        ("tar cf x --format=v7 p 2>/dev/null; echo $?", "2\n"),
        (
            "tar cf x --no p 2>&1 | cut -c 1-40",
            "tar: option '--no' is ambiguous; possibi\nTry 'tar --help' or 'tar --usage' for mo\n",
        ),
        ("tar cf x --transform y/a/b/ p 2>&1 | head -1", "tar: Invalid transform expression\n"),
        ("tar cf 2>&1 | head -1", "tar: Old option 'f' requires an argument.\n"),
        ("tar tf p/a.txt 2>&1 | head -1", "tar: This does not look like a tar archive\n"),
    ])
    .await;
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
        Tar::default().execute(ctx).await.expect("no error of the shell")
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
        let result = Tar::default().execute(ctx).await.expect("no error of the shell");
        assert_eq!((result.stdout.len(), result.exit_code), (0, 2));
        assert!(result.stderr.contains(reason), "{}", &*result.stderr);
    }
}
