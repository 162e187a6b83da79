//! Semantics of operations: POSIX, as far as WASI has it.

use super::*;

#[test]
fn link_loop_is_an_error() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
fn descriptor_of_renamed_entry_follows_it() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true), ("/tmp", true)]);
    let (at, tmp) = (tool.at("/workspace/in"), tool.at("/tmp"));
    let directory = tool.open(at, "d", "rd").expect("there");
    let file = tool.open(at, "d/b", "rw").expect("there");
    let reader = tool.reader(file, 0);
    tool.put(at, "d-", "a name that sorts in between").expect("granted");
    let between = tool.open(at, "d-", "rw").expect("just written");
    tool.rename(at, "d", tmp, "moved").expect("granted");
    tool.put(at, "d", "another").expect("granted");
    assert_eq!(tool.write(file, 4, "!"), Ok(1));
    assert_eq!(tool.cat(tmp, "moved/b").as_deref(), Ok("beta!"));
    assert_eq!(tool.cat(directory, "b").as_deref(), Ok("beta!"));
    assert_eq!(tool.write(between, 0, "A"), Ok(1));
    assert_eq!(tool.cat(at, "d-").as_deref(), Ok("A name that sorts in between"));
    let mut reader = reader.expect("readable");
    assert_eq!(reader.read(100).expect("more to read"), "beta!");
    tool.rename(tmp, "moved/b", at, "d").expect("replaces what is there");
    assert_eq!(tool.all(file).as_deref(), Ok("beta!"));
    let again = tool.open(at, "d", "r").expect("there");
    assert!(tool.view().is_same_object(handle(file), handle(again)).expect("no trap"));
}

#[test]
fn removed_file_stays_readable_while_open() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
    // A replaced file stays open too.
    tool.put(at, "b", "replacing").expect("granted");
    tool.rename(at, "b", at, "a").expect("granted");
    assert_eq!(tool.all(other).as_deref(), Ok("another"));
    assert_eq!(tool.cat(at, "a").as_deref(), Ok("replacing"));
}

#[test]
fn removed_directory_that_is_open_is_empty_and_refuses_entries() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
fn streams_see_what_others_write() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
    // Times of a link, or of its target.
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
fn entry_opened_twice_is_the_same_object() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true), ("/workspace", false)]);
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
fn unsupported_file_operations_say_so_and_no_ops_succeed() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let linked = told(tool.view().link_at(handle(at), FOLLOW, "a".into(), handle(at), "b".into()));
    assert_eq!(linked, Err(Code::Unsupported));
    let file = tool.open(at, "a", "r").expect("there");
    assert_eq!(told(tool.view().sync(handle(file))), Ok(()));
    assert_eq!(told(tool.view().sync_data(handle(at))), Ok(()));
    assert_eq!(told(tool.view().advise(handle(at), 0, 0, Advice::Normal)), Err(Code::BadDescriptor));
}

#[test]
fn directory_emptied_while_it_is_read_lists_every_entry() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
fn descriptors_open_on_a_tree_stay_open_in_the_next_call() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    let (a, b) = (tool.open(at, "a", "rw").expect("there"), tool.open(at, "d/b", "rw").expect("there"));
    let directory = tool.open(at, "d", "rd").expect("there");
    tool.write(a, 0, "A").expect("granted");
    let mut run = tree();
    run.apply(&tool.files.end().expect("all is in memory")).expect("nothing is in the way");
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
