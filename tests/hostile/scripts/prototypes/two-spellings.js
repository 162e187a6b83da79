// One key in two spellings: which is meant is no guess.
// status: completed
// value: "ArgumentError"
// calls: denied

try { await mirror.show({ to: 'a', amount: 5, Amount: 5000 }) } catch (error) { return error.name }
