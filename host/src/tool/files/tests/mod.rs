//! A tool's files, called as its bindings would call them. What is denied has a twin that is not.

mod component;

use std::collections::BTreeMap;

use proptest::prelude::*;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host as _;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, Host as _, HostDescriptor as _,
    HostDirectoryEntryStream as _, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsResult, StreamError};

use super::*;
use crate::vfs::{Grant, WriteMode};

const LIMITS: Limits = Limits { bytes: 8 << 20, entries: 40, file_bytes: 6 << 20 };

const NOW: u64 = 5_000_000_007;

/// `/workspace/in/{a, d/b}`, `/workspace/out/x`, `/workspace/secret`, `/etc/host`.
fn tree() -> Tree {
    let mut tree = Tree::new(LIMITS, 0);
    let files =
        [("in/a", "alpha"), ("in/d/b", "beta"), ("out/x", "xx"), ("secret", "secret"), ("../etc/host", "tollhouse")];
    for (path, text) in files {
        tree.place_file(&format!("/workspace/{path}"), text.as_bytes(), 0o644, 1).expect("within limits");
    }
    tree
}

fn scope(grants: &[(&str, bool)]) -> Scope {
    let grant = |(path, write): &(&str, bool)| Grant { path: (*path).to_owned(), write: *write };
    Scope::new(&grants.iter().map(grant).collect::<Vec<_>>()).expect("absolute paths")
}

/// A tool with its files. Handles are plain numbers here.
struct Tool {
    files: Files,
    table: ResourceTable,
}

fn told<T>(result: FsResult<T>) -> Result<T, Code> {
    result.map_err(|error| error.downcast().expect("an error code, and no trap"))
}

fn handle(rep: u32) -> Resource<Descriptor> {
    Resource::new_borrow(rep)
}

const FOLLOW: PathFlags = PathFlags::SYMLINK_FOLLOW;

impl Tool {
    fn on(tree: Tree, grants: &[(&str, bool)]) -> Tool {
        let mut files = Files::new();
        files.begin(tree, scope(grants), NOW);
        Tool { files, table: ResourceTable::new() }
    }

    fn new(grants: &[(&str, bool)]) -> Tool {
        Tool::on(tree(), grants)
    }

