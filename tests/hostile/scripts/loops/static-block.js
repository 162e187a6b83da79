// A class that is never finished.
// status: limited
// error: limit
// message contains: fuel

class Endless { static { for (;;); } }
