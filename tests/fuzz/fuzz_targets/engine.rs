//! libFuzzer's way into [`tollhouse_fuzz::engine`]. Built without it, this replays the files that are named.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| tollhouse_fuzz::engine(data));

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    tollhouse_fuzz::replay_files(tollhouse_fuzz::engine)
}
