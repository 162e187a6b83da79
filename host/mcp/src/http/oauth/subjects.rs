//! Sessions of those whose access tokens are accepted.
//!
//! A subject's budgets are counted once for the life of the server, whichever tokens it comes with: the session of some
//! scopes is derived from one with all scopes of the configuration, which counts what each of them spends. Files are
//! those of the scopes: what a token with more scopes has read, one with fewer does not see.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tollhouse::capability::{Grant, Policy};
use tollhouse::session::{HostError, Session};

use super::super::OpenSession;
use super::super::clients::{ClientName, Unauthorized};
use super::super::opened_once::OpenedOnce;
use super::{Identity, OAuthError};
use crate::approvals::DeferringApprover;
use crate::sessions::{ClientSessions, RootSession};
use crate::tool_error::chain;
use crate::waiting_calls::TokenClient;

/// Most subjects. None is forgotten, since its budgets would be whole again.
const MAX_SUBJECTS: usize = 1024;

/// Most sets of scopes that a subject has sessions for.
const MAX_SETS: usize = 64;

/// Sessions of all subjects, and what their scopes grant.
pub struct SubjectSessions {
    /// Names of the grants of each scope in `policy`.
    scopes: BTreeMap<String, BTreeSet<String>>,
    /// Grants of all scopes.
    policy: Policy,
    open: OpenSession,
    subjects: OpenedOnce<(), Arc<Subject>>,
}

struct Subject {
    /// Session with all scopes. It runs nothing, and counts; its files are those that the others begin with.
    session: Session,
    clients: Mutex<HashMap<BTreeSet<String>, Arc<ClientSessions>>>,
}

impl SubjectSessions {
    /// Creates the sessions, none of which is open yet.
    #[must_use]
    pub fn new(scopes: BTreeMap<String, Vec<Grant>>, open: OpenSession) -> Self {
        let (mut policy, mut names) = (Policy::default(), BTreeMap::new());
        for (scope, grants) in scopes {
            let own: &mut BTreeSet<String> = names.entry(scope.clone()).or_default();
            for grant in grants {
                // A scope has no space: so the grants of two scopes have two names.
                let name = format!("{scope} {}", grant.name);
                own.insert(name.clone());
                policy.push(Grant { name, ..grant });
            }
        }
        Self { scopes: names, policy, open, subjects: OpenedOnce::default() }
    }

    /// Checks that sessions can be opened with the grants of all scopes, and of each.
    ///
    /// # Errors
    /// If the grants cannot be used with what is mounted, or those of one scope would take back an approval.
    pub fn check(&self) -> Result<(), OAuthError> {
        let nobody = TokenClient::Subject(String::new());
        let all = (self.open)(&nobody, self.policy.clone()).map_err(|error| OAuthError::Grants(Box::new(error)))?;
        // If each scope is right alone, each set of them is.
        for scope in self.scopes.keys() {
            let alone = all.delegate_subset(|grant| self.is_of(grant, &[scope.clone()].into()));
            alone.map_err(|source| OAuthError::Scope { scope: scope.clone(), source: Box::new(source) })?;
        }
        Ok(())
    }

    /// Returns the client of a subject with some scopes, and its name.
    pub(in crate::http) fn client(
        &self,
        identity: &Identity,
    ) -> Result<(Arc<ClientSessions>, ClientName), Unauthorized> {
        let unavailable = |error: HostError| Unauthorized::Unavailable(chain(&error));
        let name = ClientName { own: identity.name(), account: identity.subject_name() };
        let subject = self.subjects.get_or_open(
            &identity.subject,
            (),
            |subjects| match subjects.len() {
                MAX_SUBJECTS.. => Err(Unauthorized::Unavailable(format!("{MAX_SUBJECTS} subjects have sessions here"))),
                _ => Ok(()),
            },
            || {
                let client = TokenClient::Subject(identity.subject.clone());
                let session = (self.open)(&client, self.policy.clone()).map_err(unavailable)?;
                Ok(Arc::new(Subject { session, clients: Mutex::default() }))
            },
        )?;
        let mut clients = subject.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&identity.scopes) {
            return Ok((Arc::clone(client), name));
        }
        if clients.len() >= MAX_SETS {
            return Err(Unauthorized::Unavailable(format!("{MAX_SETS} sets of scopes of this subject are in use")));
        }
        let session =
            subject.session.delegate_subset(|grant| self.is_of(grant, &identity.scopes)).map_err(unavailable)?;
        let root = RootSession { session, approver: Arc::<DeferringApprover>::default(), stored: None };
        let client = Arc::new(ClientSessions::of_account(&root, name.account.clone()));
        clients.insert(identity.scopes.clone(), Arc::clone(&client));
        Ok((client, name))
    }

    /// Returns true if a subject has a session, or is about to.
    pub(in crate::http) fn has_any(&self) -> bool {
        self.subjects.has_any()
    }

    /// Returns true if a grant is one of these scopes.
    fn is_of(&self, grant: &str, scopes: &BTreeSet<String>) -> bool {
        scopes.iter().any(|scope| self.scopes.get(scope).is_some_and(|grants| grants.contains(grant)))
    }
}
