// Texts that are concatenated from each other, and then read.
// status: limited
// error: limit

const all = [];
for (let text = 'x'.repeat(1e6); ; text = text + 'y') all.push((text + all.length).slice(1));
