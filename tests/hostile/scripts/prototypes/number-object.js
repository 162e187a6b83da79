// A number in a box that says one thing and holds another: what becomes JSON is judged.
// status: completed
// value: {"to": "a", "amount": 50}
// calls: ok

const box = new Number(5);
box.valueOf = () => 50;
return await mirror.show({ to: 'a', amount: box });
