// A class whose static block never ends.
// status: limited
// error: limit
// message contains: fuel

class Endless { static { for (;;); } }
