# Endless files.
# status: completed
# stdout: "full\nagain\n"

head -c 1000000 /dev/zero > piece
for ((i = 0; i < 30; i++)); do cp piece f$i 2> /dev/null || { echo full; break; }; done
rm f0; cp piece again && echo again
