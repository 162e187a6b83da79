//! Grants of files: each denial has a twin that is allowed.

use super::*;

/// Tries every way to change an entry at a path.
fn attempts(tool: &mut FilesFixture, at: u32, path: &str) -> Vec<Result<(), Code>> {
    vec![
        tool.open(at, path, "w").map(drop),
        tool.open(at, path, "rt").map(drop),
        tool.put(at, path, "x"),
        tool.unlink(at, path),
        tool.rename(at, path, at, path),
        tool.touch(at, path),
    ]
}

/// Tries every way to create an entry at an unused path.
pub(super) fn makings(tool: &mut FilesFixture, at: u32, path: &str) -> Vec<Result<(), Code>> {
    vec![
        tool.put(at, path, "x"),
        tool.open(at, path, "rc").map(drop),
        tool.mkdir(at, path),
        tool.symlink(at, "x", path),
    ]
}

#[test]
fn tool_without_file_grant_has_no_files() {
    let mut tool = FilesFixture::new(&[]);
    assert_eq!(tool.preopens(), []);
    let mut unborn = FilesFixture { files: ToolFiles::new(), table: ResourceTable::new() };
    assert_eq!(unborn.preopens(), []);
    assert_eq!(unborn.changed(), [""; 0]);
}

#[test]
fn granted_directories_are_preopened_by_their_names() {
    let mut tool = FilesFixture::new(&[("/workspace/out", true), ("/workspace/in", false), ("/workspace/in", false)]);
    let names: Vec<_> = tool.preopens().into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["/workspace/in", "/workspace/out"]);
    for (path, flags) in [
        ("/workspace/in", DescriptorFlags::READ),
        ("/workspace/out", DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY),
    ] {
        let at = tool.at(path);
        assert_eq!(told(tool.view().get_flags(handle(at))), Ok(flags));
        assert_eq!(told(tool.view().get_type(handle(at))), Ok(DescriptorType::Directory));
    }
}

#[test]
fn readable_grant_allows_reads_and_denies_changes() {
    let mut tool = FilesFixture::new(&[("/workspace/in", false)]);
    let at = tool.at("/workspace/in");
    assert_eq!(tool.cat(at, "a").as_deref(), Ok("alpha"));
    assert_eq!(tool.cat(at, "d/../d//./b").as_deref(), Ok("beta"));
    assert_eq!(tool.ls(at, "."), Ok(vec!["a".to_owned(), "d".to_owned()]));
    let stat = tool.stat(at, "d/b").expect("there");
    assert_eq!((stat.type_, stat.size, stat.link_count), (DescriptorType::RegularFile, 4, 1));
    for path in ["a", "d/b"] {
        for attempt in attempts(&mut tool, at, path) {
            assert_eq!(attempt, Err(Code::ReadOnly), "{path}");
        }
    }
    for making in makings(&mut tool, at, "d/new") {
        assert_eq!(making, Err(Code::ReadOnly));
    }
    assert_eq!(tool.rmdir(at, "d"), Err(Code::ReadOnly));
    assert_eq!(tool.open(at, "d", "rdm"), Err(Code::ReadOnly));
    let file = tool.open(at, "a", "r").expect("granted");
    assert_eq!(tool.write(file, 0, "x"), Err(Code::BadDescriptor));
    assert_eq!(told(tool.view().set_size(handle(file), 0)), Err(Code::BadDescriptor));
    assert_eq!(told(tool.view().set_times(handle(file), NewTimestamp::Now, NewTimestamp::Now)), Err(Code::ReadOnly));
    assert!(tool.writer(file, Some(0)).is_err() && tool.writer(file, None).is_err());
    assert_eq!(tool.changed(), [""; 0]);
}

#[test]
fn writable_grant_allows_changes() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    for attempt in attempts(&mut tool, at, "a") {
        // Once it is unlinked, there is none.
        assert!(matches!(attempt, Ok(()) | Err(Code::NoEntry)), "{attempt:?}");
    }
    tool.put(at, "d/new", "n").expect("granted");
    tool.mkdir(at, "d/e").expect("granted");
    tool.rename(at, "d/b", at, "d/e/b").expect("granted");
    tool.symlink(at, "e/b", "d/l").expect("granted");
    assert_eq!(tool.cat(at, "d/l").as_deref(), Ok("beta"));
    assert!(tool.open(at, "d", "rdm").is_ok());
    let mut changed = tool.changed();
    changed.sort();
    let below = ["", "/a", "/d", "/d/b", "/d/e", "/d/e/b", "/d/l", "/d/new"];
    assert_eq!(changed, below.map(|path| format!("/workspace/in{path}")));
}

