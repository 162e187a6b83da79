//! Factors of numbers beyond 64 bits.

use bashkit::Result;
use num_bigint::BigUint;

use super::{WorkCounter, word};

/// Divisors below this one are tried in turn.
const SMALL_LIMIT: u32 = 1 << 12;

/// Bases of the test of Miller and Rabin. No composite number is known that passes it for all of them by chance.
const WITNESSES: [u32; 24] =
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89];

/// Steps of the sequence between two computations of a common divisor.
const STEPS_PER_DIVISOR: usize = 256;

/// Returns the prime factors of a number in no order.
pub(super) fn factors(number: &BigUint, work: WorkCounter<'_>) -> Result<Vec<BigUint>> {
    let mut found = Vec::new();
    let mut rest = number.clone();
    let zero = BigUint::ZERO;
    for divisor in std::iter::once(2).chain((3..SMALL_LIMIT).step_by(2)) {
        while &rest % divisor == zero {
            found.push(BigUint::from(divisor));
            rest /= divisor;
        }
    }
    let mut open = vec![rest];
    while let Some(part) = open.pop() {
        if let Ok(part) = u64::try_from(&part) {
            found.extend(word::factors(part, work)?.into_iter().map(BigUint::from));
            continue;
        }
        if is_prime(&part, work)? {
            found.push(part);
            continue;
        }
        let divisor = proper_divisor(&part, work)?;
        open.push(&part / &divisor);
        open.push(divisor);
    }
    Ok(found)
}

/// Work of one multiplication modulo a number.
fn multiplication_work(number: &BigUint) -> u64 {
    let words = number.bits() / 64 + 1;
    words * words
}

/// Returns true if an odd number is prime.
fn is_prime(number: &BigUint, work: WorkCounter<'_>) -> Result<bool> {
    let last = number - 1_u32;
    let twos = last.trailing_zeros().unwrap_or(0);
    let odd = &last >> twos;
    let one = BigUint::from(1_u32);
    for witness in WITNESSES {
        work(number.bits() * multiplication_work(number) / 8)?;
        let mut value = BigUint::from(witness).modpow(&odd, number);
        if value == one || value == last {
            continue;
        }
        let passes = (1..twos).any(|_| {
            value = &value * &value % number;
            value == last
        });
        if !passes {
            return Ok(false);
        }
    }
    Ok(true)
}

fn common_divisor(mut left: BigUint, mut right: BigUint) -> BigUint {
    while right != BigUint::ZERO {
        (left, right) = (right.clone(), left % right);
    }
    left
}

fn difference(left: &BigUint, right: &BigUint) -> BigUint {
    if left > right { left - right } else { right - left }
}

/// Returns a divisor of a composite number, neither 1 nor the number.
fn proper_divisor(number: &BigUint, work: WorkCounter<'_>) -> Result<BigUint> {
    let one = BigUint::from(1_u32);
    for constant in 1_u32.. {
        let next = |value: &BigUint| (value * value + constant) % number;
        let (mut slow, mut fast) = (BigUint::from(2_u32), BigUint::from(2_u32));
        loop {
            work(STEPS_PER_DIVISOR as u64 * multiplication_work(number) / 4)?;
            let start = (slow.clone(), fast.clone());
            let mut product = one.clone();
            for _ in 0..STEPS_PER_DIVISOR {
                slow = next(&slow);
                fast = next(&next(&fast));
                product = product * difference(&slow, &fast) % number;
            }
            if common_divisor(product, number.clone()) == one {
                continue;
            }
            // One of these steps has the divisor; several may together have the whole number.
            (slow, fast) = start;
            let divisor = loop {
                slow = next(&slow);
                fast = next(&next(&fast));
                let divisor = common_divisor(difference(&slow, &fast), number.clone());
                if divisor != one {
                    break divisor;
                }
            };
            if divisor < *number {
                return Ok(divisor);
            }
            break;
        }
    }
    unreachable!("some constant has a sequence that finds a divisor")
}
