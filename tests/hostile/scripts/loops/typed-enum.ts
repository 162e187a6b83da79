// An enum whose initializer does not end.
// status: limited
// error: limit
// message contains: fuel

const endless = (): number => { for (;;); };
enum Size { One = endless() }
