//! Ctrl-C: what is under way stops, and so does a question that waits for its answer.

use std::sync::atomic::{AtomicU32, Ordering};

static PRESSED: AtomicU32 = AtomicU32::new(0);

/// Has this done at each Ctrl-C. Without the handler it just ends the process, which is all that it is for.
pub(crate) fn on_press(stop: impl Fn() + Send + 'static) {
    let _ = ctrlc::set_handler(move || {
        PRESSED.fetch_add(1, Ordering::Relaxed);
        stop();
    });
}

/// How often it was pressed since [`on_press`].
pub(crate) fn presses() -> u32 {
    PRESSED.load(Ordering::Relaxed)
}
