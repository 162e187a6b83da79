//! Tests of sharing: processes lead one after the other, and clients send invalid data.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::protocol::{StoreAnswer, StoreRequest, read_frame, send_follower_greeting};
use super::*;
use crate::group_commit::Compacted;
use crate::record::{Batch, Change, Done, Expectation, OWN_KEY_PREFIX, Owner, Record};
use crate::{Backend, MemoryStore, open};

/// A store in memory that outlives its leaders, as one on disk does.
fn opener(store: &Arc<MemoryStore>) -> Opener {
    struct SharedMemoryStore(Arc<MemoryStore>);
    impl Store for SharedMemoryStore {
        fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
            self.0.get(key)
        }
        fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
            self.0.scan(prefix, after, limit)
        }
        fn commit(&self, batch: Batch) -> Result<(), StoreError> {
            self.0.commit(batch)
        }
    }
    let store = Arc::clone(store);
    Box::new(move |_| Ok(Box::new(SharedMemoryStore(Arc::clone(&store)))))
}

/// A batch that can be applied only once.
fn once(key: &str) -> Batch {
    let mut batch = Batch::default();
    batch.expect(key, None);
    batch.put(key, "made");
    batch
}

#[test]
fn leaders_come_and_go_and_each_commit_is_made_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let over = AtomicBool::new(false);
    let made = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for follower in 0..4 {
            let (dir, over, made) = (dir.path(), &over, &made);
            scope.spawn(move || {
                let mut at = 0;
                // Each store stays open for a while, and leads if it is elected; when it closes it hands over.
                while !over.load(Ordering::SeqCst) {
                    let store = open(dir, Backend::Sled).expect("it opens");
                    for _ in 0..60 {
                        let key = format!("{follower}/{at:06}");
                        store.commit(once(&key)).expect("made once, and so not in conflict with itself");
                        made.lock().expect("no panic").insert(key);
                        at += 1;
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_secs(3));
        over.store(true, Ordering::SeqCst);
    });
    let store = open(dir.path(), Backend::Sled).expect("it opens");
    let found = store.scan(b"", None, usize::MAX).expect("it scans").into_iter();
    let found: BTreeSet<String> = found.map(|(key, _)| String::from_utf8(key).expect("text")).collect();
    assert_eq!(found, made.into_inner().expect("no panic"));
    assert!(found.len() > 100, "{}", found.len());
}

/// A client that sends frames by hand.
struct RawClient(UnixStream);

impl RawClient {
    fn greet(dir: &Path, client: u8) -> Self {
        let stream = socket::connect(dir).expect("it connects");
        send_follower_greeting(&stream, &[client; 16]).expect("it is sent");
        protocol::read_leader_greeting(&stream).expect("it is met");
        Self(stream)
    }

    fn ask(&mut self, request: &StoreRequest) -> StoreAnswer {
        self.0.write_all(&request.frame(7)).expect("it is sent");
        let (id, answer) = StoreAnswer::read(&read_frame(&self.0).expect("a frame")).expect("an answer");
        assert_eq!(id, 7);
        answer
    }
}

#[test]
fn commit_sent_again_is_applied_once() {
    let (dir, kept) = (tempfile::tempdir().expect("a directory"), Arc::<MemoryStore>::default());
    let leader = OpenStore::open(dir.path(), opener(&kept)).expect("it opens");
    let commit = |sequence, key: &str| StoreRequest::Commit { slot: 1, sequence, batch: once(key) };
    assert!(matches!(RawClient::greet(dir.path(), 1).ask(&commit(1, "a")), StoreAnswer::Done));
    // The answer was lost, and so was the leader.
    drop(leader);
    let leader = OpenStore::open(dir.path(), opener(&kept)).expect("it opens");
    let mut hand = RawClient::greet(dir.path(), 1);
    assert!(matches!(hand.ask(&commit(1, "a")), StoreAnswer::Done), "it was made already");
    let refused = hand.ask(&commit(2, "a"));
    assert!(matches!(refused, StoreAnswer::Failed(StoreError::Conflict { ref key }) if key == b"a"), "{refused:?}");
    assert!(matches!(hand.ask(&commit(2, "b")), StoreAnswer::Done), "what was refused left no mark");
    assert!(
        matches!(RawClient::greet(dir.path(), 2).ask(&commit(1, "c")), StoreAnswer::Done),
        "another's slot is another"
    );
    assert!(matches!(hand.ask(&commit(1, "d")), StoreAnswer::Failed(StoreError::Damaged(_))), "too late");
    // A batch that takes over the record of its owner was applied, and is not refused for that.
    let mut batch = Batch::default();
    batch.put("epoch", 1_u64.to_be_bytes());
    leader.commit(batch).expect("it commits");
    let mut batch = Batch::of(Owner { key: b"epoch".to_vec(), epoch: 1 });
    batch.put("epoch", 2_u64.to_be_bytes());
    let taking = StoreRequest::Commit { slot: 9, sequence: 1, batch };
    assert!(matches!(hand.ask(&taking), StoreAnswer::Done));
    assert!(matches!(hand.ask(&taking), StoreAnswer::Done));
    assert_eq!(kept.scan(&[OWN_KEY_PREFIX], None, 10).expect("it scans").len(), 3, "a mark for each slot");
    assert!(matches!(hand.ask(&StoreRequest::Bye), StoreAnswer::Done));
    assert_eq!(kept.scan(&[OWN_KEY_PREFIX], None, 10).expect("it scans").len(), 1, "who goes leaves none");
}

/// A store that applies batches in their order, some time after they are submitted, as group commit does.
struct LateStore {
    kept: Arc<MemoryStore>,
    queue: std::sync::mpsc::Sender<(Batch, Done)>,
}

impl LateStore {
    fn new(kept: &Arc<MemoryStore>) -> Self {
        let (queue, submitted) = std::sync::mpsc::channel::<(Batch, Done)>();
        let applied = Arc::clone(kept);
        std::thread::spawn(move || {
            for (batch, done) in submitted {
                std::thread::sleep(Duration::from_millis(100));
                done(applied.commit(batch));
            }
        });
        Self { kept: Arc::clone(kept), queue }
    }
}

impl Store for LateStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.kept.get(key)
    }

    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.kept.scan(prefix, after, limit)
    }

    fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let (sender, answer) = std::sync::mpsc::channel();
        self.submit(batch, Box::new(move |outcome| drop(sender.send(outcome))));
        answer.recv().expect("it is applied")
    }

    fn submit(&self, batch: Batch, done: Done) {
        drop(self.queue.send((batch, done)));
    }
}

