"""Servers that others made, mounted in Tollhouse: their tools are called, constrained, and killed in the middle of calls.

Run by `cargo xtask test --full` with the binary in `TOLLHOUSE_BIN`, and the packages of npm in the directory that the
first argument names.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

MODULES = pathlib.Path(sys.argv[1], "node_modules").resolve()
NODE = os.path.realpath(subprocess.check_output(["node", "-p", "process.execPath"], text=True).strip())


def policy(name, program, arguments, grants, writes=()):
    entry = MODULES / "@modelcontextprotocol" / program / "dist/index.js"
    command = [NODE, str(entry), *arguments]
    read = [str(pathlib.Path(NODE).parent.parent), str(MODULES)]
    table = f"[tools]\n[mcp.{name}]\ncommand = {json.dumps(command)}\nread = {json.dumps(read)}\n"
    if writes:
        table += f"write = {json.dumps([str(path) for path in writes])}\n"
    return table + grants


class Mounted:
    """A server in a directory of its own, whose tools are pinned."""

    def __init__(self, place, name, text, *options):
        self.name, self.policy, self.options = name, place / f"{name}.toml", options
        self.policy.write_text(text)
        self.tollhouse("mcp", "lock", "--locked", str(place / f"{name}.lock"))

    def tollhouse(self, *words):
        locked = ["--locked", str(self.policy.with_suffix(".lock"))] if "--locked" not in words else []
        command = [os.environ["TOLLHOUSE_BIN"], *words, "--policy", str(self.policy), "--allow-exec", self.name]
        done = subprocess.run([*command, *locked], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode in (0, 1) and done.stdout, done
        return done.stdout

    def run(self, code):
        return json.loads(self.tollhouse("run", "--json", "-e", code))


def everything(place):
    grants = '[[grant]]\nmethod = "all/**"\n'
    mounted = Mounted(place, "all", policy("all", "server-everything", [], grants))
    ran = mounted.run("return [await all.echo({message: 'hi'}), await all.get_sum({a: 2, b: 3})]")
    assert ran["value"] and "hi" in ran["value"][0] and "5" in json.dumps(ran["value"][1]), ran
    # Its program is killed while it answers: the call fails, and the run goes on.
    code = """
        const call = all.trigger_long_running_operation({duration: 30, steps: 3});
        try { await call } catch (error) { return [error.name, 'goes on'] }"""
    command = [os.environ["TOLLHOUSE_BIN"], "run", "--json", "-e", code, "--policy", str(mounted.policy)]
    command += ["--allow-exec", "all", "--locked", str(mounted.policy.with_suffix(".lock"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        victim = None
        while victim is None:
            victim = child_of(running.pid, "server-everything")
        # It is killed once it runs the call: its answer takes half a minute.
        try:
            running.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.kill(victim, 9)
        told = json.loads(running.communicate(timeout=60)[0])
    assert told["value"] == ["ToolError", "goes on"], told


def child_of(pid, word):
    """The process below this one whose program is this server's."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError):
            continue
        is_server = words[0].endswith(b"node") and any(word.encode() in part for part in words)
        while is_server and parent > 1:
            if parent == pid:
                return int(entry.name)
            try:
                parent = int(pathlib.Path(f"/proc/{parent}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                break
    return None


def filesystem(place):
    data = place / "data"
    (data / "public").mkdir(parents=True)
    (data / "public/a.txt").write_text("open")
    (data / "secret.txt").write_text("closed")
    grants = f'[[grant]]\nmethod = "files/read_text_file"\nwhere = [{{ param = "path", within = "{data}/public" }}]\n'
    text = policy("files", "server-filesystem", [str(data)], grants, [data])
    mounted = Mounted(place, "files", text)
    code = f"""
        const told = [];
        for (const path of ['{data}/public/a.txt', '{data}/secret.txt', '{data}/public/../secret.txt', '/etc/passwd'])
            try {{ told.push(JSON.stringify(await files.read_text_file({{path}}))) }} catch (error) {{ told.push(error.name) }}
        try {{ await files.write_file({{path: '{data}/public/b.txt', content: 'x'}}) }} catch (error) {{ told.push(error.name) }}
        return told"""
    value = mounted.run(code)["value"]
    assert "open" in value[0] and value[1:] == ["CapabilityError"] * 4, value
    assert not (data / "public/b.txt").exists()


def memory(place):
    data = place / "memory"
    data.mkdir()
    grants = '[[grant]]\nmethod = "memory/**"\n'
    text = policy("memory", "server-memory", [], grants, [data])
    text = text.replace("[[grant]]", f'[mcp.memory.env]\nMEMORY_FILE_PATH = "{data}/graph.json"\n[[grant]]', 1)
    mounted = Mounted(place, "memory", text)
    mounted.run("""await memory.create_entities({entities: [{name: 'Ada', entityType: 'person', observations: ['counts']}]})""")
    found = mounted.run("return await memory.search_nodes({query: 'Ada'})")
    assert found["value"]["entities"][0]["name"] == "Ada", found


with tempfile.TemporaryDirectory() as directory:
    for check in (everything, filesystem, memory):
        check(pathlib.Path(directory))
        print(f"{check.__name__}: mounted, called and constrained", flush=True)
