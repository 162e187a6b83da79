"""Tokens: what is refused, then what they allow."""

from __future__ import annotations

import base64
import time
from pathlib import Path
from typing import Any

import pytest

from tollhouse import CapabilityError, MethodCapability, Param, Sandbox, Session, Store, capability_from_function
from tollhouse.auth import PCA, EphemeralAuthority, TestAuthority

AUTHORITY = TestAuthority.from_seed(bytes(range(32)))
TRUSTED = [AUTHORITY.public_key_hex()]
SMALL = MethodCapability("pay", [Param("amount") <= 10], max_calls=5)


def pay(amount: int) -> str:
    return f"paid {amount}"


def look() -> str:
    return "seen"


def sandbox(pca: Any, **options: Any) -> Sandbox:
    return Sandbox(pca, **{"tools": [pay, look], "trusted_authorities": TRUSTED, **options})


def outcome(box: Sandbox, code: str) -> tuple[str, Any]:
    result = box.run("javascript", f"return await {code}")
    return result.status, result.return_value if result.success else result.error


def changed(pca: PCA, at: int) -> bytes:
    raw = bytearray(base64.urlsafe_b64decode(pca.to_cbor()))
    raw[at] ^= 1
    return base64.urlsafe_b64encode(raw)


def test_another_issuers_token_is_refused() -> None:
    forged = EphemeralAuthority().create_pca()
    with pytest.raises(ValueError, match="none of the trusted authorities has signed the token"):
        sandbox(forged)


def test_no_changed_byte_is_accepted() -> None:
    pca = AUTHORITY.create_pca([SMALL])
    size = len(base64.urlsafe_b64decode(pca.to_cbor()))
    for at in range(size):
        with pytest.raises(ValueError, match="token"):
            sandbox(changed(pca, at))


