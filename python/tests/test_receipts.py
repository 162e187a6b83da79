"""Receipts: runs that are proved to others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tollhouse import NativeError, Session, SessionNotFoundError, Store, TollhouseError, verify_receipt

# The first key of RFC 8032's test vectors.
KEY = "ed25519-private:nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A="
PUBLIC = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
OTHER = "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="

POLICY = """
[[grant]]
method = "pay"
where = [{ param = "amount", le = 100 }]
[journal]
keep = "all"
"""

SCRIPT = """
    const paid = [await pay({amount: 5})];
    try { await pay({amount: 500}) } catch (error) { paid.push(error.name) }
    return paid;
"""


def pay(amount: int) -> str:
    """Pays an amount."""
    return f"receipt {amount}"


@pytest.fixture
def receipt(tmp_path: Path) -> Path:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    file = tmp_path / "run.tlr"
    with Session.open("s", store=Store(tmp_path / "store"), tools=[pay], policy=policy) as session:
        assert session.run("javascript", SCRIPT).return_value == ["receipt 5", "CapabilityError"]
        found = session.receipt(file, key=KEY)
        assert (found.verified, bool(found), found.signer, found.run) == (True, True, None, 1)
        with pytest.raises(FileExistsError):
            session.receipt(file, key=KEY)
        with pytest.raises(SessionNotFoundError):
            session.receipt(tmp_path / "other.tlr", key=KEY, run=9)
        with pytest.raises(ValueError, match="key"):
            session.receipt(tmp_path / "other.tlr", key="nonsense")
        session.run("javascript", "return 1")
    assert not (tmp_path / "other.tlr").exists()
    return file


def test_receipt_verifies_without_calling_the_functions(receipt: Path) -> None:
    def pay(amount: int) -> str:
        """Pays an amount."""
        raise AssertionError(f"it is called with {amount}")

    found = verify_receipt(receipt, trusted={"other": OTHER, "finance": PUBLIC}, tools=[pay])
    assert (found.verified, found.signer, found.status, found.stopped) == (True, "finance", "completed", False)
    assert found.value == ["receipt 5", "CapabilityError"]
    assert [(call.method, call.verdict) for call in found.calls] == [("pay", "allowed"), ("pay", "not_made")]
    assert found.calls[0].repetition == {"outcome": "not_made", "reason": "it may have effects"}
    assert found.calls[1].repetition is None
    assert json.loads(json.dumps(found.to_dict()))["policy"]["journal"] == {"keep": "all"}


@pytest.mark.parametrize("trusted", [{}, {"other": OTHER}])
def test_receipt_of_a_stranger_is_refused(receipt: Path, trusted: dict[str, str]) -> None:
    with pytest.raises(NativeError, match="whose receipts are not believed here"):
        verify_receipt(receipt, trusted=trusted, tools=[pay])


def test_receipt_needs_the_functions_that_the_session_had(receipt: Path) -> None:
    trusted = {"finance": PUBLIC}
    with pytest.raises(TollhouseError, match="`pay` covers nothing that is mounted"):
        verify_receipt(receipt, trusted=trusted)
    receipt.write_bytes(receipt.read_bytes()[:-20])
    with pytest.raises(NativeError):
        verify_receipt(receipt, trusted=trusted, tools=[pay])
    with pytest.raises(FileNotFoundError):
        verify_receipt(receipt.with_name("none"), trusted=trusted)
    with pytest.raises(ValueError, match="`trusted`, `finance`"):
        verify_receipt(receipt, trusted={"finance": "nonsense"})
