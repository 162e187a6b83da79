// An enum whose member does not come to an end.
// status: limited
// error: limit
// message contains: fuel

const endless = (): number => { for (;;); };
enum Size { One = endless() }
