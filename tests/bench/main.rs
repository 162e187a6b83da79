//! Measures the figures that Tollhouse promises: `cargo xtask bench [calls] [fairness] [files] [mcp] [memory]
//! [programs] [registry] [sessions] [shell] [walls]`; and `cargo xtask soak`, which runs for long.
//!
//! Each figure is the median of many rounds; the machine need not be idle.

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

/// Parts of the benchmark, in the order in which they run.
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
        let Some(soak) = soak::SoakTest::from(options) else {
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
