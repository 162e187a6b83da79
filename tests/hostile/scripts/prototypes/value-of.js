// An object with `valueOf` in place of a number.
// status: completed
// value: "ArgumentError"
// calls: denied

try { await mirror.show({ to: 'a', amount: { valueOf: () => 5 } }) } catch (error) { return error.name }
