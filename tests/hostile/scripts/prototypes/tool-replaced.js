// The object of a tool is frozen. Assigning a method has no effect.
// status: completed
// value: [true, 5]
// calls: ok

const seen = [];
mirror.show = () => 'evil';
seen.push(Object.isFrozen(mirror), (await mirror.show({ to: 'a', amount: 5 })).amount);
return seen;