    fn view(&mut self) -> FilesView<'_> {
        FilesView { files: &mut self.files, table: &mut self.table }
    }

    fn preopens(&mut self) -> Vec<(u32, String)> {
        let all = self.view().get_directories().expect("no trap");
        all.into_iter().map(|(handle, path)| (handle.rep(), path)).collect()
    }

    fn at(&mut self, path: &str) -> u32 {
        let preopens = self.preopens();
        let found = preopens.iter().find(|(_, name)| name == path).map(|(rep, _)| *rep);
        preopens.iter().filter(|(rep, _)| Some(*rep) != found).for_each(|(rep, _)| self.close(*rep));
        found.unwrap_or_else(|| panic!("`{path}` is not preopened: {preopens:?}"))
    }

    /// Opens with flags by letter: read, write, create, exclusive, truncate, directory, mutate, not following.
    fn open(&mut self, at: u32, path: &str, how: &str) -> Result<u32, Code> {
        let has = |letter| how.contains(letter);
        let follow = if has('n') { PathFlags::empty() } else { FOLLOW };
        let open = [
            ('c', OpenFlags::CREATE),
            ('x', OpenFlags::EXCLUSIVE),
            ('t', OpenFlags::TRUNCATE),
            ('d', OpenFlags::DIRECTORY),
        ];
        let open = open.into_iter().filter(|(l, _)| has(*l)).fold(OpenFlags::empty(), |all, (_, flag)| all | flag);
        let flags =
            [('r', DescriptorFlags::READ), ('w', DescriptorFlags::WRITE), ('m', DescriptorFlags::MUTATE_DIRECTORY)];
        let flags =
            flags.into_iter().filter(|(l, _)| has(*l)).fold(DescriptorFlags::empty(), |all, (_, flag)| all | flag);
        told(self.view().open_at(handle(at), follow, path.to_owned(), open, flags)).map(|opened| opened.rep())
    }

    fn close(&mut self, rep: u32) {
        types::HostDescriptor::drop(&mut self.view(), Resource::new_own(rep)).expect("it is open");
    }

    fn read(&mut self, rep: u32, offset: u64, length: u64) -> Result<(String, bool), Code> {
        let read = told(self.view().read(handle(rep), length, offset));
        read.map(|(bytes, end)| (String::from_utf8(bytes).expect("text"), end))
    }

    fn all(&mut self, rep: u32) -> Result<String, Code> {
        self.read(rep, 0, u64::MAX).map(|(text, _)| text)
    }

    fn cat(&mut self, at: u32, path: &str) -> Result<String, Code> {
        let file = self.open(at, path, "r")?;
        let text = self.all(file);
        self.close(file);
        text
    }

    fn write(&mut self, rep: u32, offset: u64, text: &str) -> Result<u64, Code> {
        told(self.view().write(handle(rep), text.as_bytes().to_vec(), offset))
    }

    fn put(&mut self, at: u32, path: &str, text: &str) -> Result<(), Code> {
        let file = self.open(at, path, "wct")?;
        let written = self.write(file, 0, text);
        self.close(file);
        written.map(drop)
    }

    fn stat(&mut self, at: u32, path: &str) -> Result<DescriptorStat, Code> {
        told(self.view().stat_at(handle(at), PathFlags::empty(), path.to_owned()))
    }

    fn unlink(&mut self, at: u32, path: &str) -> Result<(), Code> {
        told(self.view().unlink_file_at(handle(at), path.to_owned()))
    }

    fn rmdir(&mut self, at: u32, path: &str) -> Result<(), Code> {
        told(self.view().remove_directory_at(handle(at), path.to_owned()))
    }

    fn mkdir(&mut self, at: u32, path: &str) -> Result<(), Code> {
        told(self.view().create_directory_at(handle(at), path.to_owned()))
    }

    fn rename(&mut self, at: u32, from: &str, other: u32, to: &str) -> Result<(), Code> {
        told(self.view().rename_at(handle(at), from.to_owned(), handle(other), to.to_owned()))
    }

    fn symlink(&mut self, at: u32, target: &str, path: &str) -> Result<(), Code> {
        told(self.view().symlink_at(handle(at), target.to_owned(), path.to_owned()))
    }

    fn readlink(&mut self, at: u32, path: &str) -> Result<String, Code> {
        told(self.view().readlink_at(handle(at), path.to_owned()))
    }

    fn touch(&mut self, at: u32, path: &str) -> Result<(), Code> {
        let (no, now) = (NewTimestamp::NoChange, NewTimestamp::Now);
        told(self.view().set_times_at(handle(at), FOLLOW, path.to_owned(), no, now))
    }

    fn list(&mut self, rep: u32) -> Result<Vec<String>, Code> {
        let stream = told(self.view().read_directory(handle(rep)))?.rep();
        let mut names = Vec::new();
        while let Some(entry) = told(self.view().read_directory_entry(Resource::new_borrow(stream)))? {
            names.push(entry.name);
        }
        types::HostDirectoryEntryStream::drop(&mut self.view(), Resource::new_own(stream)).expect("it is open");
        Ok(names)
    }

    fn ls(&mut self, at: u32, path: &str) -> Result<Vec<String>, Code> {
        let directory = self.open(at, path, "rd")?;
        let names = self.list(directory);
        self.close(directory);
        names
    }

    fn reader(&mut self, rep: u32, offset: u64) -> Result<DynInputStream, Code> {
        let stream = told(self.view().read_via_stream(handle(rep), offset))?;
        Ok(self.table.delete(stream).expect("just pushed"))
    }

    fn writer(&mut self, rep: u32, offset: Option<u64>) -> Result<DynOutputStream, Code> {
        let stream = told(match offset {
            Some(offset) => self.view().write_via_stream(handle(rep), offset),
            None => self.view().append_via_stream(handle(rep)),
        })?;
        Ok(self.table.delete(stream).expect("just pushed"))
    }

    fn changed(&mut self) -> Vec<String> {
        self.files.end().into_iter().map(|edit| edit.path).collect()
    }
}

/// Every way to change something at a path.
fn attempts(tool: &mut Tool, at: u32, path: &str) -> Vec<Result<(), Code>> {
    vec![
        tool.open(at, path, "w").map(drop),
        tool.open(at, path, "rt").map(drop),
        tool.put(at, path, "x"),
        tool.unlink(at, path),
        tool.rename(at, path, at, path),
        tool.touch(at, path),
    ]
}

/// Every way to make something at a path where nothing is.
fn makings(tool: &mut Tool, at: u32, path: &str) -> Vec<Result<(), Code>> {
    vec![
        tool.put(at, path, "x"),
        tool.open(at, path, "rc").map(drop),
        tool.mkdir(at, path),
        tool.symlink(at, "x", path),
    ]
}

#[test]
fn no_grant_means_no_files() {
    let mut tool = Tool::new(&[]);
    assert_eq!(tool.preopens(), []);
    let mut unborn = Tool { files: Files::new(), table: ResourceTable::new() };
    assert_eq!(unborn.preopens(), []);
    assert_eq!(unborn.changed(), [""; 0]);
}

