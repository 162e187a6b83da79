// Globals that are replaced after the lookup of the tool.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

const { show } = mirror;
for (const name of ['fs', 'shell', 'stdin', 'args', 'env', 'process', 'Buffer', 'console', 'listTools', 'budgets']) try { globalThis[name] = undefined } catch {}
return await show({ to: 'a', amount: 5 });
