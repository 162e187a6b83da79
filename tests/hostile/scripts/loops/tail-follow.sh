# A file whose end is waited for: there is no such option.
# status: failed
# error: exit

echo line > f
tail -f f
