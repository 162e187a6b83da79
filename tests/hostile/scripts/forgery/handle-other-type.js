// A handle that is used with another type.
// status: completed

const counter = await probe.counter.new({ start: 1 });
try { await mirror.show({ to: counter, amount: 5 }) } catch (error) { return error.name }
return 'a text';
