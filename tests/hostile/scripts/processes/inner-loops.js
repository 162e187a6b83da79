// An inner script that loops, with the resources of its outer one.
// status: limited
// error: limit
// limits: fuel = 50000

await shell('while :; do :; done');
