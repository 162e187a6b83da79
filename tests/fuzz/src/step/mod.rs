//! What a script guest says to its host: steps, and calls of its imports, whatever it is told.

mod drive;
mod image;
mod plan;
mod puppet;

use arbitrary::Unstructured;

use self::plan::Plan;

/// Data as a plan: what a guest says each time that it is entered, and what its host does then. No operation is handed out
/// twice; what was spent is what the gate admitted, and within its budgets; limits hold; the session works afterwards.
///
/// # Panics
/// If that does not hold.
pub fn step(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    if let Ok(plan) = Plan::read(&mut choices) {
        drive::drive(&plan, &mut choices);
    }
}
