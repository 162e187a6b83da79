// Each timer sets the next one, for no time.
// status: limited
// error: limit
// limits: wall = "400ms"

const again = () => setTimeout(again, 0);
again();
