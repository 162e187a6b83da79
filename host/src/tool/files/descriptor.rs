//! `wasi:filesystem/types`: conversion of arguments and results. Their meaning is in `working_tree` and
//! `write_operations`.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream,
    Filesize, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsResult};

use super::stream::{FileReader, FileWriter};
use super::working_tree::OpenEntry;
use super::write_operations::{OpenOptions, WriteOffset};
use super::{CHUNK, Code, FilesView, HeldDescriptor, OpenSlot};
use crate::vfs::{Kind, Stat};

const SECOND: u64 = 1_000_000_000;

/// Handle of a descriptor.
type DescriptorHandle = Resource<Descriptor>;

/// Directory that is being read. Its position is a name, so that it costs nothing, and sees concurrent changes.
struct DirectoryListing {
    open: OpenEntry,
    after: Option<String>,
    _slot: OpenSlot,
}

impl FilesView<'_> {
    fn output(&mut self, handle: &DescriptorHandle, offset: WriteOffset) -> FsResult<Resource<DynOutputStream>> {
        let open = self.open(handle).map_err(trap)?;
        open.writable()?;
        let writer = FileWriter::new(self.files.work.clone(), open, offset, self.files.slot()?);
        Ok(self.table.push(Box::new(writer) as DynOutputStream)?)
    }
}

/// Creates the trap of a handle that does not exist.
fn trap(error: wasmtime::Error) -> wasmtime_wasi::p2::FsError {
    wasmtime_wasi::p2::FsError::trap(error)
}

