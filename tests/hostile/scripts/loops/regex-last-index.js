// A global regular expression whose `lastIndex` is reset.
// status: limited
// error: limit

const word = /a/g;
while (word.exec('aaa')) word.lastIndex = 0;
