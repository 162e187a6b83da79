// Blobs that consist of blobs.
// status: limited
// error: limit

let blob = new Blob(['x'.repeat(1e5)]);
for (;;) blob = new Blob([blob, blob]);
