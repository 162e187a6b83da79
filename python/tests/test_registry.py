from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tollhouse import Registry, RegistryError, Sandbox

TOOLS = Path(__file__).parents[2] / "tools"
POLICY = '[tools]\nstats = "tollhouse:stats@^0.1"\n[[grant]]\nmethod = "stats/**"\n'


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    if "TOLLHOUSE_BIN" not in os.environ:
        pytest.skip("the tools are built by `cargo xtask test`")
    made = Registry(tmp_path_factory.mktemp("registry"))
    told = made.publish(TOOLS / "stats")
    assert (told["name"], told["already"], told["dry_run"]) == ("tollhouse:stats", False, False)
    assert told["examples"] > 0
    return made


def test_what_is_published_is_found_shown_and_used(registry: Registry) -> None:
    assert registry.publish(TOOLS / "stats")["already"]
    assert [one["name"] for one in registry.releases()] == ["tollhouse:stats"]
    assert [one["name"] for one in registry.search("describe")] == ["tollhouse:stats"]
    assert registry.search("--help") == []
    shown = registry.show("tollhouse:stats@^0.1")
    assert "describe" in shown["wit"]
    assert registry.verify()["problems"] == []
    with Sandbox(policy=POLICY, registry=registry.directory) as sandbox:
        assert sandbox.execute("return (await stats.describe({values: [1, 3]})).mean") == "2\n"


def test_a_release_is_taken_back_and_deprecated(registry: Registry) -> None:
    release = f"tollhouse:stats@{registry.show('tollhouse:stats')['version']}"
    assert registry.yank(release)["yanked"]
    with pytest.raises(RegistryError, match="tollhouse:stats"):
        registry.show("tollhouse:stats@^0.1")
    assert not registry.yank(release, yanked=False)["yanked"]
    assert registry.deprecate(release, "-rounds wrongly")["deprecated"]["message"] == "-rounds wrongly"
    assert registry.deprecate(release, None)["deprecated"] is None


def test_what_is_refused_says_why(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="no package `no:such` in the registry"):
        registry.show("no:such")
    (tmp_path / "not.wasm").write_bytes(b"\0asm")
    with pytest.raises(RegistryError, match="cannot publish"):
        registry.publish(tmp_path / "not.wasm", name="a:b", version="1.0.0")


def test_damage_is_reported(registry: Registry, tmp_path: Path) -> None:
    shutil.copytree(registry.directory, tmp_path / "copy")
    blobs = [path for path in (tmp_path / "copy").rglob("*") if path.is_file() and path.stat().st_size > 10_000]
    for blob in blobs:
        blob.chmod(0o600)
        blob.write_bytes(blob.read_bytes()[:-1] + b"!")
    assert Registry(tmp_path / "copy").verify()["problems"]


def test_a_registry_that_is_not_there_is_not_verified(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="there is no registry at"):
        Registry(tmp_path / "none").verify()
