// A getter that returns 5 first and 5000 later. It is called once, and the gate checks that value.
// status: completed
// value: [{"to": "a", "amount": 5}, 1]
// calls: ok

let reads = 0;
const given = await mirror.show({ to: 'a', get amount() { return reads++ ? 5000 : 5 } });
return [given, reads];
