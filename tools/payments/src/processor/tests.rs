//! Tests of the rules with a store in memory, and of concurrent changes between a read and a write.

use super::*;
use crate::charge::{Card, Decline};
use crate::store::memory::Memory;

fn processor() -> Processor<Memory> {
    Processor(Memory::default())
}

fn order(amount: u64) -> Order {
    Order { amount, currency: "usd".into(), ..Order::default() }
}

fn reserve(amount: u64) -> Order {
    Order { reserve: true, ..order(amount) }
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> Kind {
    result.expect_err("it is refused").kind
}

#[test]
fn charge_created_is_found() {
    let processor = processor();
    let made = processor.create(order(500), None).expect("a charge");
    assert_eq!((made.number, made.status, made.captured), (1, Status::Captured, 500));
    assert_eq!(made.order.currency, "USD");
    assert_eq!(processor.charge("ch-1"), Ok(made));
    for id in ["ch-2", "ch-01", "ch-", "1", "re-1", "ch-99999999999999999999"] {
        assert_eq!(kind(processor.charge(id)), Kind::NotFound, "{id}");
    }
}

#[test]
fn charge_that_is_invalid_is_refused_and_leaves_nothing() {
    let processor = processor();
    let text = |length: usize| "x".repeat(length);
    let pair = |key: usize, value: usize| (text(key), text(value));
    for (order, expected) in [
        (order(0), Kind::Amount),
        (order(money::MAX_AMOUNT + 1), Kind::Amount),
        (Order { currency: "XAU".into(), ..order(1) }, Kind::Currency),
        (Order { customer: Some(String::new()), ..order(1) }, Kind::Parameter),
        (Order { description: Some(text(1001)), ..order(1) }, Kind::Parameter),
        (Order { metadata: vec![pair(0, 1)], ..order(1) }, Kind::Parameter),
        (Order { metadata: vec![pair(1, 501)], ..order(1) }, Kind::Parameter),
        (Order { metadata: vec![pair(1, 1), pair(1, 2)], ..order(1) }, Kind::Parameter),
    ] {
        assert_eq!(kind(processor.create(order, Some("key"))), expected);
    }
    assert!(processor.0.values.borrow().is_empty());
}

#[test]
fn charge_on_declined_card_is_recorded_as_declined() {
    let processor = processor();
    for (card, decline) in [
        (Card::Declined, Decline::CardDeclined),
        (Card::InsufficientFunds, Decline::InsufficientFunds),
        (Card::Expired, Decline::ExpiredCard),
    ] {
        let error = processor.create(Order { card, ..order(500) }, None).expect_err("declined");
        assert_eq!((error.kind, error.decline), (Kind::Declined, Some(decline)));
        let charge = processor.charge(&charge_id(error.charge.expect("it is on record"))).expect("it is there");
        assert_eq!((charge.status, charge.captured), (Status::Declined, 0));
        assert_eq!(kind(processor.refund(&charge_id(charge.number), None, None, None)), Kind::State);
    }
}

#[test]
fn charge_reserved_is_captured_or_cancelled_once() {
    let processor = processor();
    for _ in 0..2 {
        processor.create(reserve(500), None).expect("reserved");
    }
    assert_eq!(kind(processor.refund("ch-1", None, None, None)), Kind::State);
    assert_eq!(kind(processor.capture("ch-1", Some(501), None)), Kind::Amount);
    assert_eq!(processor.capture("ch-1", Some(300), None).map(|charge| charge.captured), Ok(300));
    assert_eq!(kind(processor.capture("ch-1", Some(200), None)), Kind::State);
    assert_eq!(kind(processor.cancel("ch-1", None)), Kind::State);
    assert_eq!(processor.cancel("ch-2", None).map(|charge| charge.status), Ok(Status::Cancelled));
    assert_eq!(kind(processor.capture("ch-2", None, None)), Kind::State);
    assert_eq!(kind(processor.refund("ch-1", Some(301), None, None)), Kind::ExceedsCharge);
}

#[test]
fn refunds_never_exceed_the_charge() {
    let processor = processor();
    processor.create(order(500), None).expect("a charge");
    let refund = |amount| processor.refund("ch-1", amount, Some(Reason::Duplicate), None);
    assert_eq!(kind(refund(Some(501))), Kind::ExceedsCharge);
    assert_eq!(kind(refund(Some(0))), Kind::Amount);
    assert_eq!(refund(Some(200)).map(|refund| (refund.number, refund.amount)), Ok((1, 200)));
    assert_eq!(kind(refund(Some(301))), Kind::ExceedsCharge);
    assert_eq!(refund(None).map(|refund| (refund.number, refund.amount)), Ok((2, 300)));
    assert_eq!(kind(refund(None)), Kind::ExceedsCharge);
    assert_eq!(kind(refund(Some(1))), Kind::ExceedsCharge);
    assert_eq!(processor.charge("ch-1").map(|charge| charge.refunded()), Ok(500));
    assert_eq!(processor.get_refund("re-2").map(|refund| refund.amount), Ok(300));
    assert_eq!(kind(processor.get_refund("re-3")), Kind::NotFound);
}

#[test]
fn refund_is_judged_against_refunds_of_other_calls() {
    let processor = processor();
    let made = processor.create(order(500), None).expect("a charge");
    let with = |amount| {
        let mut charge = made.clone();
        charge.refund(77, Some(amount), None).expect("it has so much");
        ("charge/1".to_owned(), serde_json::to_vec(&charge).expect("JSON"))
    };
    *processor.0.race.borrow_mut() = Some(with(400));
    assert_eq!(kind(processor.refund("ch-1", Some(101), None, None)), Kind::ExceedsCharge);
    assert_eq!(kind(processor.get_refund("re-1")), Kind::NotFound, "what did not come about is not found");
    assert_eq!(processor.refund("ch-1", Some(100), None, None).map(|refund| refund.number), Ok(2));
    assert_eq!(processor.charge("ch-1").map(|charge| charge.refunded()), Ok(500));
}

#[test]
fn idempotency_key_repeated_returns_the_same_answer() {
    let processor = processor();
    let first = processor.create(order(500), Some("order-7")).expect("a charge");
    processor.refund("ch-1", Some(200), None, Some("back")).expect("a refund");
    assert_eq!(processor.create(order(500), Some("order-7")), Ok(first), "as it was answered then");
    let currency = Order { currency: "USD".into(), ..order(500) };
    assert!(processor.create(currency, Some("order-7")).is_ok(), "another spelling is the same call");
    assert_eq!(kind(processor.create(order(501), Some("order-7"))), Kind::Idempotency);
    assert_eq!(kind(processor.cancel("ch-1", Some("order-7"))), Kind::Idempotency);
    assert_eq!(processor.refund("ch-1", Some(200), None, Some("back")).map(|refund| refund.number), Ok(1));
    assert_eq!(processor.charge("ch-1").map(|charge| charge.refunded()), Ok(200));
    assert_eq!(kind(processor.charge("ch-2")), Kind::NotFound);
    let declined = Order { card: Card::Expired, ..order(1) };
    let told = processor.create(declined.clone(), Some("no"));
    assert_eq!((processor.create(declined, Some("no")), kind(told.clone())), (told, Kind::Declined));
    assert_eq!(kind(processor.charge("ch-3")), Kind::NotFound);
}

#[test]
fn idempotency_key_is_used_up_by_refusal_but_not_by_store_failure() {
    let processor = processor();
    processor.create(order(500), None).expect("a charge");
    assert_eq!(kind(processor.refund("ch-1", Some(501), None, Some("k"))), Kind::ExceedsCharge);
    assert!(processor.refund("ch-1", Some(500), None, Some("k")).is_ok());
    for key in ["", "a\nb", &"x".repeat(201)] {
        assert_eq!(kind(processor.create(order(1), Some(key))), Kind::Parameter);
    }
    let pending = br#"{"call":"[\"charges/cancel\",\"ch-1\"]","answer":null}"#.to_vec();
    processor.0.values.borrow_mut().insert("idempotency/broken".into(), pending);
    assert_eq!(kind(processor.cancel("ch-1", Some("broken"))), Kind::InProgress);
    processor.0.full.set(true);
    let error = processor.create(order(1), None).expect_err("full");
    assert_eq!((error.kind, error.message.as_str()), (Kind::Store, "the store is full"));
}