#[test]
fn granted_directories_are_preopened_by_their_names() {
    let mut tool = Tool::new(&[("/workspace/out", true), ("/workspace/in", false), ("/workspace/in", false)]);
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
fn what_may_be_read_is_read_and_not_changed() {
    let mut tool = Tool::new(&[("/workspace/in", false)]);
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
fn what_may_be_written_is_changed() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
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
fn what_is_not_granted_is_not_even_looked_for() {
    let mut tool = Tool::new(&[("/workspace/in/a", true), ("/workspace/out", false)]);
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
fn a_granted_file_is_reached_in_its_directory_which_shows_nothing_else() {
    let mut tool = Tool::new(&[("/workspace/secret", true), ("/workspace/new", true), ("/workspace/in/d", false)]);
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
    let mut tool = Tool::new(&[("/workspace", false), ("/workspace/out", true), ("/workspace/out/x", false)]);
    for (at, path) in [("/workspace", "out/"), ("/workspace/out", "")] {
        let at = tool.at(at);
        assert_eq!(tool.put(at, &format!("{path}x"), "new"), Ok(()));
    }
    let at = tool.at("/workspace");
    assert_eq!(tool.put(at, "secret", ""), Err(Code::ReadOnly));
    assert_eq!(tool.cat(at, "secret").as_deref(), Ok("secret"));
}

#[test]
fn no_path_leads_out_of_its_directory() {
    let mut tool = Tool::new(&[("/workspace", true)]);
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
fn no_link_leads_out() {
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
    let mut tool = Tool::on(tree, &[("/workspace/in", true), ("/workspace/new", true)]);
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
fn a_grant_is_not_moved_by_a_link() {
    let mut tree = tree();
    tree.rename("/workspace/in", "/workspace/was", 2).expect("writable");
    tree.create_link("out", "/workspace/in", 2).expect("writable");
    let mut tool = Tool::on(tree, &[("/workspace/in", true)]);
    let at = tool.at("/workspace");
    assert_eq!(tool.cat(at, "in/x"), Err(Code::Access));
    assert_eq!(tool.ls(at, "."), Ok(vec!["in".to_owned()]));
    assert_eq!(tool.readlink(at, "in").as_deref(), Ok("out"));
}

#[test]
fn links_in_circles_end() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    tool.symlink(at, "two", "one").expect("granted");
    tool.symlink(at, "one", "two").expect("granted");
    assert_eq!(tool.cat(at, "one"), Err(Code::Loop));
    assert_eq!(tool.cat(at, "one/x"), Err(Code::Loop));
    assert_eq!(tool.open(at, "one", "rn"), Err(Code::Loop), "the link itself cannot be opened");
    assert_eq!(tool.stat(at, "one").map(|stat| stat.type_), Ok(DescriptorType::SymbolicLink));
}

#[test]
fn flags_of_open_mean_what_posix_says() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    assert_eq!(tool.open(at, "new", "rw"), Err(Code::NoEntry));
    assert_eq!(tool.open(at, "none/new", "wc"), Err(Code::NoEntry));
    assert_eq!(tool.open(at, "a", "wcx"), Err(Code::Exist));
    assert_eq!(tool.open(at, "a", "rd"), Err(Code::NotDirectory));
    assert_eq!(tool.open(at, "a/", "r"), Err(Code::NotDirectory));
    assert_eq!(tool.open(at, "a/x", "r"), Err(Code::NotDirectory));
    assert_eq!(tool.open(at, "new/", "wc"), Err(Code::IsDirectory));
    for how in ["w", "rc", "rt"] {
        assert_eq!(tool.open(at, "d", how), Err(Code::IsDirectory), "{how}");
    }
    for how in ["rdc", "rdt", "rdx"] {
        assert_eq!(tool.open(at, "d", how), Err(Code::Invalid), "{how}");
    }
    tool.symlink(at, "later", "l").expect("granted");
    assert_eq!(tool.open(at, "l", "wcx"), Err(Code::Exist), "a link that leads nowhere is there, too");
    let file = tool.open(at, "l", "wc").expect("made where the link leads");
    assert_eq!(tool.all(file), Err(Code::BadDescriptor), "not open for reading");
    assert_eq!(tool.stat(at, "later").map(|stat| stat.size), Ok(0));
    let file = tool.open(at, "a", "rwt").expect("there");
    assert_eq!(tool.all(file).as_deref(), Ok(""));
    let neither = tool.open(at, "d/b", "").expect("there");
    assert_eq!(tool.all(neither).as_deref(), Ok("beta"));
    assert_eq!(told(tool.view().get_flags(handle(neither))), Ok(DescriptorFlags::READ));
    let directory = tool.open(at, "d", "r").expect("there");
    assert_eq!(tool.all(directory), Err(Code::IsDirectory));
    assert_eq!(tool.write(directory, 0, "x"), Err(Code::BadDescriptor));
    assert_eq!(tool.open(file, "x", "r"), Err(Code::NotDirectory), "a file is no directory to begin at");
    assert_eq!(tool.list(file), Err(Code::NotDirectory));
}

#[test]
fn entries_are_removed_as_posix_says() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    assert_eq!(tool.unlink(at, "d"), Err(Code::IsDirectory));
    assert_eq!(tool.unlink(at, "."), Err(Code::IsDirectory));
    assert_eq!(tool.unlink(at, "a/"), Err(Code::NotDirectory));
    assert_eq!(tool.unlink(at, "none"), Err(Code::NoEntry));
    assert_eq!(tool.rmdir(at, "a"), Err(Code::NotDirectory));
    assert_eq!(tool.rmdir(at, "d"), Err(Code::NotEmpty));
    assert_eq!(tool.rmdir(at, "d/."), Err(Code::Invalid));
    assert_eq!(tool.mkdir(at, "d"), Err(Code::Exist));
    tool.unlink(at, "d/b").expect("granted");
    tool.rmdir(at, "d/").expect("granted");
    assert_eq!(tool.ls(at, "."), Ok(vec!["a".to_owned()]));
}

#[test]
fn renaming_needs_both_ends() {
    let mut tool = Tool::new(&[("/workspace/in", false), ("/workspace/out", true), ("/tmp", true)]);
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
fn a_descriptor_follows_its_entry() {
    let mut tool = Tool::new(&[("/workspace/in", true), ("/tmp", true)]);
    let (at, tmp) = (tool.at("/workspace/in"), tool.at("/tmp"));
    let directory = tool.open(at, "d", "rd").expect("there");
    let file = tool.open(at, "d/b", "rw").expect("there");
    let reader = tool.reader(file, 0);
    tool.put(at, "d-", "a name that sorts in between").expect("granted");
    tool.rename(at, "d", tmp, "moved").expect("granted");
    tool.put(at, "d", "another").expect("granted");
    assert_eq!(tool.write(file, 4, "!"), Ok(1));
    assert_eq!(tool.cat(tmp, "moved/b").as_deref(), Ok("beta!"));
    assert_eq!(tool.cat(directory, "b").as_deref(), Ok("beta!"));
    assert_eq!(tool.cat(at, "d-").map(|text| text.len()), Ok(28));
    let mut reader = reader.expect("readable");
    assert_eq!(reader.read(100).expect("more to read"), "beta!");
    tool.rename(tmp, "moved/b", at, "d").expect("replaces what is there");
    assert_eq!(tool.all(file).as_deref(), Ok("beta!"));
    let again = tool.open(at, "d", "r").expect("there");
    assert!(tool.view().is_same_object(handle(file), handle(again)).expect("no trap"));
}

#[test]
fn a_removed_file_lives_as_long_as_it_is_open() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let (one, two) = (tool.open(at, "a", "rw").expect("there"), tool.open(at, "a", "rw").expect("there"));
    let mut writer = tool.writer(two, None).expect("writable");
    tool.unlink(at, "a").expect("granted");
    assert_eq!(tool.all(one).as_deref(), Ok("alpha"));
    writer.write("bet".into()).expect("still open");
    assert_eq!(tool.write(two, 0, "A"), Ok(1));
    assert_eq!(tool.all(one).as_deref(), Ok("Alphabet"));
    assert_eq!(told(tool.view().set_size(handle(one), 5)), Ok(()));
    assert_eq!(told(tool.view().stat(handle(two))).map(|stat| stat.size), Ok(5));
    tool.put(at, "a", "another").expect("granted");
    assert_eq!(tool.all(two).as_deref(), Ok("Alpha"));
    let other = tool.open(at, "a", "r").expect("there");
    assert!(!tool.view().is_same_object(handle(one), handle(other)).expect("no trap"));
    assert_eq!(tool.write(one, u64::MAX, "x"), Err(Code::FileTooLarge));
    assert_eq!(tool.write(one, LIMITS.file_bytes, "x"), Err(Code::FileTooLarge));
    // One that is replaced, too.
    tool.put(at, "b", "replacing").expect("granted");
    tool.rename(at, "b", at, "a").expect("granted");
    assert_eq!(tool.all(other).as_deref(), Ok("another"));
    assert_eq!(tool.cat(at, "a").as_deref(), Ok("replacing"));
}

#[test]
fn removed_files_count_while_they_are_open() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let megabytes = "m".repeat(3 << 20);
    let mut open = Vec::new();
    for name in ["one", "two"] {
        tool.put(at, name, &megabytes).expect("6 of 8 MiB");
        open.push(tool.open(at, name, "rw").expect("just written"));
        tool.unlink(at, name).expect("granted");
    }
    assert_eq!(tool.put(at, "three", &megabytes), Err(Code::Quota));
    assert_eq!(tool.write(open[0], 3 << 20, &megabytes), Err(Code::Quota));
    tool.write(open[0], 3 << 20, &megabytes[..1 << 20]).expect("7 of 8 MiB");
    assert_eq!(told(tool.view().set_size(handle(open[1]), 5 << 20)), Err(Code::Quota));
    tool.close(open[1]);
    tool.put(at, "three", &megabytes).expect("what is closed is free again");
    assert_eq!(tool.all(open[0]).map(|text| text.len()), Ok(1 << 20), "a read gives a part");
}

#[test]
fn a_removed_directory_is_empty_and_holds_nothing() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    tool.mkdir(at, "e").expect("granted");
    let gone = tool.open(at, "e", "rd").expect("there");
    tool.rmdir(at, "e").expect("granted");
    tool.mkdir(at, "e").expect("granted");
    assert_eq!(tool.list(gone), Ok(vec![]));
    assert_eq!(tool.put(gone, "x", ""), Err(Code::NoEntry));
    assert_eq!(tool.stat(gone, ".").map(drop), Err(Code::NoEntry));
    assert_eq!(told(tool.view().stat(handle(gone))).map(drop), Err(Code::NoEntry));
    assert_eq!(tool.ls(at, "e"), Ok(vec![]));
}

