//! Files of a tool, called as its bindings would call them. Each denial has a twin that is allowed.

mod component;
mod grants;
mod limits;
mod model;
mod semantics;

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

/// Builds a tree of `/workspace/in/{a, d/b}`, `/workspace/out/x`, `/workspace/secret`, `/etc/host`.
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

/// Tool with its files. Handles are plain numbers here.
struct FilesFixture {
    files: ToolFiles,
    table: ResourceTable,
}

fn told<T>(result: FsResult<T>) -> Result<T, Code> {
    result.map_err(|error| error.downcast().expect("an error code, and no trap"))
}

fn handle(rep: u32) -> Resource<Descriptor> {
    Resource::new_borrow(rep)
}

const FOLLOW: PathFlags = PathFlags::SYMLINK_FOLLOW;

impl FilesFixture {
    fn on(tree: Tree, grants: &[(&str, bool)]) -> FilesFixture {
        let mut files = ToolFiles::new();
        files.begin(tree, scope(grants), NOW);
        FilesFixture { files, table: ResourceTable::new() }
    }

    fn new(grants: &[(&str, bool)]) -> FilesFixture {
        FilesFixture::on(tree(), grants)
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
        self.files.end().expect("all is in memory").into_iter().map(|edit| edit.path).collect()
    }
}