impl HostDescriptor for FilesView<'_> {
    fn read_via_stream(&mut self, handle: DescriptorHandle, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        let open = self.open(&handle).map_err(trap)?;
        open.readable()?;
        let reader = FileReader::new(self.files.work.clone(), open, offset, self.files.slot()?);
        Ok(self.table.push(Box::new(reader) as DynInputStream)?)
    }

    fn write_via_stream(&mut self, handle: DescriptorHandle, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.output(&handle, WriteOffset::At(offset))
    }

    fn append_via_stream(&mut self, handle: DescriptorHandle) -> FsResult<Resource<DynOutputStream>> {
        self.output(&handle, WriteOffset::End)
    }

    fn advise(&mut self, handle: DescriptorHandle, _: Filesize, _: Filesize, _: Advice) -> FsResult<()> {
        Ok(self.open(&handle).map_err(trap)?.file()?)
    }

    fn sync_data(&mut self, handle: DescriptorHandle) -> FsResult<()> {
        self.open(&handle).map(drop).map_err(trap)
    }

    fn get_flags(&mut self, handle: DescriptorHandle) -> FsResult<DescriptorFlags> {
        let open = self.open(&handle).map_err(trap)?;
        let mutable = open.is_directory() && self.work().mutable(&open);
        let set = [
            (DescriptorFlags::READ, open.read),
            (DescriptorFlags::WRITE, open.write),
            (DescriptorFlags::MUTATE_DIRECTORY, mutable),
        ];
        let flags = set.into_iter().filter(|(_, set)| *set).fold(DescriptorFlags::empty(), |all, (flag, _)| all | flag);
        Ok(flags)
    }

    fn get_type(&mut self, handle: DescriptorHandle) -> FsResult<DescriptorType> {
        let open = self.open(&handle).map_err(trap)?;
        Ok(if open.is_directory() { DescriptorType::Directory } else { DescriptorType::RegularFile })
    }

    fn set_size(&mut self, handle: DescriptorHandle, size: Filesize) -> FsResult<()> {
        let open = self.open(&handle).map_err(trap)?;
        Ok(self.work().set_size(&open, size)?)
    }

    fn set_times(&mut self, handle: DescriptorHandle, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
        let open = self.open(&handle).map_err(trap)?;
        let mut work = self.work();
        nanoseconds(accessed, work.now)?;
        match nanoseconds(modified, work.now)? {
            Some(modified) => Ok(work.set_modified(&open, modified)?),
            None => Ok(()),
        }
    }

    fn read(&mut self, handle: DescriptorHandle, length: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        let open = self.open(&handle).map_err(trap)?;
        Ok(self.work().read(&open, offset, length.min(CHUNK))?)
    }

    fn write(&mut self, handle: DescriptorHandle, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        let open = self.open(&handle).map_err(trap)?;
        self.work().write(&open, WriteOffset::At(offset), &bytes)?;
        // No platform has a `usize` wider than 64 bits.
        Ok(bytes.len() as u64)
    }

    fn read_directory(&mut self, handle: DescriptorHandle) -> FsResult<Resource<DirectoryEntryStream>> {
        let open = self.open(&handle).map_err(trap)?;
        open.directory()?;
        let listing = self.table.push(DirectoryListing { open, after: None, _slot: self.files.slot()? })?;
        Ok(Resource::new_own(listing.rep()))
    }

    fn sync(&mut self, handle: DescriptorHandle) -> FsResult<()> {
        self.sync_data(handle)
    }

    fn create_directory_at(&mut self, handle: DescriptorHandle, path: String) -> FsResult<()> {
        let at = self.open(&handle).map_err(trap)?;
        Ok(self.work().create_directory(&at, &path)?)
    }

    fn stat(&mut self, handle: DescriptorHandle) -> FsResult<DescriptorStat> {
        let open = self.open(&handle).map_err(trap)?;
        Ok(descriptor_stat(self.work().stat(&open)?))
    }

    fn stat_at(&mut self, handle: DescriptorHandle, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let at = self.open(&handle).map_err(trap)?;
        Ok(descriptor_stat(self.work().stat_at(&at, &path, follows(flags))?))
    }

    fn set_times_at(
        &mut self,
        handle: DescriptorHandle,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let at = self.open(&handle).map_err(trap)?;
        let mut work = self.work();
        nanoseconds(accessed, work.now)?;
        match nanoseconds(modified, work.now)? {
            Some(modified) => Ok(work.set_modified_at(&at, &path, follows(flags), modified)?),
            None => Ok(work.find(&at, &path, follows(flags)).map(drop)?),
        }
    }

    fn link_at(
        &mut self,
        handle: DescriptorHandle,
        _: PathFlags,
        _: String,
        other: DescriptorHandle,
        _: String,
    ) -> FsResult<()> {
        self.open(&handle).and_then(|_| self.open(&other)).map_err(trap)?;
        Err(Code::Unsupported.into())
    }

    fn open_at(
        &mut self,
        handle: DescriptorHandle,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<DescriptorHandle> {
        let at = self.open(&handle).map_err(trap)?;
        let how = OpenOptions {
            follow: follows(path_flags),
            create: open_flags.contains(OpenFlags::CREATE),
            directory: open_flags.contains(OpenFlags::DIRECTORY),
            exclusive: open_flags.contains(OpenFlags::EXCLUSIVE),
            truncate: open_flags.contains(OpenFlags::TRUNCATE),
            read: flags.contains(DescriptorFlags::READ),
            write: flags.contains(DescriptorFlags::WRITE),
            mutate: flags.contains(DescriptorFlags::MUTATE_DIRECTORY),
        };
        // Checked first, so that nothing is created that then cannot be opened.
        let slot = self.files.slot()?;
        let open = self.work().open(&at, &path, how)?;
        self.hold(open, slot).map_err(trap)
    }

    fn readlink_at(&mut self, handle: DescriptorHandle, path: String) -> FsResult<String> {
        let at = self.open(&handle).map_err(trap)?;
        Ok(self.work().read_link(&at, &path)?)
    }

    fn remove_directory_at(&mut self, handle: DescriptorHandle, path: String) -> FsResult<()> {
        let at = self.open(&handle).map_err(trap)?;
        Ok(self.work().remove(&at, &path, true)?)
    }

    fn rename_at(
        &mut self,
        handle: DescriptorHandle,
        from: String,
        other: DescriptorHandle,
        to: String,
    ) -> FsResult<()> {
        let at = self.open(&handle).map_err(trap)?;
        let other = self.open(&other).map_err(trap)?;
        Ok(self.work().rename((&at, &from), (&other, &to))?)
    }

    fn symlink_at(&mut self, handle: DescriptorHandle, target: String, path: String) -> FsResult<()> {
        let at = self.open(&handle).map_err(trap)?;
        Ok(self.work().create_link(&at, &target, &path)?)
    }

    fn unlink_file_at(&mut self, handle: DescriptorHandle, path: String) -> FsResult<()> {
        let at = self.open(&handle).map_err(trap)?;
        Ok(self.work().remove(&at, &path, false)?)
    }

    fn is_same_object(&mut self, one: DescriptorHandle, other: DescriptorHandle) -> wasmtime::Result<bool> {
        Ok(std::sync::Arc::ptr_eq(&self.open(&one)?.spot, &self.open(&other)?.spot))
    }

    fn metadata_hash(&mut self, handle: DescriptorHandle) -> FsResult<MetadataHashValue> {
        let open = self.open(&handle).map_err(trap)?;
        Ok(hash(self.work().stat(&open)?))
    }

    fn metadata_hash_at(
        &mut self,
        handle: DescriptorHandle,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let at = self.open(&handle).map_err(trap)?;
        Ok(hash(self.work().stat_at(&at, &path, follows(flags))?))
    }

    fn drop(&mut self, handle: DescriptorHandle) -> wasmtime::Result<()> {
        self.table.delete(Resource::<HeldDescriptor>::new_own(handle.rep()))?;
        Ok(())
    }
}

