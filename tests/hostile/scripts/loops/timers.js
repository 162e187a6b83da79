// Each timer sets the next one, with a delay of 0.
// status: limited
// error: limit
// limits: wall = "400ms"

const again = () => setTimeout(again, 0);
again();