#[test]
fn commit_of_a_follower_that_was_idle_for_long_is_made_by_the_next_leader() {
    let (dir, kept) = (tempfile::tempdir().expect("a directory"), Arc::<MemoryStore>::default());
    let mut mark = Batch { own: true, ..Batch::default() };
    let (key, long_ago) = ([&[OWN_KEY_PREFIX, b'm'][..], &[1; 16], &1_u32.to_be_bytes()].concat(), 0_u64.to_be_bytes());
    mark.put(key, [1_u64.to_be_bytes(), long_ago].concat());
    kept.commit(mark).expect("it commits");
    let late = Arc::clone(&kept);
    let _leader =
        OpenStore::open(dir.path(), Box::new(move |_| Ok(Box::new(LateStore::new(&late))))).expect("it opens");
    let commit = StoreRequest::Commit { slot: 1, sequence: 2, batch: once("a") };
    assert!(matches!(RawClient::greet(dir.path(), 1).ask(&commit), StoreAnswer::Done));
    assert_eq!(kept.get(b"a").expect("it is read"), Some(b"made".to_vec()));
}

#[test]
fn store_socket_client_sending_garbage_harms_only_itself() {
    let (dir, kept) = (tempfile::tempdir().expect("a directory"), Arc::<MemoryStore>::default());
    let leader = OpenStore::open(dir.path(), opener(&kept)).expect("it opens");
    let follower = OpenStore::open(dir.path(), opener(&kept)).expect("it opens");
    let long = u32::MAX.to_be_bytes();
    let own = {
        let mut batch = Batch { own: true, ..Batch::default() };
        batch.put([OWN_KEY_PREFIX, b'n'], "0");
        StoreRequest::Commit { slot: 1, sequence: 1, batch }.frame(1)
    };
    for bytes in [&long[..], b"\0\0\0\x01x", b"\0\0\0\x0912345678\xff", &[], &StoreRequest::Compact.frame(3)[..7]] {
        let mut hand = RawClient::greet(dir.path(), 3);
        hand.0.write_all(bytes).expect("it is sent");
        hand.0.shutdown(std::net::Shutdown::Write).expect("it is open");
        let mut answer = Vec::new();
        hand.0.read_to_end(&mut answer).expect("it is closed");
        assert_eq!(answer, b"", "{bytes:?}");
    }
    // No greeting, or an invalid one.
    socket::connect(dir.path()).expect("it connects").write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it is sent");
    let mut hand = RawClient::greet(dir.path(), 4);
    hand.0.write_all(&own).expect("it is sent");
    let (_, answer) = StoreAnswer::read(&read_frame(&hand.0).expect("a frame")).expect("an answer");
    assert!(matches!(answer, StoreAnswer::Failed(StoreError::Reserved)), "{answer:?}");
    // A client that asks but never reads: it is left waiting, and others are not.
    let mut deaf = RawClient::greet(dir.path(), 5);
    deaf.0.set_nonblocking(true).expect("it is open");
    let mut batch = Batch::default();
    batch.put("large", vec![1; 4096]);
    leader.commit(batch).expect("it commits");
    let frame = StoreRequest::Get { key: b"large".to_vec() }.frame(1);
    while deaf.0.write(&frame).is_ok_and(|written| written == frame.len()) {}
    follower.commit(once("after all that")).expect("it commits");
    assert!(leader.leads() && !follower.leads());
    drop(deaf);
}

