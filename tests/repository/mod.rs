//! What this repository says of itself: its architecture, the commands of its documents.

mod architecture;
mod documentation;
