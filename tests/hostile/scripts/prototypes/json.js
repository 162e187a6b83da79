// `JSON` is replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

globalThis.JSON = { stringify: () => '{"to":"evil","amount":99}', parse: () => ({ to: 'evil', amount: 99 }) };
return await mirror.show({ to: 'a', amount: 5 });
