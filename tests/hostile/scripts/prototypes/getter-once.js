// A getter that says 5 first and 5000 after: it is read once, and what was read is judged.
// status: completed
// value: [{"to": "a", "amount": 5}, 1]
// calls: ok

let reads = 0;
const given = await mirror.show({ to: 'a', get amount() { return reads++ ? 5000 : 5 } });
return [given, reads];
