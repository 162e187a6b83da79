// An inner script that loops: what its outer one may use is all that it may.
// status: limited
// error: limit
// limits: fuel = 50000

await shell('while :; do :; done');
