use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;

use super::*;

const NOW: SystemTime = UNIX_EPOCH;

fn calls(calls: u64) -> Terms {
    Terms { calls: Some(calls), ..Terms::default() }
}

fn nothing(_: AccountId) -> Option<Amount> {
    None
}

#[test]
fn threads_together_never_overspend() {
    let ledger = Ledger::default();
    let parent = ledger.open(Terms { calls: Some(1_500), spend: Some(Amount::whole(3_000)), ..Terms::default() });
    let children = [0, 1].map(|_| ledger.open(Terms { calls: Some(900), parent: Some(parent), ..Terms::default() }));
    let (made, spent) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..8_usize {
            let (ledger, made, spent) = (&ledger, &made, &spent);
            scope.spawn(move || {
                for round in 0..1_000_u64 {
                    let cost = round % 5;
                    if ledger.reserve(children[thread % 2], &|_| Some(Amount::whole(cost)), NOW).is_ok() {
                        made.fetch_add(1, Ordering::Relaxed);
                        spent.fetch_add(cost, Ordering::Relaxed);
                        // Some calls never start.
                        if round % 7 == 0 {
                            ledger.release(children[thread % 2], &|_| Some(Amount::whole(cost)));
                            made.fetch_sub(1, Ordering::Relaxed);
                            spent.fetch_sub(cost, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let used = ledger.used(parent);
    assert_eq!((used.calls, used.spend), (made.into_inner(), Amount::whole(spent.into_inner())));
    assert!(used.calls <= 1_500 && used.spend <= Amount::whole(3_000), "{used:?}");
    assert_eq!(children.map(|child| ledger.used(child).calls).iter().sum::<u64>(), used.calls);
}

/// Sums of another process's log can be anything: what does not fit must not count as nothing.
#[test]
fn use_that_overflows_counts_as_the_maximum() {
    let maximum = Amount::from_millionths(u128::MAX);
    let full = Used { calls: u64::MAX, spend: maximum };
    assert_eq!(full.plus(Used::of_call(Amount::whole(1))), full);
    assert_eq!(Used::default().minus(Used::of_call(Amount::whole(1))), Used::default());
}

#[test]
fn debit_and_release_of_a_lineage_change_only_accounts_that_sum_up() {
    let ledger = Ledger::default();
    let parent = ledger.open(Terms { spend: Some(Amount::whole(9)), ..Terms::default() });
    let middle = ledger.open(Terms { parent: Some(parent), ..calls(5) });
    let child = ledger.open(Terms { spend: Some(Amount::whole(9)), parent: Some(middle), ..Terms::default() });
    let amount = |id: AccountId| (id != middle).then(|| Amount::whole(if id == child { 2 } else { 3 }));
    let used = || [child, middle, parent].map(|id| (ledger.used(id).calls, ledger.used(id).spend));
    let before = used();
    assert_eq!(ledger.reserve(child, &amount, NOW), Ok(()));
    assert_eq!(used(), [(1, Amount::whole(2)), (1, Amount::default()), (1, Amount::whole(3))]);
    ledger.release(child, &amount);
    assert_eq!(used(), before);
}

#[test]
fn ledger_refusal_by_parent_debits_no_child() {
    let ledger = Ledger::default();
    let parent = ledger.open(calls(1));
    let child = ledger.open(Terms { parent: Some(parent), ..calls(5) });
    assert_eq!(ledger.reserve(child, &nothing, NOW), Ok(()));
    assert_eq!(ledger.reserve(child, &nothing, NOW), Err((parent, Refused::Calls { limit: 1 })));
    assert_eq!((ledger.used(child).calls, ledger.used(parent).calls), (1, 1));
    ledger.release(child, &nothing);
    assert_eq!((ledger.used(child).calls, ledger.used(parent).calls), (0, 0));
}

#[test]
fn grant_expiry_and_revocation_apply_to_derived_grants() {
    let ledger = Ledger::default();
    let end = UNIX_EPOCH + Duration::from_secs(10);
    let parent = ledger.open(Terms { expires: Some(end), ..Terms::default() });
    let child = ledger.open(Terms { parent: Some(parent), ..Terms::default() });
    let grandchild = ledger.open(Terms { parent: Some(child), ..Terms::default() });
    assert_eq!(ledger.reserve(grandchild, &nothing, end - Duration::from_nanos(1)), Ok(()));
    assert_eq!(ledger.reserve(grandchild, &nothing, end), Err((parent, Refused::Expired)));
    ledger.revoke(child);
    assert_eq!(ledger.reserve(grandchild, &nothing, NOW), Err((child, Refused::Revoked)));
    assert_eq!(ledger.reserve(parent, &nothing, NOW), Ok(()));
}

#[test]
fn ledger_reservation_without_amount_is_refused_under_spend_limit() {
    let ledger = Ledger::default();
    let account = ledger.open(Terms { spend: Some(Amount::whole(10)), ..Terms::default() });
    assert_eq!(ledger.reserve(account, &nothing, NOW), Err((account, Refused::NoAmount)));
    let huge = Amount::from_millionths(u128::MAX);
    let refused = ledger.reserve(account, &|_| Some(huge), NOW);
    assert!(matches!(refused, Err((_, Refused::Spend { .. }))), "{refused:?}");
    assert_eq!(ledger.reserve(account, &|_| Some(Amount::whole(10)), NOW), Ok(()));
    let refused = ledger.reserve(account, &|_| Some(Amount::from_millionths(1)), NOW);
    assert!(matches!(refused, Err((_, Refused::Spend { .. }))), "{refused:?}");
    assert_eq!(ledger.used(account), Used { calls: 1, spend: Amount::whole(10) });
}

#[test]
fn ledger_spending_by_others_of_shared_account_keeps_local_reservations() {
    let ledger = Ledger::default();
    let account = ledger.open(Terms { spend: Some(Amount::whole(10)), ..calls(5) });
    let used = |calls, spend| Used { calls, spend: Amount::whole(spend) };
    assert_eq!(ledger.reserve(account, &|_| Some(Amount::whole(2)), NOW), Ok(()));
    ledger.shift(account, used(0, 0), used(3, 7));
    assert_eq!(ledger.used(account), used(4, 9));
    let refused = ledger.reserve(account, &|_| Some(Amount::whole(2)), NOW);
    assert!(matches!(refused, Err((_, Refused::Spend { .. }))), "{refused:?}");
    ledger.shift(account, used(3, 7), used(1, 1));
    ledger.release(account, &|_| Some(Amount::whole(2)));
    assert_eq!(ledger.used(account), used(1, 1));
}

#[test]
fn allowance_covers_usage_up_to_its_limits() {
    let allowance = Allowance { calls: Some(2), spend: Some(Amount::whole(5)) };
    let used = |calls, spend| Used { calls, spend: Amount::whole(spend) };
    assert!(allowance.covers(used(2, 5)) && !allowance.covers(used(3, 0)) && !allowance.covers(used(0, 6)));
    assert!(Allowance::default().covers(used(u64::MAX, 1)) && !Allowance::default().is_limited());
    let most = Used { calls: u64::MAX, spend: Amount::from_millionths(u128::MAX) };
    assert_eq!(most.plus(used(1, 1)), most);
}

proptest! {
    /// Whatever is requested in whatever order, no account exceeds its terms, and each contains the sum of those below
    /// it.
    #[test]
    fn ledger_accounts_are_never_overspent(
        limits in proptest::collection::vec((0_u64..20, 0_u64..50), 4),
        asks in proptest::collection::vec((0_usize..4, 0_u64..15, any::<bool>()), 0..60),
    ) {
        let ledger = Ledger::default();
        let mut accounts = Vec::new();
        for (index, (calls, spend)) in limits.iter().enumerate() {
            // A tree: the first account is the parent of the next two, the second one that of the last.
            let parent = [None, Some(0), Some(0), Some(1)][index].map(|parent: usize| accounts[parent]);
            let spend = Some(Amount::whole(*spend));
            accounts.push(ledger.open(Terms { calls: Some(*calls), spend, expires: None, parent }));
        }
        let above = [vec![0], vec![1, 0], vec![2, 0], vec![3, 1, 0]];
        let mut expected = vec![Used::default(); 4];
        for (at, amount, release) in asks {
            let amount = Amount::whole(amount);
            let fits = above[at].iter().all(|&level: &usize| {
                let sum = expected[level].spend.checked_add(amount).expect("small");
                expected[level].calls < limits[level].0 && sum <= Amount::whole(limits[level].1)
            });
            prop_assert_eq!(ledger.reserve(accounts[at], &|_| Some(amount), NOW).is_ok(), fits);
            if fits && release {
                ledger.release(accounts[at], &|_| Some(amount));
            } else if fits {
                for &level in &above[at] {
                    expected[level].calls += 1;
                    expected[level].spend = expected[level].spend.checked_add(amount).expect("small");
                }
            }
        }
        for (account, expected) in accounts.iter().zip(&expected) {
            prop_assert_eq!(ledger.used(*account), *expected);
        }
    }
}
