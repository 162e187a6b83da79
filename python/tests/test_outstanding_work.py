"""Work that a script began and did not wait for: a run ends when nothing of it is outstanding, as in Node and bash."""

from __future__ import annotations

import time

import pytest

from tollhouse import AuditConfig, MethodCapability, Sandbox

PAY = MethodCapability("pay", max_calls=10)


@pytest.mark.parametrize(
    ("language", "script", "value"),
    [
        ("javascript", "[1, 2, 3].forEach(async n => { await pay({amount: n}) }); return 'all paid'", "all paid"),
        ("javascript", "for (const n of [1, 2, 3]) pay({amount: n})", None),
        (
            "javascript",
            "setTimeout(() => { for (const n of [1, 2, 3]) pay({amount: n}) }, 20); return 'later'",
            "later",
        ),
        ("javascript", "shell('for n in 1 2 3; do pay --amount $n; done'); return 'elsewhere'", "elsewhere"),
        ("shell", "for n in 1 2 3; do (sleep 0.01; pay --amount $n) & done", None),
    ],
)
def test_calls_that_nobody_waits_for_are_made_logged_and_counted(language: str, script: str, value: object) -> None:
    paid: list[int] = []

    def pay(amount: int) -> int:
        time.sleep(0.02)
        paid.append(amount)
        return amount

    with Sandbox(tools=[pay], capabilities=[PAY], audit_config=AuditConfig()) as sandbox:
        result = sandbox.run(language, script)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        assert (result.status, result.return_value, sorted(paid)) == ("completed", value, [1, 2, 3])
        assert sandbox.get_remaining_calls(PAY.key()) == 7
        assert len(sandbox.get_audit_entries("tool_call")) == 3


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("setTimeout(() => pay({amount: 1}), 20); process.exit(0)", "completed"),
        ("setTimeout(() => pay({amount: 1}), 20); throw new Error('over')", "failed"),
        ("setTimeout(() => pay({amount: 1}), 20); Promise.reject(new Error('over'))", "failed"),
        ("setTimeout(() => pay({amount: 1}), 5000).unref(); return 1", "completed"),
    ],
)
def test_end_that_the_script_wants_waits_for_nothing(script: str, status: str) -> None:
    paid: list[int] = []

    def pay(amount: int) -> None:
        paid.append(amount)

    began = time.monotonic()
    assert Sandbox(tools=[pay]).run("javascript", script).status == status
    assert paid == []
    assert time.monotonic() - began < 5
