// The methods of texts are replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

for (const name of ['split', 'slice', 'replace', 'indexOf', 'startsWith', 'includes', 'charCodeAt', 'toString', 'trim']) String.prototype[name] = () => 'evil';
return await mirror.show({ to: 'a', amount: 5 });
