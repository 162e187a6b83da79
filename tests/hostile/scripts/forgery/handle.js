// Invented handles.
// status: completed
// value: ["ArgumentError"]

const seen = [];
for (const handle of ['handle:00000000000000000000000000000000', 'handle:', '', 'handle:' + 'f'.repeat(1e5), null, 1, {}])
  await probe.counter.increment({ self: handle, by: 1 }).then(() => seen.push('taken'), (error) => seen.push(error.name));
return [...new Set(seen)];
