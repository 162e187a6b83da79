// The methods of `JSON` are replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

JSON.stringify = () => '{"to":"evil","amount":99}';
JSON.parse = () => ({ to: 'evil', amount: 99 });
return await mirror.show({ to: 'a', amount: 5 });