#[test]
fn path_outside_grant_is_denied_whether_or_not_it_exists() {
    let mut tool = FilesFixture::new(&[("/workspace/in/a", true), ("/workspace/out", false)]);
    let at = tool.at("/workspace/in");
    for path in ["d", "d/b", "none", "none/x", "d/../a"] {
        assert_eq!(tool.stat(at, path).map(drop), Err(Code::Access), "{path}");
        assert_eq!(tool.cat(at, path), Err(Code::Access), "{path}");
        assert_eq!(tool.readlink(at, path), Err(Code::Access), "{path}");
        for attempt in attempts(&mut tool, at, path).into_iter().chain(makings(&mut tool, at, path)) {
            assert_eq!(attempt, Err(Code::Access), "{path}");
        }
    }
    assert_eq!(tool.rename(at, "a", at, "b"), Err(Code::Access), "not out of the grant");
    assert_eq!(tool.cat(at, "a").as_deref(), Ok("alpha"));
    assert_eq!(tool.changed(), [""; 0]);
}

#[test]
fn granted_file_is_the_only_entry_visible_in_its_directory() {
    let mut tool =
        FilesFixture::new(&[("/workspace/secret", true), ("/workspace/new", true), ("/workspace/in/d", false)]);
    let names: Vec<_> = tool.preopens().into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["/workspace", "/workspace/in/d"]);
    let at = tool.at("/workspace");
    assert_eq!(tool.ls(at, "."), Ok(vec!["in".to_owned(), "secret".to_owned()]));
    assert_eq!(tool.ls(at, "in"), Ok(vec!["d".to_owned()]));
    let passage = tool.stat(at, "in").expect("it is on the way");
    assert_eq!((passage.type_, passage.size), (DescriptorType::Directory, 0));
    assert_eq!(tool.cat(at, "in/d/b").as_deref(), Ok("beta"));
    assert_eq!(tool.put(at, "in/d/b", ""), Err(Code::ReadOnly));
    assert_eq!(tool.touch(at, "in"), Err(Code::Access));
    assert_eq!(tool.touch(at, "."), Err(Code::Access));
    tool.put(at, "secret", "known").expect("granted");
    tool.put(at, "new", "made").expect("granted, though it was not there");
    assert_eq!(tool.ls(at, "."), Ok(["in", "new", "secret"].map(str::to_owned).to_vec()));
    tool.unlink(at, "secret").expect("granted");
    tool.mkdir(at, "secret").expect("a grant is of a path, not of a kind");
    assert_eq!(tool.put(at, "other", ""), Err(Code::Access));
}

#[test]
fn grants_that_overlap_add_up() {
    let mut tool = FilesFixture::new(&[("/workspace", false), ("/workspace/out", true), ("/workspace/out/x", false)]);
    for (at, path) in [("/workspace", "out/"), ("/workspace/out", "")] {
        let at = tool.at(at);
        assert_eq!(tool.put(at, &format!("{path}x"), "new"), Ok(()));
    }
    let at = tool.at("/workspace");
    assert_eq!(tool.put(at, "secret", ""), Err(Code::ReadOnly));
    assert_eq!(tool.cat(at, "secret").as_deref(), Ok("secret"));
}

#[test]
fn path_leading_out_of_its_directory_is_denied() {
    let mut tool = FilesFixture::new(&[("/workspace", true)]);
    let top = tool.at("/workspace");
    let at = tool.open(top, "in", "rd").expect("granted");
    let escapes = ["..", "../secret", "d/../../secret", "/workspace/in/a", "/", "/etc/host", "./../in/a"];
    for path in escapes {
        assert_eq!(tool.cat(at, path), Err(Code::NotPermitted), "{path}");
        assert_eq!(tool.stat(at, path).map(drop), Err(Code::NotPermitted), "{path}");
        for attempt in attempts(&mut tool, at, path).into_iter().chain(makings(&mut tool, at, path)) {
            assert_eq!(attempt, Err(Code::NotPermitted), "{path}");
        }
        assert_eq!(tool.rename(at, "a", at, path), Err(Code::NotPermitted), "{path}");
        assert_eq!(tool.rmdir(at, path), Err(Code::NotPermitted), "{path}");
    }
    assert_eq!(tool.cat(at, "d/../a").as_deref(), Ok("alpha"));
    assert_eq!(tool.cat(top, "in/../secret").as_deref(), Ok("secret"));
}

