# Scripts that run each other, as deep as that goes: eight levels, then an error of the innermost.
# status: completed

cat > deeper.sh <<'END'
echo "$1"
node -e "const r = await shell('bash ./deeper.sh $(($1 + 1))'); console.log(r.stdout.trim())"
END
bash ./deeper.sh 1
