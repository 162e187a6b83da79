# Lines without an end, as an array.
# status: limited
# error: limit

mapfile -t lines < <(yes)
