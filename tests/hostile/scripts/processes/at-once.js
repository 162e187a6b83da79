// Forty concurrent scripts. Sixteen may run, and the others fail.
// status: completed
// value: [true, true]

const all = await Promise.allSettled(Array.from({ length: 40 }, () => shell('echo hi')));
return [all.every((one) => one.status === 'fulfilled' ? one.value.stdout === 'hi\n' : one.reason.kind === 'limit'), all.some((one) => one.status === 'rejected')];
