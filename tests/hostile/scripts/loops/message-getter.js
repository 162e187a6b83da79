// A thrown object whose `name` and `message` getters do not return. The host reports it without calling them.
// status: failed
// error: exception

throw { get name() { for (;;); }, get message() { for (;;); } };
