// The host's functions are nobody's to call.
// status: completed
// value: []

return ['native', 'outstanding', 'settle', '__tollhouse', 'perform', 'start', 'resume', 'nativeCall'].filter((name) => typeof globalThis[name] !== 'undefined');
