// What happens when a script asks for more than its policy grants: it is told, and may go on.
//
//   tollhouse run examples/denied.js --policy examples/denied.policy.toml --mount examples/data:/workspace/data:ro --summary

const source = await fs.readFile('data/seattle-weather.csv');
const {values: [warmest]} = await csv.numbers({text: source, columns: ['temp_max']});

const first = await stats.describe({values: warmest});
console.log(`mean of ${first.count} days: ${first.mean.toFixed(2)} °C`);

// Two calls of `stats/*` are granted; the first is spent. `histogram` takes the second, `quantiles` comes too late.
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

// Without the tool, by hand.
const sorted = [...warmest].sort((a, b) => a - b);
return {median: sorted[Math.floor(sorted.length / 2)], source: 'computed in the script'};
