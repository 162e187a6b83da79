// Calls that a policy does not grant: each throws an error that says why, and the script continues.
//
//   tollhouse run examples/denied.js --policy examples/denied.policy.toml --mount examples/data:/workspace/data:ro --summary

const source = await fs.readFile('data/seattle-weather.csv');
const {values: [warmest]} = await csv.numbers({text: source, columns: ['temp_max']});

const first = await stats.describe({values: warmest});
console.log(`mean of ${first.count} days: ${first.mean.toFixed(2)} °C`);

// Two calls of `stats/*` are granted. The first one is spent above, `histogram` spends the second, and `quantiles` is
// denied.
await stats.histogram({values: warmest, bins: 5});
for (const call of [
  () => stats.quantiles({values: warmest, probabilities: [0.5]}),
  () => markdown.toHtml({text: '# not granted at all'}),
]) {
  try {
    await call();
  } catch (error) {
    if (error.kind !== 'capability') throw error;
    console.log(`refused, as it should be: ${error.message}`);
  }
}

// Computed by the script itself, without the tool.
const sorted = [...warmest].sort((a, b) => a - b);
return {median: sorted[Math.floor(sorted.length / 2)], source: 'computed in the script'};