#[test]
fn numbers_of_a_guest_do_no_harm() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let file = tool.open(at, "a", "rw").expect("there");
    assert_eq!(tool.read(file, u64::MAX, u64::MAX), Ok((String::new(), true)));
    assert_eq!(tool.read(file, 5, 1), Ok((String::new(), true)));
    assert_eq!(tool.read(file, 0, 5), Ok(("alpha".to_owned(), true)));
    assert_eq!(tool.read(file, 0, 4), Ok(("alph".to_owned(), false)));
    assert_eq!(tool.read(file, 0, 0), Ok((String::new(), true)));
    assert_eq!(tool.write(file, u64::MAX, "x"), Err(Code::FileTooLarge));
    assert_eq!(tool.write(file, u64::MAX, ""), Ok(0));
    for size in [u64::MAX, LIMITS.file_bytes + 1] {
        assert_eq!(told(tool.view().set_size(handle(file), size)), Err(Code::FileTooLarge));
    }
    assert_eq!(tool.all(file).as_deref(), Ok("alpha"));
    told(tool.view().set_size(handle(file), LIMITS.file_bytes)).expect("so large is allowed");
    assert_eq!(tool.read(file, 0, u64::MAX).map(|(text, end)| (text.len(), end)), Ok((1 << 20, false)));
    let mut reader = tool.reader(file, u64::MAX).expect("readable");
    assert!(matches!(reader.read(1), Err(StreamError::Closed)));
    let mut reader = tool.reader(file, 0).expect("readable");
    assert_eq!(reader.read(usize::MAX).expect("there").len(), 1 << 20);
    let mut writer = tool.writer(file, Some(u64::MAX)).expect("writable");
    assert!(matches!(writer.write("x".into()), Err(StreamError::LastOperationFailed(_))));
    assert_eq!(told(tool.view().advise(handle(file), u64::MAX, u64::MAX, Advice::NoReuse)), Ok(()));
    assert_eq!(tool.stat(at, &"x/".repeat(1 << 20)).map(drop), Err(Code::NameTooLong));
    assert_eq!(tool.stat(at, &"x".repeat(256)).map(drop), Err(Code::NameTooLong));
    assert_eq!(tool.stat(at, "a\0").map(drop), Err(Code::Invalid));
    assert_eq!(tool.stat(at, "").map(drop), Err(Code::NoEntry));
    assert_eq!(tool.symlink(at, &"x".repeat(5_000), "l"), Err(Code::NameTooLong));
}

