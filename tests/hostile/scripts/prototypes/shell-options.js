// Options of `shell` that change when they are read again.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

let reads = 0;
const { stdout } = await shell('mirror show --to a --amount $N', { env: { get N() { return reads++ ? '5000' : '5' } } });
return JSON.parse(stdout);
