//! Entry point of libFuzzer for [`tollhouse_fuzz::component`]. Without libFuzzer, the program runs the target on the files
//! that are named.
#![cfg_attr(fuzzing, no_main)]

// `reflect` catches panics of the decoder, but libFuzzer's panic hook would abort the process first. A hook that does
// nothing prevents this. A panic that nothing catches still ends the process.
#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| tollhouse_fuzz::component(data)
);

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    tollhouse_fuzz::replay_files(tollhouse_fuzz::component)
}