@pytest.mark.parametrize(
    ("pca", "message"),
    [
        ("no token", "not valid base64"),
        (b"\xd9\x01\x02", "those of amla-sandbox .CBOR. are not read"),
        (base64.urlsafe_b64encode(b"something else"), "not a valid biscuit"),
        ("A" * 70_000, "at most 65536"),
        ([pay], "a token is bytes or text, not list"),
        (17, "a token is bytes or text, not int"),
    ],
)
def test_what_is_no_token(pca: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sandbox(pca)


@pytest.mark.parametrize(
    ("trusted", "message"),
    [
        ([], "nobody's tokens are trusted"),
        (["ed25519:00"], "no authority"),
        ([AUTHORITY.public_key_hex().removeprefix("ed25519:")], "no authority"),
        ([b"short"], "no authority"),
        ([b"1" * 32], "public key of Ed25519"),
        (AUTHORITY.public_key_hex(), "brackets"),
        (AUTHORITY.public_key_bytes(), "brackets"),
    ],
)
def test_who_is_no_authority(trusted: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sandbox(AUTHORITY.create_pca(), trusted_authorities=trusted)


def test_authorities_ask_for_a_token() -> None:
    with pytest.raises(ValueError, match="no `pca`"):
        Sandbox(tools=[pay], trusted_authorities=TRUSTED)
    for options in ({"policy": '[[grant]]\nmethod = "pay"\n'}, {"registry": "somewhere"}):
        with pytest.raises(ValueError, match="give `pca`, or `policy` and `registry`"):
            sandbox(AUTHORITY.create_pca(), **options)


def test_nothing_but_what_the_token_allows() -> None:
    box = sandbox(AUTHORITY.create_pca([SMALL]))
    assert outcome(box, "look({})")[0] == "denied"
    status, error = outcome(box, "pay({amount: 11})")
    assert (status, "`amount` must be at most 10" in error) == ("denied", True)
    assert not box.can_call("look")
    assert [outcome(box, "pay({amount: 10})")[0] for _ in range(6)] == ["completed"] * 5 + ["denied"]
    assert outcome(sandbox(AUTHORITY.create_pca([])), "look({})")[0] == "denied"


def test_the_end_holds_at_each_call() -> None:
    pca = AUTHORITY.create_pca(["tool_call:look"], expires_in_secs=4)
    box = sandbox(pca)
    assert outcome(box, "look({})") == ("completed", "seen")
    time.sleep(4.1)
    status, error = outcome(box, "look({})")
    assert (status, "expired" in error) == ("denied", True)
    with pytest.raises(ValueError, match="the token has expired"):
        sandbox(pca)


@pytest.mark.parametrize(
    ("capabilities", "message"),
    [
        ([MethodCapability("**")], r"does not allow all that '\*\*' covers: it allows pay"),
        ([MethodCapability("look")], "it allows pay"),
        ([MethodCapability("pay", max_calls=6)], "6 calls is more than the 5"),
        ([MethodCapability("payy")], "payy"),
    ],
)
def test_capabilities_do_not_widen(capabilities: list[MethodCapability], message: str) -> None:
    pca = AUTHORITY.create_pca([SMALL])
    with pytest.raises(ValueError, match=message):
        sandbox(pca, capabilities=capabilities)
    with pytest.raises(ValueError, match=message):
        sandbox(pca, capabilities=[SMALL, *capabilities])


def test_capabilities_narrow_and_drop_no_constraint() -> None:
    pca = AUTHORITY.create_pca(["tool_call:look", SMALL])
    box = sandbox(pca, capabilities=[MethodCapability("pay", [Param("amount") >= 2], max_calls=2)])
    assert [outcome(box, f"pay({{amount: {amount}}})")[0] for amount in (1, 11, 2, 10, 3)] == [
        "denied",
        "denied",
        "completed",
        "completed",
        "denied",
    ]
    assert outcome(box, "look({})")[0] == "denied"
    assert [str(one) for one in box.get_capabilities()[0].constraints] == ["amount <= 10", "amount >= 2"]
    assert box.get_remaining_calls("cap:method:pay") == 0
    assert outcome(sandbox(pca, capabilities=[]), "look({})")[0] == "denied"


def test_attenuated_tokens_are_narrower() -> None:
    pca = AUTHORITY.create_pca([SMALL, "tool_call:mcp:look"])
    for wider in (["tool_call:**"], [MethodCapability("pay", max_calls=6)]):
        with pytest.raises(ValueError, match="allows more"):
            pca.attenuate(wider)
    with pytest.raises(ValueError, match="later"):
        pca.attenuate(["tool_call:look"], expires_in_secs=7200)
    passed_on = pca.attenuate(["tool_call:look"], expires_in_secs=60).attenuate(["tool_call:look"])
    box = sandbox(passed_on)
    assert outcome(box, "look({})") == ("completed", "seen")
    assert outcome(box, "pay({amount: 1})")[0] == "denied"
    kept = sandbox(pca.attenuate(["tool_call:pay"])).get_capabilities()
    assert [(one.max_calls, str(one.constraints.constraints[0])) for one in kept] == [(5, "amount <= 10")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"capabilities": "tool_call:pay"}, "a list such as"),
        ({"capabilities": ["pay"]}, "no capability of a token"),
        ({"capabilities": ["tool_call:a//b"]}, "empty segment"),
        ({"capabilities": [3]}, "no capability"),
        ({"capabilities": [capability_from_function(pay)]}, "holds no input_schema"),
        ({"capabilities": ["tool_call:a/b/c/d/e/f/g"]}, "segments"),
        ({"expires_in_secs": 0}, "above 0"),
        ({"expires_in_secs": -5}, "above 0"),
        ({"expires_in_secs": float("nan")}, "above 0"),
        ({"expires_in_secs": float("inf")}, "above 0"),
        ({"expires_in_secs": "3600"}, "above 0"),
        ({"expires_in_secs": 1e300}, "too big"),
        ({"designated_executor": "agent-7"}, "cannot designate who executes it"),
    ],
)
def test_malformed_tokens_are_not_signed(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AUTHORITY.create_pca(**options)


def test_keys() -> None:
    assert EphemeralAuthority.from_seed(bytes(range(32))).public_key_hex() == TRUSTED[0]
    assert TRUSTED[0] == f"ed25519:{AUTHORITY.public_key_bytes().hex()}"
    assert EphemeralAuthority().public_key_hex() != EphemeralAuthority().public_key_hex()
    for seed in (b"", b"x" * 31, b"x" * 33):
        with pytest.raises(ValueError, match="32 bytes"):
            EphemeralAuthority.from_seed(seed)


def test_a_token_is_not_shown() -> None:
    pca = AUTHORITY.create_pca()
    text = pca.to_cbor().decode()
    assert text not in f"{pca} {pca!r}"
    assert PCA(text) == pca == PCA(pca.to_cbor())
    assert PCA(text) != AUTHORITY.create_pca(["tool_call:look"])


def test_all_forms_are_the_same_token() -> None:
    """The seed's positional order, and keys in both forms."""
    pca = AUTHORITY.create_pca()
    for form in (pca, pca.to_cbor(), pca.to_cbor().decode()):
        for trusted in (TRUSTED, [EphemeralAuthority().public_key_bytes(), AUTHORITY.public_key_bytes()]):
            box = Sandbox(form, [pay], [MethodCapability("pay")], trusted, None, None, None)
            assert outcome(box, "pay({amount: 3})") == ("completed", "paid 3")
            assert box.get_call_counts() == {"cap:method:pay": 1}


def test_a_token_allows_what_there_is() -> None:
    """Grants for what is not mounted here are no error in a token, and wildcards name no namespace."""
    pca = AUTHORITY.create_pca([SMALL, "tool_call:elsewhere/**"])
    box = sandbox(pca, limits={"calls": 1})
    assert [one.pattern for one in box.get_capabilities()] == ["pay"]
    assert outcome(box, "pay({amount: 1})") == ("completed", "paid 1")
    assert outcome(box, "pay({amount: 1}).then(() => pay({amount: 1}))")[0] == "limited"
    assert outcome(sandbox(pca, tools=[]), "1") == ("completed", 1)

    box = sandbox(pca, tools=[], tool_handler=lambda method, arguments: method)
    assert outcome(box, "elsewhere.deep.down({})") == ("completed", "elsewhere/deep/down")
    assert outcome(box, "pay({amount: 11})")[0] in ("denied", "failed")
    box = sandbox(AUTHORITY.create_pca(), tools=[], tool_handler=lambda method, arguments: method)
    assert outcome(box, "stripe.charges({})")[0] == "failed"


def test_a_grant_behind_another_one() -> None:
    """What stands behind a grant that asks for something cannot be told apart once the token is narrowed."""
    large = MethodCapability("pay", [Param("amount") >= 100], max_calls=1)
    pca = AUTHORITY.create_pca([SMALL, large])
    box = sandbox(pca)
    assert [outcome(box, f"pay({{amount: {amount}}})")[0] for amount in (5, 100, 100, 50)] == [
        "completed",
        "completed",
        "denied",
        "denied",
    ]
    with pytest.raises(ValueError, match="say in `capabilities`"):
        sandbox(pca, limits={"wall": "5s"})
    assert outcome(sandbox(AUTHORITY.create_pca(["tool_call:**", SMALL]), limits={"wall": "5s"}), "look({})") == (
        "completed",
        "seen",
    )


def test_a_session_on_disk_takes_no_token(tmp_path: Path) -> None:
    """Its grants are fixed when it is made, and would outlive the token's end."""
    options: Any = {"pca": AUTHORITY.create_pca(), "trusted_authorities": TRUSTED, "tools": [pay]}
    with pytest.raises(ValueError, match="takes no token"):
        Session.open("a", store=tmp_path, **options)
    assert "a" not in Store(tmp_path)


def test_wasm_path() -> None:
    with pytest.raises(ValueError, match="the guests are inside the package"):
        Sandbox(wasm_path="guest.wasm")  # pyright: ignore[reportArgumentType]


def test_a_refused_call_is_a_capability_error() -> None:
    box = sandbox(AUTHORITY.create_pca(["tool_call:look"]))
    assert outcome(box, "pay({amount: 1}).catch(error => error.name)") == ("completed", CapabilityError.__name__)
