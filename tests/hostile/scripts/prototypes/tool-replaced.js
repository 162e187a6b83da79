// A tool's object is frozen; a global of its name is the script's own.
// status: completed
// value: [true, 5]
// calls: ok

const seen = [];
mirror.show = () => 'evil';
seen.push(Object.isFrozen(mirror), (await mirror.show({ to: 'a', amount: 5 })).amount);
return seen;
