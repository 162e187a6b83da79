//! Agent that is compiled to a component. It reads numbers from standard input, one on each line, and describes them
//! with a tool that it imports by its WIT name: `tollhouse run agent.wasm --allow 'stats/*' < numbers.txt`.

mod bindings {
    wit_bindgen::generate!({
        path: ["../../tools/stats/wit", "wit"],
        world: "examples:agent/agent",
        generate_all,
    });
}

use std::io::Read as _;
use std::process::ExitCode;

use bindings::tollhouse::stats::stats;

fn main() -> ExitCode {
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        eprintln!("cannot read the numbers: {error}");
        return ExitCode::FAILURE;
    }
    let values: Vec<f64> = match text.split_whitespace().map(str::parse).collect() {
        Ok(values) => values,
        Err(error) => {
            eprintln!("not a number: {error}");
            return ExitCode::FAILURE;
        }
    };
    match stats::describe(&values) {
        Ok(found) => {
            println!("{} values, mean {}, from {} to {}", found.count, found.mean, found.min, found.max);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}", error.message);
            ExitCode::FAILURE
        }
    }
}
