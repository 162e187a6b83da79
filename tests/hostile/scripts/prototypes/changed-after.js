// An argument that is changed after the call.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

const order = { to: 'a', amount: 5 };
const pending = mirror.show(order);
order.amount = 5000;
return await pending;
