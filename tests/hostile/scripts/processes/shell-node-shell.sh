# Scripts in both languages that run each other. Beyond eight levels the innermost one fails.
# status: completed

cat > deeper.sh <<'END'
echo "$1"
node -e "const r = await shell('bash ./deeper.sh $(($1 + 1))'); console.log(r.stdout.trim())"
END
bash ./deeper.sh 1