#[test]
fn link_leading_out_of_its_directory_is_denied() {
    let mut tree = tree();
    let links = [
        ("/workspace/secret", "in/absolute"),
        ("/workspace/in/a", "in/absolutely-here"),
        ("../secret", "in/up"),
        ("..", "in/parent"),
        ("a", "in/fine"),
        ("d/../fine", "in/finer"),
        ("../secret", "out/secret"),
    ];
    for (target, path) in links {
        tree.create_link(target, &format!("/workspace/{path}"), 1).expect("writable");
    }
    let mut tool = FilesFixture::on(tree, &[("/workspace/in", true), ("/workspace/new", true)]);
    let at = tool.at("/workspace/in");
    for path in ["absolute", "absolutely-here", "up", "parent", "parent/secret", "parent/in/a"] {
        assert_eq!(tool.cat(at, path), Err(Code::NotPermitted), "{path}");
        assert_eq!(tool.put(at, path, ""), Err(Code::NotPermitted), "{path}");
    }
    let top = tool.at("/workspace");
    assert_eq!(tool.cat(top, "in/up"), Err(Code::Access), "inside of the directory, outside of the grants");
    assert_eq!(tool.put(top, "in/up", ""), Err(Code::Access));
    assert_eq!(tool.touch(top, "in/up"), Err(Code::Access));
    assert_eq!(tool.cat(at, "fine").as_deref(), Ok("alpha"));
    assert_eq!(tool.cat(at, "finer").as_deref(), Ok("alpha"));
    // The links themselves are inside.
    assert_eq!(tool.stat(at, "up").map(|stat| (stat.type_, stat.size)), Ok((DescriptorType::SymbolicLink, 9)));
    assert_eq!(tool.readlink(at, "up").as_deref(), Ok("../secret"));
    assert_eq!(tool.readlink(at, "absolute"), Err(Code::NotPermitted));
    assert_eq!(tool.readlink(at, "a"), Err(Code::Invalid));
    tool.unlink(at, "absolute").expect("granted");
    assert_eq!(tool.symlink(at, "/workspace/secret", "l"), Err(Code::NotPermitted));
    assert_eq!(tool.symlink(at, "", "l"), Err(Code::NoEntry));
    tool.symlink(at, "../secret", "l").expect("a link may say anything relative");
    assert_eq!(tool.cat(at, "l"), Err(Code::NotPermitted), "and leads nowhere");
}

#[test]
fn grant_on_a_linked_path_does_not_follow_the_link() {
    let mut tree = tree();
    tree.rename("/workspace/in", "/workspace/was", 2).expect("writable");
    tree.create_link("out", "/workspace/in", 2).expect("writable");
    let mut tool = FilesFixture::on(tree, &[("/workspace/in", true)]);
    let at = tool.at("/workspace");
    assert_eq!(tool.cat(at, "in/x"), Err(Code::Access));
    assert_eq!(tool.ls(at, "."), Ok(vec!["in".to_owned()]));
    assert_eq!(tool.readlink(at, "in").as_deref(), Ok("out"));
}

#[test]
fn renaming_needs_both_ends() {
    let mut tool = FilesFixture::new(&[("/workspace/in", false), ("/workspace/out", true), ("/tmp", true)]);
    let (read, write, tmp) = (tool.at("/workspace/in"), tool.at("/workspace/out"), tool.at("/tmp"));
    assert_eq!(tool.rename(read, "a", write, "a"), Err(Code::ReadOnly));
    assert_eq!(tool.rename(write, "x", read, "x"), Err(Code::ReadOnly));
    assert_eq!(tool.rename(write, "x", read, "a"), Err(Code::ReadOnly));
    assert_eq!(tool.rename(write, "none", tmp, "x"), Err(Code::NoEntry));
    assert_eq!(tool.rename(write, ".", tmp, "x"), Err(Code::Invalid));
    tool.rename(write, "x", tmp, "y").expect("granted");
    assert_eq!(tool.cat(tmp, "y").as_deref(), Ok("xx"));
    tool.mkdir(tmp, "d").expect("granted");
    assert_eq!(tool.rename(tmp, "d", tmp, "d/e"), Err(Code::Invalid));
    assert_eq!(tool.rename(tmp, "y", tmp, "d"), Err(Code::IsDirectory));
    assert_eq!(tool.rename(tmp, "d", tmp, "y"), Err(Code::NotDirectory));
    assert_eq!(tool.rename(tmp, "y", tmp, "y"), Ok(()));
}

#[test]
fn path_read_only_in_session_is_read_only_for_tools() {
    let mut tool = FilesFixture::new(&[("/etc", true), ("/", true)]);
    let (etc, root) = (tool.at("/etc"), tool.at("/"));
    assert_eq!(tool.cat(etc, "host").as_deref(), Ok("tollhouse"));
    assert_eq!(tool.put(etc, "host", ""), Err(Code::Access));
    assert_eq!(tool.put(etc, "new", ""), Err(Code::Access));
    assert_eq!(tool.rename(root, "etc/host", root, "tmp/host"), Err(Code::Access));
    assert_eq!(tool.put(root, "tmp/new", ""), Ok(()));
    tool.unlink(root, "workspace/secret").expect("granted");
    assert_eq!(tool.rmdir(root, "tmp"), Err(Code::Access));
    assert_eq!(tool.ls(root, "."), Ok(["etc", "tmp", "workspace"].map(str::to_owned).to_vec()));
}
