mod clock;
mod command;
mod format;
mod input;
