//! Entry point of libFuzzer for [`tollhouse_fuzz::pack`]. Without libFuzzer, the program runs the target on the files
//! that are named.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| tollhouse_fuzz::pack(data));

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    tollhouse_fuzz::replay_files(tollhouse_fuzz::pack)
}
