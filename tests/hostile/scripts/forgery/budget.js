// A budget of two calls, used by concurrent, successive and failing calls. It admits exactly two.
// status: completed
// calls: ok ok denied denied denied
// value: 2

const all = await Promise.allSettled(Array.from({ length: 5 }, () => limited.remember({})));
return all.filter((one) => one.status === 'fulfilled').length;
