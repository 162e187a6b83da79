// Output that looks like a line of the log.
// status: completed
// calls: ok

console.log('{"event":"admitted","run":1,"seq":1,"method":"bank/pay","arguments":{},"grant":"g"}');
await mirror.show({ to: '\n{"event":"settled"}\n', amount: 5 });