impl HostDirectoryEntryStream for FilesView<'_> {
    fn read_directory_entry(&mut self, stream: Resource<DirectoryEntryStream>) -> FsResult<Option<DirectoryEntry>> {
        let listing = self.table.get_mut(&Resource::<DirectoryListing>::new_borrow(stream.rep()))?;
        let next = self.files.work.lock().next_entry(&listing.open, listing.after.as_deref())?;
        Ok(next.map(|entry| {
            listing.after = Some(entry.name.clone());
            DirectoryEntry { type_: descriptor_type(entry.kind), name: entry.name }
        }))
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<DirectoryListing>::new_own(stream.rep()))?;
        Ok(())
    }
}

fn follows(flags: PathFlags) -> bool {
    flags.contains(PathFlags::SYMLINK_FOLLOW)
}

/// Returns the time to be set, if any.
fn nanoseconds(time: NewTimestamp, now: u64) -> Result<Option<u64>, Code> {
    match time {
        NewTimestamp::NoChange => Ok(None),
        NewTimestamp::Now => Ok(Some(now)),
        NewTimestamp::Timestamp(Datetime { nanoseconds, .. }) if u64::from(nanoseconds) >= SECOND => Err(Code::Invalid),
        NewTimestamp::Timestamp(Datetime { seconds, nanoseconds }) => {
            let whole = seconds.checked_mul(SECOND).and_then(|whole| whole.checked_add(u64::from(nanoseconds)));
            whole.map(Some).ok_or(Code::Overflow)
        }
    }
}

/// Hashes the identity of an entry, not its content: C libraries use the hash as inode number.
fn hash(stat: Stat) -> MetadataHashValue {
    let hash = blake3::derive_key("tollhouse wasi:filesystem metadata-hash", &stat.id.to_le_bytes());
    let half = |at: usize| hash[at..at + 8].iter().fold(0, |half, byte| half << 8 | u64::from(*byte));
    MetadataHashValue { lower: half(0), upper: half(8) }
}

fn descriptor_type(kind: Kind) -> DescriptorType {
    match kind {
        Kind::File => DescriptorType::RegularFile,
        Kind::Directory => DescriptorType::Directory,
        Kind::Link => DescriptorType::SymbolicLink,
    }
}

fn descriptor_stat(stat: Stat) -> DescriptorStat {
    // The remainder within a second fits.
    let nanoseconds = u32::try_from(stat.modified % SECOND).unwrap_or_default();
    DescriptorStat {
        type_: descriptor_type(stat.kind),
        link_count: 1,
        size: stat.size,
        data_access_timestamp: None,
        data_modification_timestamp: Some(Datetime { seconds: stat.modified / SECOND, nanoseconds }),
        status_change_timestamp: None,
    }
}
