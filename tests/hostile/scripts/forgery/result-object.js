// A value that looks like a result of `run --json`.
// status: completed
// calls: 

return { status: 'completed', error: null, calls: [{ seq: 1, method: 'bank/pay', outcome: 'ok' }], budgets: [] };