#[test]
fn store_socket_is_reachable_by_its_user_only_for_any_path_length() {
    let dir = tempfile::tempdir().expect("a directory");
    let long = dir.path().join("l".repeat(200)).join("store");
    let leader = open(&long, Backend::Sled).expect("it opens");
    let follower = open(&long, Backend::Sled).expect("it opens");
    follower.commit(once("a")).expect("it commits");
    assert!(leader.leads() && !follower.leads());
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&long), mode(&long.join("socket"))), (0o700, 0o600));
}

#[test]
fn store_leader_that_does_not_answer_is_reported() {
    let (dir, kept) = (tempfile::tempdir().expect("a directory"), Arc::<MemoryStore>::default());
    let lock = leader_lock::lock(dir.path()).expect("it locks").expect("it is free");
    let patience = Duration::from_millis(200);
    let begun = Instant::now();
    let refused = OpenStore::open_within(dir.path(), opener(&kept), patience).map(drop);
    let Err(StoreError::Hangs { pid, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(pid, std::process::id());
    // A leader that listens but sends nothing.
    let listener = socket::listen(dir.path()).expect("it listens");
    let refused = OpenStore::open_within(dir.path(), opener(&kept), patience).map(drop);
    assert!(matches!(refused, Err(StoreError::Hangs { .. })), "{refused:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    drop((listener, lock));
    OpenStore::open_within(dir.path(), opener(&kept), patience).expect("when it has gone it opens");
}

#[test]
fn store_leader_that_stops_answering_is_reported() {
    let (dir, kept) = (tempfile::tempdir().expect("a directory"), Arc::<MemoryStore>::default());
    let _lock = leader_lock::lock(dir.path()).expect("it locks").expect("it is free");
    let listener = socket::listen(dir.path()).expect("it listens");
    let leader = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("somebody comes");
        protocol::read_follower_greeting(&stream).expect("it greets");
        protocol::send_leader_greeting(&stream).expect("it is greeted");
        // The greeting is all it sends.
        drop((&stream).read_to_end(&mut Vec::new()));
    });
    let follower = OpenStore::open_within(dir.path(), opener(&kept), Duration::from_millis(200)).expect("it connects");
    let refused = follower.get(b"a");
    assert!(matches!(refused, Err(StoreError::Hangs { pid, .. }) if pid == std::process::id()), "{refused:?}");
    let refused = follower.commit(once("a"));
    assert!(matches!(refused, Err(StoreError::Hangs { .. })), "{refused:?}");
    drop(follower);
    leader.join().expect("it sees that the follower has gone");
}

#[test]
fn store_leader_that_fails_to_open_releases_the_lock() {
    let (dir, kept) = (tempfile::tempdir().expect("a directory"), Arc::<MemoryStore>::default());
    let broken: Opener = Box::new(|_| Err(StoreError::Damaged("it is".to_owned())));
    let refused = OpenStore::open(dir.path(), broken).map(drop);
    assert!(matches!(refused, Err(StoreError::Damaged(_))), "{refused:?}");
    OpenStore::open(dir.path(), opener(&kept)).expect("the lock is free again");
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..20)
}

