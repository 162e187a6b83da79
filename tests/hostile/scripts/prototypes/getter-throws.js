// A getter that throws. Nothing is called.
// status: completed
// value: "no"
// calls: 

try { await mirror.show({ to: 'a', get amount() { throw new Error('no') } }) } catch (error) { return error.message }
