# A file that nothing writes to any more is followed no longer.
# status: completed

echo line > f
tail -f f
