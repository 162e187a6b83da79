// A global expression whose last index is set back.
// status: limited
// error: limit

const word = /a/g;
while (word.exec('aaa')) word.lastIndex = 0;
