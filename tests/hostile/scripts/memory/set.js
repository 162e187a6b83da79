// An endless set of texts.
// status: limited
// error: limit

const set = new Set();
for (let n = 0; ; n++) set.add('text number ' + n);
