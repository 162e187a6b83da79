"""The standard library in memory. When a program runs, the directory that it came from is not there any more."""

import importlib.machinery
import importlib.util
import marshal
import os
import sys

import absent
import loop

# What needs a display, a compiler or a network to be of any use, or is a test.
LEFT_OUT = {
    "__pycache__",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "site-packages",
    "test",
    "tests",
    "tkinter",
    "turtle",
    "turtledemo",
    "venv",
}

# What is imported beforehand, because many scripts do and it takes longest. Nothing that notes the time when it is
# imported (`logging`), or draws random numbers.
BEFOREHAND = """
    __future__ argparse ast base64 bisect calendar codeop collections collections.abc contextlib copy csv dataclasses
    datetime decimal difflib enum errno fnmatch fractions functools getopt glob hashlib heapq html inspect io itertools
    json keyword linecache locale math numbers operator os os.path pathlib pprint random re runpy shlex shutil signal stat
    statistics string struct subprocess tempfile textwrap threading time tokenize traceback types typing unicodedata
    urllib.parse uuid warnings weakref zlib
""".split()

# Name to (is a package, its code, marshalled).
CODE: dict[str, tuple[bool, bytes]] = {}
# Modules that are imported, and not yet by the script.
READY: dict[str, object] = {}
# Where the library would be on a system.
ROOT = f"/usr/lib/python{sys.version_info.major}.{sys.version_info.minor}"


class Library:
    """Finds what is in memory, last of all: a script's own modules come before, as everywhere."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in CODE:
            return None
        package, _ = CODE[name]
        file = name.replace(".", "/") + ("/__init__.py" if package else ".py")
        spec = importlib.machinery.ModuleSpec(name, Library, origin=f"{ROOT}/{file}", is_package=package)
        spec.has_location = True
        if package:
            spec.submodule_search_locations = [f"{ROOT}/{name.replace('.', '/')}"]
        return spec

    @staticmethod
    def create_module(spec):
        return READY.get(spec.name)

    @staticmethod
    def exec_module(module):
        name = module.__spec__.name
        if READY.pop(name, None) is None:
            exec(Library.get_code(name), module.__dict__)
            absent.adapt(module)
            if name == "asyncio.unix_events":
                loop.adapt(module)

    @staticmethod
    def get_code(name):
        return marshal.loads(CODE[name][1])

    @staticmethod
    def get_source(name):
        return None

    @staticmethod
    def is_package(name):
        return CODE[name][0]


def collect(directory, prefix=""):
    """Compiles the modules of a directory, and of the packages in it."""
    for name in sorted(os.listdir(directory)):
        path = f"{directory}/{name}"
        stem = prefix + name.removesuffix(".py")
        if name in LEFT_OUT or stem in LEFT_OUT:
            continue
        if os.path.isdir(path):
            if os.path.exists(f"{path}/__init__.py"):
                collect(path, f"{stem}.")
        elif name.endswith(".py"):
            package = name == "__init__.py"
            stem = prefix[:-1] if package else stem
            with open(path, "rb") as file:
                source = file.read()
            # As it would be called where it would be.
            shown = f"{ROOT}/{stem.replace('.', '/')}{'/__init__' if package else ''}.py"
            CODE[stem] = (package, marshal.dumps(compile(source, shown, "exec", dont_inherit=True)))


def take():
    """Takes the library into memory, and imports what scripts will."""
    collect(next(path for path in sys.path if os.path.exists(f"{path}/argparse.py")))
    own = os.path.dirname(os.path.abspath(__file__))
    with open(f"{own}/tollhouse_tools.py", "rb") as file:
        source = file.read()
    CODE["tollhouse_tools"] = (False, marshal.dumps(compile(source, f"{ROOT}/tollhouse_tools.py", "exec")))
    sys.meta_path.append(Library)
    before = set(sys.modules)
    for name in BEFOREHAND:
        importlib.import_module(name)
    # Not in `sys.modules`: a script's own `string.py` is what it imports, as everywhere.
    for name in [name for name in sys.modules if name not in before and name in CODE]:
        absent.adapt(sys.modules[name])
        READY[name] = sys.modules.pop(name)
    absent.adapt(os)
