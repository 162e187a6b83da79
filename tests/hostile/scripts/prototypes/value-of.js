// A number that is an object.
// status: completed
// value: "ArgumentError"
// calls: denied

try { await mirror.show({ to: 'a', amount: { valueOf: () => 5 } }) } catch (error) { return error.name }
