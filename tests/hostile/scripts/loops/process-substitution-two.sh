# Two of them.
# status: limited
# error: limit

diff <(yes a) <(yes b) | head -n 1
