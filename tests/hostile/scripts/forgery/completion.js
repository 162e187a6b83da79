// A promise of a tool that other code tries to settle.
// status: completed
// value: {"to": "a", "amount": 5}

const pending = mirror.show({ to: 'a', amount: 5 });
for (const name of ['resolve', 'reject', '_resolve', 'settle']) pending[name]?.({ to: 'evil', amount: 99 });
return await pending;
