# A script that becomes itself.
# status: failed
# error: exit

echo 'exec bash ./again' > again
bash ./again
