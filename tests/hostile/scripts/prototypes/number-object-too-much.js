// A number object whose `valueOf` changes its result. It is called once.
// status: completed
// value: [{"to": "a", "amount": 5}, 1]
// calls: ok

let reads = 0;
const box = new Number(5);
box.valueOf = () => (reads++ ? 5000 : 5);
return [await mirror.show({ to: 'a', amount: box }), reads];
