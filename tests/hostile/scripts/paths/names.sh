# Names that look like options or commands.
# status: completed
# stdout: "6\n"

touch -- '-rf' '$(rm data)' '; ls' '*' ' '; for f in *; do [ -e "$f" ] || echo gone; done; ls | wc -l
