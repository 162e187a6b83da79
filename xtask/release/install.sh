#!/bin/sh
# Installs Tollhouse @VERSION@ into a prefix: binary, completions, manual pages. Nothing is unpacked before its checksum is right.
#
#   sh install.sh [--prefix DIR] [--from URL]
#
# DIR is ~/.local unless told. URL is where the release's files are: a mirror, or the release itself.
set -eu

version='@VERSION@'
from='@FROM@'
prefix=${HOME:+$HOME/.local}

say() { printf '%s\n' "$*"; }

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    printf 'hint: %s\n' "$2" >&2
    exit 1
}

read_options() {
    while [ $# -gt 0 ]; do
        case "$1" in
            --prefix | --from)
                [ $# -ge 2 ] || fail "\`$1\` needs a value" 'sh install.sh [--prefix DIR] [--from URL]'
                if [ "$1" = --prefix ]; then prefix=$2; else from=$2; fi
                shift 2
                ;;
            *) fail "\`$1\` is no option" 'sh install.sh [--prefix DIR] [--from URL]' ;;
        esac
    done
    case "$prefix" in
        /*) ;;
        *) fail "the prefix \`$prefix\` is no absolute path" 'name one: --prefix /usr/local' ;;
    esac
}

# The checksums are part of this script: who changes an archive has to change the script too.
choose_archive() {
    case "$(uname -s) $(uname -m)" in
        'Linux x86_64' | 'Linux amd64')
            archive="tollhouse-$version-x86_64-linux.tar.gz"
            expected='@SHA256_X86_64_LINUX@'
            ;;
        *)
            fail "there is no binary for $(uname -s) on $(uname -m), only for Linux on x86_64" \
                'build it with Rust: https://github.com/tollhouse/tollhouse/blob/main/docs/installing.md'
            ;;
    esac
}

download() {
    say "downloading $from/$archive"
    downloaded=yes
    if command -v curl > /dev/null 2>&1; then
        curl --fail --silent --show-error --location --output "$directory/$archive" "$from/$archive" || downloaded=no
    elif command -v wget > /dev/null 2>&1; then
        wget -q -O "$directory/$archive" "$from/$archive" || downloaded=no
    else
        fail 'neither curl nor wget is here' 'install one of them, or download and unpack the archive yourself'
    fi
    [ "$downloaded" = yes ] ||
        fail "$from/$archive cannot be downloaded" 'see the message above; --from URL names a mirror'
}

compare() {
    if command -v sha256sum > /dev/null 2>&1; then
        found=$(sha256sum "$directory/$archive")
    elif command -v shasum > /dev/null 2>&1; then
        found=$(shasum -a 256 "$directory/$archive")
    else
        fail 'neither sha256sum nor shasum is here' 'install coreutils: without a checksum nothing is unpacked'
    fi
    found=${found%% *}
    [ "$found" = "$expected" ] ||
        fail "$archive has the sha256 $found, and not $expected: nothing was installed" \
            'download it again; if it stays so, report it as SECURITY.md of the repository says'
}

unpack() {
    mkdir "$directory/unpacked"
    tar -xzf "$directory/$archive" -C "$directory/unpacked" --strip-components 1
    # What runs here tells at once if this machine cannot run it, while the installed version is still whole.
    "$directory/unpacked/bin/tollhouse" --version > /dev/null ||
        fail 'the binary does not run on this machine' \
            'is TMPDIR on a file system that is mounted with `noexec`? Else report it with the output of `uname -a`'
    mkdir -p "$prefix/bin" "$prefix/share" || fail "cannot write to $prefix" 'name a directory of yours: --prefix DIR'
    cp -R "$directory/unpacked/share/." "$prefix/share/"
    # Renamed into its place: a binary that is running cannot be written to.
    cp "$directory/unpacked/bin/tollhouse" "$prefix/bin/.tollhouse.new"
    mv -f "$prefix/bin/.tollhouse.new" "$prefix/bin/tollhouse"
}

# Called on the last line, so that nothing runs of a script that was cut off.
main() {
    read_options "$@"
    choose_archive
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
    trap 'exit 1' HUP INT TERM
    download
    compare
    unpack
    say "installed $prefix/bin/tollhouse, version $version"
    case ":$PATH:" in
        *":$prefix/bin:"*) ;;
        *) say "$prefix/bin is not in PATH: add  export PATH=\"$prefix/bin:\$PATH\"  to your shell's profile" ;;
    esac
}

main "$@"
