//! An admitted call, and the reservation that it holds.
//!
//! **Invariant:** only `Gate::judge` and what follows it make an [`Admission`], and nothing changes one afterwards: the
//! call is made exactly as it was judged.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use serde_json::Value;
use tollhouse_methods::MethodDeclaration;
use tollhouse_policy::capability::Amount;
use tollhouse_policy::ledger::{AccountId, Ledger};
use tollhouse_types::error::{Failure, Location};
use tollhouse_types::memory::MemoryCharge;

use super::event::{Debits, Event};
use super::grant_index::ActiveGrant;

/// A call that the gate has admitted: granted, charged to its budgets, and numbered in its run's record. It may start
/// once [`Admission::event`] is logged.
pub struct Admission {
    pub(super) run: u64,
    pub(super) seq: u64,
    pub(super) caller: Option<u64>,
    pub(super) call: ReservedCall,
    pub(super) result_limit: u64,
}

/// A call with canonical arguments that was reserved in the accounts of its budgets.
pub(super) struct ReservedCall {
    pub(super) declaration: Arc<MethodDeclaration>,
    pub(super) arguments: ChargedArguments,
    /// Place in the script, as its guest tells it.
    pub(super) location: Option<Location>,
    pub(super) reservation: CallReservation,
}

/// Canonical arguments of a call, with their charge to the session's memory.
pub(super) struct ChargedArguments {
    pub(super) value: Value,
    pub(super) charge: MemoryCharge,
}

/// The reservation of a call in the accounts of its budgets.
pub(super) struct CallReservation {
    ledger: Arc<Ledger>,
    pub(super) active: ActiveGrant,
    amounts: Vec<(AccountId, Amount)>,
    is_released: AtomicBool,
}

impl CallReservation {
    pub(super) fn new(ledger: &Arc<Ledger>, active: &ActiveGrant, amounts: Vec<(AccountId, Amount)>) -> Self {
        Self { ledger: Arc::clone(ledger), active: active.clone(), amounts, is_released: AtomicBool::new(false) }
    }

    pub(super) fn amounts(&self) -> &[(AccountId, Amount)] {
        &self.amounts
    }

    /// Name of the grant that was debited.
    pub(super) fn grant(&self) -> &str {
        &self.active.grant.name
    }

    /// Gives back what was reserved. Only the first time counts.
    pub(super) fn release(&self) {
        if self.is_released.swap(true, Ordering::AcqRel) {
            return;
        }
        let amount = |id| self.amounts.iter().find(|(account, _)| *account == id).map(|(_, amount)| *amount);
        self.ledger.release(self.active.accounts[0].id, &amount);
    }
}

impl Admission {
    /// Number of the call in its run.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The canonical method.
    #[must_use]
    pub fn method(&self) -> &str {
        self.call.declaration.method()
    }

    /// The canonical arguments, exactly as they were judged.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.call.arguments.value
    }

    /// The declaration of the method.
    #[must_use]
    pub fn declaration(&self) -> &MethodDeclaration {
        &self.call.declaration
    }

    /// Returns the event that must be logged before the call starts.
    #[must_use]
    pub fn event(&self) -> Event<'_> {
        let ReservedCall { declaration, arguments, reservation, .. } = &self.call;
        Event::Admitted {
            run: self.run,
            seq: self.seq,
            caller: self.caller,
            method: declaration.method(),
            package: declaration.release(),
            arguments: &arguments.value,
            grant: reservation.grant(),
            debits: Debits { accounts: &reservation.active.accounts, amounts: reservation.amounts() },
        }
    }

    /// Returns the event to log if the call is released and never starts.
    #[must_use]
    pub fn released(&self) -> Event<'static> {
        Event::Released { run: self.run, seq: self.seq }
    }

    /// Gives back what was reserved for the call, which was never started, and will not start unless it is judged
    /// again. Only the first time counts.
    pub fn release(&self) {
        self.call.reservation.release();
    }

    /// Returns the failure of a call that may not begin any more: a grant that it was reserved in has ended or was
    /// revoked.
    #[must_use]
    pub fn ended(&self, now: SystemTime) -> Option<Failure> {
        let CallReservation { ledger, active, .. } = &self.call.reservation;
        let (_, refused) = ledger.over(active.accounts[0].id, now)?;
        let message = format!("`{}`: the grant ended before the call started: {refused}", self.method());
        Some(Failure::capability(message).with_hint("issue the grant again before making such calls"))
    }

    /// Number of bytes of the session's memory that the arguments take.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.call.arguments.charge.bytes()
    }

    /// Returns true if the method is a program.
    #[must_use]
    pub fn is_program(&self) -> bool {
        self.call.declaration.function().is_program()
    }

    /// Maximum size of the result in bytes of JSON text.
    #[must_use]
    pub fn result_limit(&self) -> u64 {
        self.result_limit
    }

    /// Returns true if the call is to a host function: the code that drives the run may answer it instead.
    #[must_use]
    pub fn is_host_function(&self) -> bool {
        self.call.declaration.package_declaration().is_none()
    }
}
