//! libFuzzer's way into [`tollhouse_fuzz::component`]. Built without it, this replays the files that are named.
#![cfg_attr(fuzzing, no_main)]

// `reflect` catches panics of the decoder, and libFuzzer's hook would abort before it can: a hook that does nothing
// lets it. What nobody catches ends the process all the same.
#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| tollhouse_fuzz::component(data)
);

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    tollhouse_fuzz::replay_files(tollhouse_fuzz::component)
}
