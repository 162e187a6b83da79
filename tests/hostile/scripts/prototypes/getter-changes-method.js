// A getter that replaces the tool while its arguments are read.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

let inside;
const given = await mirror.show({ to: 'a', get amount() { globalThis.mirror = { show: () => 'evil' }; return 5 } });
return given;
