// An endless loop in TypeScript.
// status: limited
// error: limit
// message contains: fuel

enum Way { On }
function forever(way: Way): never { for (;;); }
forever(Way.On as Way);