#[test]
fn quotas_hold_and_streams_say_why() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let file = tool.open(at, "large", "wc").expect("granted");
    told(tool.view().set_size(handle(file), 5 << 20)).expect("5 of 8 MiB");
    let other = tool.open(at, "other", "wc").expect("granted");
    assert_eq!(told(tool.view().set_size(handle(other), 4 << 20)), Err(Code::Quota));
    let mut writer = tool.writer(other, Some(4 << 20)).expect("writable");
    let Err(StreamError::LastOperationFailed(error)) = writer.write("x".into()) else { panic!("it has no room") };
    let error = tool.table.push(error).expect("there is room for errors");
    let code = tool.view().filesystem_error_code(Resource::new_borrow(error.rep())).expect("no trap");
    assert_eq!(code, Some(ErrorCode::Quota));
    told(tool.view().set_size(handle(file), 0)).expect("less is allowed");
    writer.write("x".into()).expect("there is room now");
    let foreign = tool.table.push(wasmtime::format_err!("something else")).expect("there is room for errors");
    assert_eq!(tool.view().filesystem_error_code(foreign).expect("no trap"), None);
    let made = (0..100).take_while(|n| tool.mkdir(at, &format!("d{n}")).is_ok()).count();
    assert!(made < 40);
    for making in makings(&mut tool, at, "more") {
        assert_eq!(making, Err(Code::Quota));
    }
}

