// A key that the tool does not have.
// status: completed
// value: "ArgumentError"
// calls: denied

try { await mirror.show({ to: 'a', amount: 5, admin: true }) } catch (error) { return error.name }
