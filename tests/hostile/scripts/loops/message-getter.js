// An error that is no error, and whose name and message do not return: what is shown of it asks no getter.
// status: failed
// error: exception

throw { get name() { for (;;); }, get message() { for (;;); } };
