//! Limits on numbers and sizes that a guest chooses.

use super::grants::makings;
use super::*;

#[test]
fn removed_files_count_while_they_are_open() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
fn numbers_of_a_guest_do_no_harm() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
fn open_descriptors_beyond_the_limit_are_refused() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
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
fn handle_without_resource_traps() {
    let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
    let at = tool.at("/workspace/in");
    tool.close(at);
    assert!(tool.view().stat(handle(at)).is_err_and(|error| error.downcast().is_err()));
    let error = tool.table.push(wasmtime::format_err!("not a descriptor")).expect("there is room for errors");
    assert!(tool.view().stat(handle(error.rep())).is_err_and(|error| error.downcast().is_err()));
}
