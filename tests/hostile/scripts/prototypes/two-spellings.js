// A key in two spellings, which is refused as ambiguous.
// status: completed
// value: "ArgumentError"
// calls: denied

try { await mirror.show({ to: 'a', amount: 5, Amount: 5000 }) } catch (error) { return error.name }
