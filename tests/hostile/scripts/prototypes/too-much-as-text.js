// A number that is a text.
// status: completed
// value: "ArgumentError"
// calls: denied

try { await mirror.show({ to: 'a', amount: '5' }) } catch (error) { return error.name }
