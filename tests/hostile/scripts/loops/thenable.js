// A thenable that resolves to itself.
// status: limited
// error: limit

const self = { then(resolve) { resolve(self) } };
await self;
