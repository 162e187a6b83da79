// Setters for list indices, which affect lists of the guest. The tool is not found, and nothing is called.
// status: failed
// error: argument
// name: TypeError
// calls: 

for (const index of [0, 1, 2]) Object.defineProperty(Array.prototype, index, { set() {}, get: () => 'evil', configurable: true });
const given = await mirror.show({ to: 'a', amount: 5 });
for (const index of [0, 1, 2]) delete Array.prototype[index];
return given;
