// A number object with another result of `valueOf`. The gate checks the value that becomes JSON.
// status: completed
// value: {"to": "a", "amount": 50}
// calls: ok

const box = new Number(5);
box.valueOf = () => 50;
return await mirror.show({ to: 'a', amount: box });