#[test]
fn streams_see_what_others_write() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let file = tool.open(at, "a", "rw").expect("there");
    let (mut first, mut second) = (tool.reader(file, 0).expect("readable"), tool.reader(file, 3).expect("readable"));
    let (mut over, mut behind) =
        (tool.writer(file, Some(0)).expect("writable"), tool.writer(file, None).expect("writable"));
    over.write("AL".into()).expect("room");
    over.write("P".into()).expect("room");
    behind.write("bet".into()).expect("room");
    assert_eq!(first.read(4).expect("there"), "ALPh");
    assert_eq!(first.skip(2).expect("there"), 2);
    assert_eq!(second.read(100).expect("there"), "habet");
    assert!(matches!(second.read(1), Err(StreamError::Closed)));
    assert_eq!(second.read(0).expect("nothing was asked for"), "");
    behind.write("s".into()).expect("room");
    assert_eq!(second.read(1).expect("it has grown"), "s");
    assert_eq!(over.check_write().expect("always ready"), 1 << 20);
    tool.close(file);
    behind.write("!".into()).expect("a stream outlives its descriptor");
    assert_eq!(tool.cat(at, "a").as_deref(), Ok("ALPhabets!"));
}

#[test]
fn times_are_those_of_the_call_or_as_set() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let modified = |stat: DescriptorStat| stat.data_modification_timestamp.map(|time| (time.seconds, time.nanoseconds));
    assert_eq!(tool.stat(at, "a").map(modified), Ok(Some((0, 1))));
    tool.touch(at, "a").expect("granted");
    assert_eq!(tool.stat(at, "a").map(modified), Ok(Some((5, 7))));
    let file = tool.open(at, "a", "r").expect("there");
    let mut set = |seconds, nanoseconds| {
        let time = NewTimestamp::Timestamp(Datetime { seconds, nanoseconds });
        told(tool.view().set_times(handle(file), NewTimestamp::NoChange, time))
    };
    assert_eq!(set(3, 1_000_000_000), Err(Code::Invalid));
    assert_eq!(set(u64::MAX, 0), Err(Code::Overflow));
    assert_eq!(set(18_446_744_073, 709_551_616), Err(Code::Overflow));
    assert_eq!(set(18_446_744_073, 709_551_615), Ok(()));
    let stat = told(tool.view().stat(handle(file))).expect("there");
    assert!(stat.data_access_timestamp.is_none() && stat.status_change_timestamp.is_none());
    assert_eq!(modified(stat), Some((18_446_744_073, 709_551_615)));
    // Of a link, or of what it leads to.
    tool.symlink(at, "a", "l").expect("granted");
    let own = NewTimestamp::Timestamp(Datetime { seconds: 9, nanoseconds: 0 });
    told(tool.view().set_times_at(handle(at), PathFlags::empty(), "l".into(), NewTimestamp::Now, own))
        .expect("granted");
    tool.touch(at, "l").expect("granted");
    assert_eq!(["l", "a"].map(|path| tool.stat(at, path).map(modified)), [Ok(Some((9, 0))), Ok(Some((5, 7)))]);
    let no = NewTimestamp::NoChange;
    let nothing = told(tool.view().set_times_at(handle(at), FOLLOW, "none".into(), no, no));
    assert_eq!(nothing, Err(Code::NoEntry));
}

#[test]
fn one_entry_is_one_object() {
    let mut tool = Tool::new(&[("/workspace/in", true), ("/workspace", false)]);
    let (at, top) = (tool.at("/workspace/in"), tool.at("/workspace"));
    let one = tool.open(at, "a", "r").expect("there");
    let other = tool.open(top, "in/a", "rw").expect("there");
    let third = tool.open(at, "d/b", "r").expect("there");
    let same = [(one, other), (one, third), (one, one), (at, top)];
    let same = same.map(|(a, b)| tool.view().is_same_object(handle(a), handle(b)).expect("no trap"));
    assert_eq!(same, [true, false, true, false]);
    let mut hash =
        |rep| told(tool.view().metadata_hash(handle(rep))).map(|hash| (hash.lower, hash.upper)).expect("there");
    assert!(hash(one) == hash(other) && hash(one) != hash(third));
    let before = hash(one);
    tool.put(at, "a", "changed").expect("granted");
    let after = told(tool.view().metadata_hash_at(handle(at), FOLLOW, "a".to_owned())).expect("there");
    assert_eq!((after.lower, after.upper), before);
}

