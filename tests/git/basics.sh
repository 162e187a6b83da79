git status
printf 'a\nb\nc\n' > f; mkdir d; echo x > d/g; git add .; git status -s
git commit -m one
echo d >> f; rm d/g; git status --porcelain=v2 --branch
git diff
git diff --stat; git diff --name-status; git diff --word-diff
git status
git commit -qam two
git log --format='%H %T %an %ae %ad %s' --date=iso
git show --stat
git log -p -1 -- f
git cat-file -p HEAD^{tree}
git blame -s f
git ls-files -s
git tag v1; git tag -a v2 -m tagged; git describe; git for-each-ref
git rev-parse v2 nope
git show HEAD~1:f
git count-objects
git shortlog -sn HEAD
