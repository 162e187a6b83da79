//! The figures that Tollhouse promises, measured: `cargo xtask bench [calls] [fairness] [files] [mcp] [memory] [programs]
//! [registry] [sessions] [shell] [walls]`; and `cargo xtask soak`, which runs for long.
//!
//! Medians of many rounds, on whatever this machine is doing.

mod calls;
mod fairness;
mod files;
mod heap;
mod mcp;
mod memory;
mod programs;
mod registry;
mod sessions;
mod shell;
mod soak;
mod table;
mod walls;

/// Parts that are measured, each on its own: the memory of one must not be that of another.
const PARTS: [(&str, fn()); 10] = [
    ("calls", calls::measure),
    ("fairness", fairness::measure),
    ("files", files::measure),
    ("mcp", mcp::measure),
    ("memory", memory::measure),
    ("programs", programs::measure),
    ("registry", registry::measure),
    ("sessions", sessions::measure),
    ("shell", shell::measure),
    ("walls", walls::measure),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [part, home, directory, session] = arguments.as_slice()
        && part == sessions::IDLE
    {
        return sessions::idle(home.as_ref(), directory.as_ref(), session);
    }
    if let Some(("soak", options)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        let Some(soak) = soak::Soak::from(options) else {
            eprintln!("usage: soak [--minutes N] [--sessions M]");
            std::process::exit(2);
        };
        std::process::exit(i32::from(!soak.run()));
    }
    if let Some(unknown) = arguments.iter().find(|wanted| PARTS.iter().all(|(name, _)| name != wanted)) {
        eprintln!("`{unknown}` is nothing that is measured");
        std::process::exit(2);
    }
    table::head();
    for (name, measure) in PARTS {
        if arguments.is_empty() || arguments.iter().any(|wanted| wanted == name) {
            measure();
        }
    }
}
