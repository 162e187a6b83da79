// An inner script shares the budgets of the outer one. Two calls are two calls in total.
// status: completed
// value: [0, 0, 126]
// calls: ok ok denied

const one = () => shell('limited remember');
const seen = [];
for (let n = 0; n < 3; n++) seen.push((await one()).exitCode);
return seen;
