# Two endless process substitutions.
# status: limited
# error: limit

diff <(yes a) <(yes b) | head -n 1
