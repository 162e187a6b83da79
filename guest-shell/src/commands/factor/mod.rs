//! `factor`: prime factors of numbers of any size.

mod large;
mod word;

use crate::commands::option_parser::gnu_getopt;
use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, PlacedMessages, Result};
use num_bigint::BigUint;

const HELP: &str = "\
Usage: factor [NUMBER]...
  or:  factor OPTION
Print the prime factors of each specified integer NUMBER.  If none
are specified on the command line, read them from standard input.

      --help     display this help and exit
      --version  output version information and exit
";

/// Callback that counts work, and fails when no more is allowed.
type WorkCounter<'c> = &'c dyn Fn(u64) -> Result<()>;

/// Command `factor` of the shell.
pub(crate) struct Factor;

#[async_trait]
impl Builtin for Factor {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("factor (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let (_, mut numbers) = match gnu_getopt("factor", ctx.args, "", &[], true, 1) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        if numbers.is_empty() {
            let input = ctx.stdin_to_end().await?;
            numbers = input.text_lossy().split_whitespace().map(str::to_owned).collect();
        }
        let (mut output, mut errors) = (String::new(), PlacedMessages::new());
        for number in &numbers {
            match parse_number(number) {
                Some(value) => push_line(&mut output, &value, &|work| ctx.consume_budget_work(work))?,
                None => {
                    let message = format!("factor: '{number}' is not a valid positive integer\n");
                    errors.push_buffered(&message, output.len());
                }
            }
        }
        let mut result = ExecResult::ok(output);
        result.exit_code = i32::from(!errors.is_empty());
        result.stderr = errors.into();
        Ok(result)
    }
}

/// Returns a decimal number, which may have a plus sign.
fn parse_number(text: &str) -> Option<BigUint> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    BigUint::parse_bytes(digits.as_bytes(), 10).filter(|_| valid)
}

/// Adds a number and its factors in ascending order.
fn push_line(output: &mut String, number: &BigUint, work: WorkCounter<'_>) -> Result<()> {
    output.push_str(&format!("{number}:"));
    for factor in factors(number, work)? {
        output.push_str(&format!(" {factor}"));
    }
    output.push('\n');
    Ok(())
}

/// Returns the prime factors of a number in ascending order.
fn factors(number: &BigUint, work: WorkCounter<'_>) -> Result<Vec<BigUint>> {
    let mut found = match u64::try_from(number) {
        Ok(number) => word::factors(number, work)?.into_iter().map(BigUint::from).collect(),
        Err(_) => large::factors(number, work)?,
    };
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn factors_of_numbers_of_any_size_are_those_of_gnu() {
        let result = run("factor 0 1 2 +72 00012 18446744073709551615 18446744073709551557 1000000016000000063 \
            18446744073709551616 18446744073709551617 12345678901234567890123 \
            170141183460469231731687303715884105727 10000000000000000000000000000000000000000 \
            1000036000099 18446799413941772685654671")
        .await;
        let lines: Vec<&str> = result.stdout.lines().collect();
        assert_eq!(
            lines,
            [
                "0:",
                "1:",
                "2: 2",
                "72: 2 2 2 3 3",
                "12: 2 2 3",
                "18446744073709551615: 3 5 17 257 641 65537 6700417",
                "18446744073709551557: 18446744073709551557",
                "1000000016000000063: 1000000007 1000000009",
                &("18446744073709551616:".to_owned() + &" 2".repeat(64)),
                "18446744073709551617: 274177 67280421310721",
                "12345678901234567890123: 3 560113 7347135846537257",
                "170141183460469231731687303715884105727: 170141183460469231731687303715884105727",
                &("10000000000000000000000000000000000000000:".to_owned() + &" 2".repeat(40) + &" 5".repeat(40)),
                "1000036000099: 1000003 1000033",
                "18446799413941772685654671: 1000003 18446744073709551557",
            ]
        );
    }

    #[tokio::test]
    async fn words_that_are_no_numbers_are_errors_among_the_others() {
        let result = run("printf '4\\n\\n6 x 9\\n' | factor").await;
        assert_eq!(&*result.stdout, "4: 2 2\n6: 2 3\n9: 3 3\n");
        assert_eq!((&*result.stderr, result.exit_code), ("factor: 'x' is not a valid positive integer\n", 1));
        for word in ["''", "-- -5", "1.5", "' 9 '", "++7", "0x10"] {
            let result = run(&format!("factor {word}")).await;
            assert_eq!((&*result.stdout, result.exit_code), ("", 1), "{word}");
        }
        let result = run("factor -h 8").await;
        let message = "factor: invalid option -- 'h'\nTry 'factor --help' for more information.\n";
        assert_eq!((&*result.stderr, result.exit_code), (message, 1));
    }
}
