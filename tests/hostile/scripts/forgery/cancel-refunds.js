// A call that is cancelled while it runs still counts against its budget.
// status: completed
// calls: cancelled ok denied
// value: ["fulfilled", "rejected"]

const { signal } = Object.assign(new AbortController());
const controller = new AbortController();
const first = limited.sleep({ millis: 50 }, { signal: controller.signal });
setTimeout(() => controller.abort(), 10);
await first.catch(() => {});
const rest = await Promise.allSettled([limited.remember({}), limited.remember({})]);
return rest.map((one) => one.status);
