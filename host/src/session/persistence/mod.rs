//! Sessions that outlive their process: their records in a [`Store`], their files in [`Blobs`].
//!
//! `sessions` has the store itself, which opens, lists, changes, forks and removes sessions. Its collaborators:
//!
//! | collaborator | module | what it does |
//! | --- | --- | --- |
//! | `SessionReader` | `session_reader` | reads runs, files, policies and logs |
//! | `RunHistory` | `history` | shows runs call by call (`run_replay`), where a file comes from (`file_origin`), and a run with all that is needed to run it again (`recorded_run`) |
//! | `CallDecisions` | `call_decisions` | lists calls that wait for a human, and decides about them; `edited_cost`: costs of calls with other arguments |
//! | `UnfinishedRuns` | `run_journal` | ends or resumes runs that were suspended or interrupted; `calls_in_doubt`: calls that were interrupted |
//! | `RunJournals`, `PendingJournal` | `stored_journal`, `pending_journal` | read journals in the store; what waits to be added to them |
//! | `SessionTransfer` | `transfer` | moves sessions between stores: `export`, `import`, `hand_over`; `import_decision`: budgets there |
//! | `GarbageCollector` | `gc` | removes blobs that no session names |
//! | `SessionVerifier` | `verify` | verifies whole sessions; `record_check`: single records |
//! | `SessionCreator` | `create` | creates sessions from what they start with |
//! | `BudgetFamilies` | `shared_budgets` | budgets that several sessions share |
//! | `RecordReader` | `record_reader` | reads single records |
//! | `BlobReferences` | `gc_roots` | follows blobs from the records that name them |
//!
//! Below them: `session_id`, `record_key`, `record`, `record_status` (names, keys and records); `session_lock`,
//! `termination` (who may change a session, and how its runs are stopped when it is removed); `session_log` (the log and
//! the ledger, and the one way to commit); `open_session` (a session that is in use); `fork`, `fork_point` (forks, also in the
//! middle of a run); `removal`; `revision` (which files of a session are meant); `notifications` (who was told of suspended runs).
//!
//! **Invariant:** whoever changes a session holds its lock, and each commit carries its epoch.
//!
//! **Invariant:** a commit that names a blob comes after the blob is durable.

mod call_counts;
mod call_decisions;
mod calls_in_doubt;
mod create;
mod edited_cost;
mod error;
mod export;
mod file_origin;
mod fork;
mod fork_point;
mod gc;
mod gc_roots;
mod hand_over;
mod heaps;
mod history;
mod import;
mod import_decision;
mod notifications;
mod open_session;
mod pending_journal;
mod record;
mod record_check;
mod record_cursor;
mod record_key;
mod record_reader;
mod record_status;
mod recorded_run;
mod removal;
mod revision;
mod run_journal;
mod run_replay;
mod session_id;
mod session_lock;
mod session_log;
mod session_reader;
mod sessions;
mod shared_budgets;
mod stored_journal;
mod termination;
mod transfer;
mod verify;

pub(super) use call_counts::CallCounts;
pub use call_decisions::{Answered, CallDecisions, PendingCall, PendingState};
pub use calls_in_doubt::{CallInDoubt, CallsForHumans, UnreadableSession};
pub use create::{OpenOptions, Overrides};
pub(in crate::session) use create::{SessionCreator, is_same_but_for_limits};
pub use error::SessionsError;
pub use export::Exported;
pub use file_origin::{FileOrigin, FileWriter, OriginCall};
pub use fork::MiddleFork;
pub use gc::GarbageCollector;
pub use hand_over::HandOver;
pub use history::RunHistory;
pub use import::{ImportBudget, ImportOptions, Imported, ImportedBudget};
pub(super) use open_session::{PersistentSession, StartedRun, error_for_log};
pub(super) use record::{Balance, LogPosition};
pub use record::{Created, ForkedRun, Head, Origin, RunRecord, States};
pub use record_status::RecordStatus;
pub(super) use recorded_run::RecordedRun;
pub use removal::Removed;
pub use revision::{At, Point, PointError};
pub use run_journal::UnfinishedRuns;
pub(super) use run_journal::{ResumedRun, RunHeapPosition};
pub use run_replay::{CallDecision, ChangedFile, HumanAnswer, ReplayedCall, ReplayedRun};
pub use session_id::{SessionId, SessionIdError};
pub use session_lock::Waiting;
pub(super) use session_log::JudgedOperation;
pub use session_reader::{LogLine, SessionReader};
pub use sessions::{Salvaged, Sessions, Shown};
pub(super) use shared_budgets::SpendingObserver;
pub(super) use termination::CancelRegistration;
pub use transfer::SessionTransfer;
pub use verify::{Checked, SessionVerifier};
