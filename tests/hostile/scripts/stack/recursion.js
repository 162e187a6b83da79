// A recursive function, whose error can be caught.
// status: completed
// value: ["RangeError", 2]

const f = () => f() + 1;
try { f() } catch (error) { return [error.name, await probe.length({ text: 'on' })] }