fn requests() -> impl Strategy<Value = StoreRequest> {
    let entry = || (bytes(), proptest::option::of(bytes()));
    let owner = proptest::option::of((bytes(), any::<u64>()).prop_map(|(key, epoch)| Owner { key, epoch }));
    let batch = (owner, proptest::collection::vec(entry(), 0..4), proptest::collection::vec(entry(), 0..4));
    let batch = batch.prop_map(|(owner, expect, changes)| Batch {
        owner,
        expect: expect.into_iter().map(|(key, value)| Expectation { key, value }).collect(),
        changes: changes.into_iter().map(|(key, value)| Change { key, value }).collect(),
        own: false,
    });
    prop_oneof![
        bytes().prop_map(|key| StoreRequest::Get { key }),
        (bytes(), proptest::option::of(bytes()), any::<u64>()).prop_map(|(prefix, after, limit)| StoreRequest::Scan {
            prefix,
            after,
            limit
        }),
        (any::<u32>(), any::<u64>(), batch).prop_map(|(slot, sequence, batch)| StoreRequest::Commit {
            slot,
            sequence,
            batch
        }),
        Just(StoreRequest::Compact),
        Just(StoreRequest::Bye),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn store_request_written_is_read_back_and_truncated_is_refused(request in requests(), id: u64) {
        let frame = request.frame(id);
        let read = read_frame(&frame[..]).expect("it is whole");
        prop_assert_eq!(StoreRequest::read(&read).expect("it parses"), (id, request));
        // A truncated or mangled frame is rejected, or read as something else; it does no other harm.
        for end in 0..read.len() {
            prop_assert!(StoreRequest::read(&read[..end]).is_err());
        }
    }

    #[test]
    fn store_protocol_with_arbitrary_bytes_does_not_panic(frame in proptest::collection::vec(any::<u8>(), 0..200)) {
        drop(StoreRequest::read(&frame));
        drop(StoreAnswer::read(&frame));
    }
}

#[test]
fn store_answer_written_is_read_back_equal() {
    let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
    let answers = [
        StoreAnswer::Value(None),
        StoreAnswer::Value(Some(b"v".to_vec())),
        StoreAnswer::Page(vec![(b"k".to_vec(), Vec::new())], true),
        StoreAnswer::Done,
        StoreAnswer::Compacted(Compacted { before: 9, after: 2 }),
        StoreAnswer::Failed(StoreError::Stale { held: 1, found: Some(2) }),
        StoreAnswer::Failed(StoreError::Conflict { key: b"k".to_vec() }),
        StoreAnswer::Failed(StoreError::TooLarge { key: 1, value: 2 }),
        StoreAnswer::Failed(StoreError::TooMuch { bytes: 3 }),
        StoreAnswer::Failed(StoreError::Reserved),
        StoreAnswer::Failed(full().into()),
        StoreAnswer::Failed(StoreError::Damaged("here".to_owned())),
    ];
    for answer in answers {
        let frame = answer.frame(1);
        let (id, read) = StoreAnswer::read(&read_frame(&frame[..]).expect("it is whole")).expect("it parses");
        assert_eq!((id, read.frame(1)), (1, frame), "{answer:?}");
    }
}
