// `toJSON` of the script's value does not return.
// status: limited
// error: limit
// message contains: fuel

return { toJSON() { for (;;); } };
