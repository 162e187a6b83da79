// The environment of the host is not accessible.
// status: completed
// value: [[], "/workspace"]

return [Object.keys(process.env).filter((name) => /HOME|TOKEN|SECRET|CARGO|XDG/.test(name) && process.env[name].includes('root')), process.cwd()];
