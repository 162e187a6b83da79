# `tail -f` of a file without writers, which ends by itself.
# status: completed

echo line > f
tail -f f
