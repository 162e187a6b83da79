// A getter that calls the tool itself. The gate checks both calls.
// status: completed
// value: ["outer", 7]
// calls: ok ok

let inner;
const outer = await mirror.show({ to: 'outer', get amount() { inner = mirror.show({ to: 'inner', amount: 7 }); return 5 } });
return [outer.to, (await inner).amount];
