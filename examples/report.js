// A report on four years of weather: the kind of script that an agent writes when it is asked for one.
//
//   tollhouse run examples/report.js --policy examples/report.policy.toml --mount examples/data:/workspace/data:ro --summary

const source = await fs.readFile('data/seattle-weather.csv');

// Reads whole columns, as numbers or texts.
const columns = await csv.columns({text: source});
const column = Object.fromEntries(columns.map(({name, cells}) => [name, cells.val]));
const days = column.date.length;

// Four concurrent calls, each in an instance of its own.
const [warm, cold, rain, wind] = await Promise.all([
  stats.describe({values: column.temp_max}),
  stats.describe({values: column.temp_min}),
  stats.describe({values: column.precipitation}),
  stats.describe({values: column.wind}),
]);

const quantiles = await stats.quantiles({values: column.temp_max, probabilities: [0.05, 0.5, 0.95]});
const together = await stats.correlation({x: column.temp_max, y: column.precipitation, method: 'spearman'});
const trend = await stats.linearFit({x: column.date.map((_, day) => day / 365.25), y: column.temp_max});
const spread = await stats.histogram({values: column.temp_max, bins: 8});

const number = value => (value == null ? '-' : value.toFixed(2));
const row = (name, d) => [name, number(d.mean), number(d.stdDev), number(d.min), number(d.median), number(d.max)];
const summary = await markdown.table({
  headers: ['', 'mean', 'std dev', 'min', 'median', 'max'],
  rows: [row('warmest (°C)', warm), row('coldest (°C)', cold), row('rain (mm)', rain), row('wind (m/s)', wind)],
  alignments: ['left', 'right', 'right', 'right', 'right', 'right'],
});

const kinds = {};
for (const kind of column.weather) kinds[kind] = (kinds[kind] ?? 0) + 1;
const kindRows = Object.entries(kinds).sort((a, b) => b[1] - a[1]).map(([weather, count]) => ({weather, days: count}));
const weather = await markdown.tableFromRecords({records: JSON.stringify(kindRows)});

const most = Math.max(...spread.bins.map(bin => bin.count));
const bars = spread.bins.map(bin =>
  `${bin.low.toFixed(1).padStart(5)} to ${bin.high.toFixed(1).padStart(4)}  ${'#'.repeat(Math.round((40 * bin.count) / most))} ${bin.count}`);

const report = `# Seattle, ${column.date[0]} to ${column.date[days - 1]}

${days} days. On one day in twenty it stays below ${number(quantiles[0])} °C, on one in twenty it passes ${number(quantiles[2])} °C.
Warm days are dry days: rank correlation of warmth and rain ${number(together.coefficient)}.
Trend of the warmest hour: ${number(trend.slope)} °C a year (r² ${number(trend.rSquared)}).

${summary}
## Days by weather

${weather}
## Warmest hour of the day, °C

\`\`\`
${bars.join('\n')}
\`\`\`
`;

await fs.writeFile('report.md', report);
const page = await markdown.toHtml({text: report});
await fs.writeFile('report.html', page);
const {words, estimatedTokens} = await text.count({text: report});
console.log(report);

return {days, meanWarmest: warm.mean, correlation: together.coefficient, words, estimatedTokens, files: await fs.readdir('.')};
