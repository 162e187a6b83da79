# Endless successive scripts from the shell, which share the fuel of the run.
# status: limited
# error: limit

while :; do node -e '1'; done
