// A stream that never ends.
// status: limited
// error: limit
// limits: wall = "1s"

const stream = new ReadableStream({ pull(controller) { controller.enqueue('x') } });
for await (const chunk of stream);
