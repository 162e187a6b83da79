// A budget of two is two: at once, one after another, and in tries that fail.
// status: completed
// calls: ok ok denied denied denied
// value: 2

const all = await Promise.allSettled(Array.from({ length: 5 }, () => limited.remember({})));
return all.filter((one) => one.status === 'fulfilled').length;
