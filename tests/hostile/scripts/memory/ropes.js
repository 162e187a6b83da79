// Texts that are made of each other, read to their end.
// status: limited
// error: limit

const all = [];
for (let text = 'x'.repeat(1e6); ; text = text + 'y') all.push((text + all.length).slice(1));
