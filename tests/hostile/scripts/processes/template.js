// A value that is inserted into `$` is a single word, whatever it contains.
// status: completed
// value: [true, "kept"]

await fs.writeFile('kept', 'kept');
const words = ['; rm kept', '$(rm kept)', '`rm kept`', '| rm kept', '\n rm kept \n', "' rm kept '", '" rm kept "', '*', '-rf', '${IFS}', 'a\\', '\u0000'];
const seen = [];
for (const word of words.slice(0, -1)) seen.push((await $`printf %s ${word}`).stdout === word);
return [seen.every(Boolean), await fs.readFile('kept')];
