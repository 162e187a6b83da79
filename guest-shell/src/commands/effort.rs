//! Account of work for commands whose single operations may take long, such as arithmetic with large numbers.
//!
//! Work is counted before it is done, so that an operation that exceeds the fuel never begins.

/// Units of work per unit of the script's fuel, which is one step of the shell's interpreter and takes some 2 us.
pub(crate) const WORK_PER_FUEL: u64 = 32;

/// Size of the largest number that is computed, in bits. Three of this size fit into the default memory besides the
/// interpreter.
pub(crate) const MAX_BITS: u64 = 1 << 28;

/// Reason why an operation was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The script's fuel does not cover it.
    Fuel,
    /// The result would exceed [`MAX_BITS`].
    Memory,
}

/// Account of the work that was done and of the limit.
#[derive(Debug)]
pub(crate) struct Effort {
    spent: u64,
    allowed: u64,
}

impl Effort {
    /// Creates an account without a limit.
    pub(crate) fn unlimited() -> Self {
        Self { spent: 0, allowed: u64::MAX }
    }

    /// Sets how much more work is allowed, in units of fuel.
    pub(crate) fn allow_fuel(&mut self, fuel: u64) {
        self.allowed = self.spent.saturating_add(fuel.saturating_mul(WORK_PER_FUEL));
    }

    /// Returns the total work so far.
    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }

    /// Accounts for work that is about to be done.
    pub(crate) fn spend(&mut self, work: u64) -> Result<(), Refusal> {
        self.spent = self.spent.saturating_add(work);
        if self.spent > self.allowed { Err(Refusal::Fuel) } else { Ok(()) }
    }

    /// Accounts for a multiplication or division of numbers with these sizes, in bits.
    pub(crate) fn spend_product(&mut self, one: u64, other: u64) -> Result<(), Refusal> {
        self.check_size(one.saturating_add(other))?;
        // Limbs of 32 bits; 64 products of limbs take about as long as one instruction.
        let limbs = (one / 32 + 1).saturating_mul(other / 32 + 1);
        self.spend(1 + limbs / 64)
    }

    /// Refuses results of more than [`MAX_BITS`].
    #[expect(clippy::unused_self, reason = "a question to the account, like the others")]
    pub(crate) fn check_size(&self, bits: u64) -> Result<(), Refusal> {
        if bits > MAX_BITS { Err(Refusal::Memory) } else { Ok(()) }
    }
}