#[test]
fn what_there_is_not_is_unsupported_and_what_needs_nothing_works() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let linked = told(tool.view().link_at(handle(at), FOLLOW, "a".into(), handle(at), "b".into()));
    assert_eq!(linked, Err(Code::Unsupported));
    let file = tool.open(at, "a", "r").expect("there");
    assert_eq!(told(tool.view().sync(handle(file))), Ok(()));
    assert_eq!(told(tool.view().sync_data(handle(at))), Ok(()));
    assert_eq!(told(tool.view().advise(handle(at), 0, 0, Advice::Normal)), Err(Code::BadDescriptor));
}

#[test]
fn so_much_may_be_open_and_no_more() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let file = tool.open(at, "a", "rw").expect("there");
    let reader = tool.reader(file, 0).expect("readable");
    let open: Vec<_> = (3..MAX_OPEN).map(|_| tool.open(at, "a", "r").expect("below the limit")).collect();
    assert_eq!(tool.open(at, "new", "wc"), Err(Code::InsufficientMemory));
    assert_eq!(tool.stat(at, "new").map(drop), Err(Code::NoEntry), "nor is it made");
    assert!(tool.reader(file, 0).is_err() && tool.writer(file, None).is_err() && tool.list(at).is_err());
    assert_eq!(tool.preopens(), []);
    drop(reader);
    assert!(tool.list(at).is_ok());
    let last = tool.open(at, "a", "r").expect("one was closed");
    assert_eq!(tool.open(at, "a", "r"), Err(Code::InsufficientMemory));
    for rep in open.into_iter().chain([last]) {
        tool.close(rep);
    }
    for _ in 0..10 * MAX_OPEN {
        let rep = tool.open(at, "a", "r").expect("the others are closed");
        tool.close(rep);
    }
}

#[test]
fn a_handle_of_nothing_traps() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    tool.close(at);
    assert!(tool.view().stat(handle(at)).is_err_and(|error| error.downcast().is_err()));
    let error = tool.table.push(wasmtime::format_err!("not a descriptor")).expect("there is room for errors");
    assert!(tool.view().stat(handle(error.rep())).is_err_and(|error| error.downcast().is_err()));
}

#[test]
fn what_the_session_makes_read_only_is_so_for_tools() {
    let mut tool = Tool::new(&[("/etc", true), ("/", true)]);
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

#[test]
fn a_directory_can_be_emptied_while_it_is_read() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    for name in ["b", "c", "é"] {
        tool.put(at, name, "").expect("granted");
    }
    let stream = told(tool.view().read_directory(handle(at))).expect("a directory").rep();
    let mut names = Vec::new();
    while let Some(entry) = told(tool.view().read_directory_entry(Resource::new_borrow(stream))).expect("a name") {
        if entry.type_ == DescriptorType::RegularFile {
            tool.unlink(at, &entry.name).expect("granted");
        }
        names.push(entry.name);
    }
    assert_eq!(names, ["a", "b", "c", "d", "é"]);
    assert_eq!(tool.ls(at, "."), Ok(vec!["d".to_owned()]));
}

#[test]
fn what_is_open_is_open_in_the_next_call_on_its_tree() {
    let mut tool = Tool::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let (a, b) = (tool.open(at, "a", "rw").expect("there"), tool.open(at, "d/b", "rw").expect("there"));
    let directory = tool.open(at, "d", "rd").expect("there");
    tool.write(a, 0, "A").expect("granted");
    let mut run = tree();
    run.apply(&tool.files.end()).expect("nothing is in the way");
    assert_eq!(run.read_file("/workspace/in/a").as_deref(), Ok(b"Alpha".as_slice()));
    assert_eq!(tool.all(a), Err(Code::Access), "between calls there is nothing");
    run.write("/workspace/in/a", b"+", WriteMode::Append, 9).expect("writable");
    run.remove("/workspace/in/d", true, 9).expect("writable");
    run.create_link("../secret", "/workspace/in/d", 9).expect("writable");
    tool.files.begin(run, scope(&[("/workspace/in", false)]), NOW + 1);
    assert_eq!(tool.all(a).as_deref(), Ok("Alpha+"));
    assert_eq!(tool.write(a, 0, "x"), Err(Code::ReadOnly), "what was granted then is not now");
    assert_eq!(tool.all(b), Err(Code::NoEntry));
    assert_eq!(tool.list(directory), Ok(vec![]));
    assert_eq!(tool.ls(at, "."), Ok(vec!["a".to_owned(), "d".to_owned()]));
    assert_eq!(tool.changed(), [""; 0]);
}

/// What a tool may do, by number: which operation, which name, which other name, which descriptor, how many bytes.
type Act = (u8, usize, usize, usize, u8);

