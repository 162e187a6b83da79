"""Servers of PyPI, mounted in Tollhouse: their tools are called, and constrained by the policy.

Run by `cargo xtask test --full` with the binary in `TOLLHOUSE_BIN`. Arguments: the interpreters of the environments that have
`mcp-server-git` and `mcp-server-sqlite`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

GIT, SQLITE = sys.argv[1:3]


def policy(name, interpreter, words, grants, read=(), write=()):
    """A policy that mounts one server, which sees its interpreter's files and these paths."""
    base = subprocess.check_output([interpreter, "-c", "import sys; print(sys.base_prefix)"], text=True).strip()
    environment = str(pathlib.Path(interpreter).parent.parent)
    table = f"[tools]\n[mcp.{name}]\ncommand = {json.dumps([interpreter, *words])}\n"
    table += f"read = {json.dumps([environment, base, *map(str, read)])}\n"
    if write:
        table += f"write = {json.dumps([str(path) for path in write])}\n"
    return table + f"[mcp.{name}.env]\nHOME = \"/nonexistent\"\nGIT_CONFIG_GLOBAL = \"/dev/null\"\n" + grants


class Mounted:
    """A server whose tools are pinned."""

    def __init__(self, place, name, text):
        self.name, self.policy = name, place / f"{name}.toml"
        self.policy.write_text(text)
        self.lock = ["--locked", str(place / f"{name}.lock")]
        self.tollhouse("mcp", "lock")

    def tollhouse(self, *words):
        command = [os.environ["TOLLHOUSE_BIN"], *words, "--policy", str(self.policy), "--allow-exec", self.name]
        done = subprocess.run([*command, *self.lock], capture_output=True, text=True, timeout=180, check=False)
        assert done.returncode in (0, 1) and done.stdout, done
        return done.stdout

    def run(self, code):
        return json.loads(self.tollhouse("run", "--json", "-e", code))


def git(place):
    public, secret = place / "public/repository", place / "secret"
    for repository in (public, secret):
        repository.mkdir(parents=True)
        words = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b.example"]
        subprocess.run([*words, "init", "-q", "-b", "main"], check=True)
        (repository / "a.txt").write_text("text")
        subprocess.run([*words, "add", "a.txt"], check=True)
        subprocess.run([*words, "commit", "-q", "-m", "the first one"], check=True)
        (repository / "a.txt").write_text("changed")
    grants = "".join(
        f'[[grant]]\nmethod = "git/{tool}"\nwhere = [{{ param = "repo_path", within = "{place}/public" }}]\n'
        for tool in ("git_status", "git_log")
    )
    mounted = Mounted(place, "git", policy("git", GIT, ["-m", "mcp_server_git"], grants, [place]))
    code = f"""
        const told = [];
        const attempt = async work => {{ try {{ told.push(JSON.stringify(await work())) }} catch (error) {{ told.push(error.name) }} }};
        await attempt(() => git.git_status({{repo_path: '{public}'}}));
        await attempt(() => git.git_log({{repo_path: '{public}'}}));
        await attempt(() => git.git_status({{repo_path: '{secret}'}}));
        await attempt(() => git.git_status({{repo_path: '{place}/public/../secret'}}));
        await attempt(() => git.git_add({{repo_path: '{public}', files: ['a.txt']}}));
        return told"""
    told = mounted.run(code)["value"]
    assert "a.txt" in told[0] and "the first one" in told[1] and told[2:] == ["CapabilityError"] * 3, told


def sqlite(place):
    data = place / "data"
    data.mkdir()
    grants = """[[grant]]
method = "db/create_table"
calls = 1
[[grant]]
method = "db/write_query"
where = [{ param = "query", starts_with = "INSERT INTO notes " }]
[[grant]]
method = "db/read_query"
"""
    words = ["-c", "import mcp_server_sqlite; mcp_server_sqlite.main()", "--db-path", str(data / "notes.db")]
    mounted = Mounted(place, "db", policy("db", SQLITE, words, grants, write=[data]))
    code = """
        const told = [];
        const attempt = async work => { try { told.push(JSON.stringify(await work())) } catch (error) { told.push(error.name) } };
        await attempt(() => db.create_table({query: 'CREATE TABLE notes (text TEXT)'}));
        await attempt(() => db.write_query({query: "INSERT INTO notes VALUES ('kept')"}));
        await attempt(() => db.read_query({query: 'SELECT text FROM notes'}));
        await attempt(() => db.write_query({query: 'DELETE FROM notes'}));
        await attempt(() => db.create_table({query: 'CREATE TABLE more (text TEXT)'}));
        await attempt(() => db.list_tables({}));
        return told"""
    told = mounted.run(code)["value"]
    assert "kept" in told[2] and told[3:] == ["CapabilityError"] * 3, told


with tempfile.TemporaryDirectory() as directory:
    for check in (git, sqlite):
        check(pathlib.Path(directory).resolve())
        print(f"{check.__name__}: mounted, called and constrained", flush=True)
