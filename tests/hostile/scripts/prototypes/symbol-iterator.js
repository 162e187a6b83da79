// Arguments with an iterator, a tag and a species.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

return await mirror.show({ to: 'a', amount: 5, [Symbol.iterator]: () => 'evil', [Symbol.toPrimitive]: () => 'evil', get [Symbol.toStringTag]() { return 'evil' } });