const NAMES: [&str; 4] = ["a", "b", "d/a", "d/b"];

/// Names to files, and files to bytes: all there is to know.
#[derive(Default)]
struct Model {
    names: BTreeMap<&'static str, usize>,
    files: Vec<Vec<u8>>,
    open: Vec<(u32, usize)>,
}

impl Model {
    fn act(&mut self, tool: &mut Tool, at: u32, (kind, name, other, open, size): Act) {
        let (name, other) = (NAMES[name % 4], NAMES[other % 4]);
        let bytes = vec![b'a' + size % 26; usize::from(size)];
        let chosen = (!self.open.is_empty()).then(|| self.open[open % self.open.len()]);
        match (kind % 8, chosen) {
            (0, _) | (_, None) => {
                let how = if size.is_multiple_of(3) { "rwct" } else { "rwc" };
                let file = tool.open(at, name, how).expect("granted");
                let id = *self.names.entry(name).or_insert_with(|| {
                    self.files.push(Vec::new());
                    self.files.len() - 1
                });
                if how == "rwct" {
                    self.files[id].clear();
                }
                self.open.push((file, id));
            }
            (1 | 2, Some((file, id))) => {
                let offset = usize::from(size) * 7 % 500;
                tool.write(file, offset as u64, std::str::from_utf8(&bytes).expect("letters")).expect("granted");
                let end = (offset + bytes.len()).max(self.files[id].len());
                if !bytes.is_empty() {
                    self.files[id].resize(end, 0);
                    self.files[id][offset..offset + bytes.len()].copy_from_slice(&bytes);
                }
            }
            (3, Some((file, id))) => {
                let mut writer = tool.writer(file, None).expect("granted");
                writer.write(bytes.clone().into()).expect("room");
                self.files[id].extend(bytes);
            }
            (4, Some((file, id))) => {
                told(tool.view().set_size(handle(file), u64::from(size))).expect("granted");
                self.files[id].resize(usize::from(size), 0);
            }
            (5, _) => assert_eq!(tool.unlink(at, name).is_ok(), self.names.remove(name).is_some()),
            (6, _) => {
                assert_eq!(tool.rename(at, name, at, other).is_ok(), self.names.contains_key(name));
                if let Some(id) = self.names.remove(name) {
                    self.names.insert(other, id);
                }
            }
            (_, Some((file, _))) => {
                tool.close(file);
                self.open.retain(|(open, _)| *open != file);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn descriptors_behave_as_the_reference(acts in prop::collection::vec(any::<Act>(), 1..80)) {
        let mut base = Tree::new(LIMITS, 0);
        base.create_directory("/tmp/d", false, 0).expect("writable");
        let mut tool = Tool::on(base.clone(), &[("/tmp", true)]);
        let (at, mut model) = (tool.at("/tmp"), Model::default());
        for act in acts {
            model.act(&mut tool, at, act);
            for (file, id) in &model.open {
                let text = tool.read(*file, 0, u64::MAX).expect("open for reading").0;
                prop_assert_eq!(text.as_bytes(), &model.files[*id], "{:?}", act);
            }
            for (name, id) in &model.names {
                let text = tool.cat(at, name).expect("it is there");
                prop_assert_eq!(text.as_bytes(), &model.files[*id], "{} after {:?}", name, act);
            }
            for (one, id) in &model.open {
                for (other, other_id) in &model.open {
                    let same = tool.view().is_same_object(handle(*one), handle(*other)).expect("no trap");
                    prop_assert_eq!(same, id == other_id);
                }
            }
        }
        base.apply(&tool.files.end()).expect("nothing is in the way");
        for name in NAMES {
            let bytes = base.read_file(&format!("/tmp/{name}")).ok();
            prop_assert_eq!(bytes.as_ref(), model.names.get(name).map(|id| &model.files[*id]));
        }
    }

    #[test]
    fn no_path_of_a_guest_panics_or_leaves_its_grant(path in "([/a.lx\\x00é]|\\.\\./|in/){0,12}", other in "\\PC{0,30}") {
        let mut tool = Tool::new(&[("/workspace/in", true)]);
        let at = tool.at("/workspace/in");
        for path in [path, other] {
            let _ = tool.symlink(at, &path, "l");
            let _ = tool.put(at, "l/x", "x");
            let _ = tool.put(at, &path, "x");
            let _ = tool.mkdir(at, &path);
            let _ = tool.stat(at, &path);
            let _ = tool.rename(at, &path, at, "l");
            let _ = tool.rename(at, "a", at, &path);
            let _ = tool.rmdir(at, &path);
            let _ = tool.unlink(at, &path);
            let _ = tool.touch(at, &path);
        }
        for path in tool.changed() {
            prop_assert!(path.starts_with("/workspace/in"), "{}", path);
        }
    }
}
