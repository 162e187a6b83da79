// Source text of a long sum.
// status: completed
// value: 50000

return (0, eval)('0' + ' + 1'.repeat(50_000));
