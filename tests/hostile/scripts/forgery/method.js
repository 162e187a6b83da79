// Invented methods, in all ways of calling one.
// status: completed

const seen = [];
for (const name of ['constructor', '__proto__', 'nosuch', 'show/../../probe/text', 'show\0']) try { await mirror[name]({}); seen.push(name) } catch (error) { seen.push(error.name) }
return seen;
