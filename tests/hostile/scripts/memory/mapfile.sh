# Endless lines that are read into an array.
# status: limited
# error: limit

mapfile -t lines < <(yes)
