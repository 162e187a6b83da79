//! Factors of numbers of 64 bits: trial division by small numbers, then Pollard's rho, with the test of Miller and Rabin.

use bashkit::Result;

use super::WorkCounter;

/// Divisors below this one are tried in turn.
const SMALL_LIMIT: u64 = 1 << 10;

/// Bases for which the test of Miller and Rabin is exact below 2⁶⁴.
const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Steps of the sequence between two computations of a common divisor.
const STEPS_PER_DIVISOR: u64 = 128;

/// Returns the prime factors of a number in no order.
pub(super) fn factors(number: u64, work: WorkCounter<'_>) -> Result<Vec<u64>> {
    let mut found = Vec::new();
    let mut rest = number;
    let mut divisor = 2;
    while divisor < SMALL_LIMIT && divisor * divisor <= rest {
        while rest.is_multiple_of(divisor) {
            found.push(divisor);
            rest /= divisor;
        }
        divisor += if divisor == 2 { 1 } else { 2 };
    }
    let mut open = vec![rest];
    while let Some(part) = open.pop() {
        if part < 2 {
            continue;
        }
        if is_prime(part) {
            found.push(part);
            continue;
        }
        let divisor = proper_divisor(part, work)?;
        open.extend([divisor, part / divisor]);
    }
    Ok(found)
}

fn multiply(left: u64, right: u64, modulus: u64) -> u64 {
    let product = u128::from(left) * u128::from(right) % u128::from(modulus);
    u64::try_from(product).expect("less than the modulus")
}

fn power(base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let (mut base, mut result) = (base % modulus, 1);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base, modulus);
        }
        base = multiply(base, base, modulus);
        exponent >>= 1;
    }
    result
}

/// Returns true if a number of at least 2 is prime.
fn is_prime(number: u64) -> bool {
    if let Some(small) = WITNESSES.iter().find(|prime| number.is_multiple_of(**prime)) {
        return number == *small;
    }
    let twos = (number - 1).trailing_zeros();
    let odd = (number - 1) >> twos;
    WITNESSES.iter().all(|witness| {
        let mut value = power(*witness, odd, number);
        if value == 1 || value == number - 1 {
            return true;
        }
        (1..twos).any(|_| {
            value = multiply(value, value, number);
            value == number - 1
        })
    })
}

fn common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right > 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// Returns a divisor of a composite number, neither 1 nor the number.
fn proper_divisor(number: u64, work: WorkCounter<'_>) -> Result<u64> {
    let next = |value: u64, constant: u64| {
        let sum = u128::from(multiply(value, value, number)) + u128::from(constant);
        u64::try_from(sum % u128::from(number)).expect("less than the modulus")
    };
    for constant in 1.. {
        let (mut slow, mut fast) = (2, 2);
        loop {
            work(STEPS_PER_DIVISOR / 16)?;
            let start = (slow, fast);
            let mut product = 1;
            for _ in 0..STEPS_PER_DIVISOR {
                slow = next(slow, constant);
                fast = next(next(fast, constant), constant);
                product = multiply(product, slow.abs_diff(fast), number);
            }
            if common_divisor(product, number) == 1 {
                continue;
            }
            // One of these steps has the divisor; several may together have the whole number.
            (slow, fast) = start;
            let divisor = loop {
                slow = next(slow, constant);
                fast = next(next(fast, constant), constant);
                let divisor = common_divisor(slow.abs_diff(fast), number);
                if divisor > 1 {
                    break divisor;
                }
            };
            if divisor < number {
                return Ok(divisor);
            }
            break;
        }
    }
    unreachable!("some constant has a sequence that finds a divisor")
}
