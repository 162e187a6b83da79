//! Steps and calls of imports by a hostile script guest.

mod drive;
mod image;
mod plan;
mod puppet;

use arbitrary::Unstructured;

use self::plan::Plan;

/// Reads data as a plan: what a guest does each time it is entered, and how its host reacts. No operation may be handed
/// out twice, the budgets must match the admitted calls, limits must hold, and the session must work afterwards.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn step(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    if let Ok(plan) = Plan::read(&mut choices) {
        drive::drive(&plan, &mut choices);
    }
}
