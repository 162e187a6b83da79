from __future__ import annotations

import datetime
import decimal
import json
import pickle
from typing import Any

import pytest

import tollhouse.constraints
from tollhouse import (
    Constraint,
    ConstraintError,
    ConstraintSet,
    MethodCapability,
    MissingParamError,
    Param,
    PolicyError,
    Sandbox,
    TypeMismatchError,
    ViolationError,
    _native,
)

ALL = [
    (Param("a") < 1, {"param": "a", "lt": 1}),
    (Param("a") <= 1, {"param": "a", "le": 1}),
    (Param("a") > 1.5, {"param": "a", "gt": 1.5}),
    (Param("a") >= 1, {"param": "a", "ge": 1}),
    (Param("a") == "x", {"param": "a", "eq": "x"}),
    (Param("a") != True, {"param": "a", "ne": True}),  # noqa: E712
    (Param("a").is_in(["x", "y"]), {"param": "a", "in": ["x", "y"]}),
    (Param("a").not_in([1, 2]), {"param": "a", "not_in": [1, 2]}),
    (Param("a").starts_with("/api/"), {"param": "a", "starts_with": "/api/"}),
    (Param("a").ends_with(".md"), {"param": "a", "ends_with": ".md"}),
    (Param("a").within("/data"), {"param": "a", "within": "/data"}),
    (Param("a").contains("x"), {"param": "a", "contains": "x"}),
    (Param("a").exists(), {"param": "a", "exists": True}),
    (Param("a").not_exists(), {"param": "a", "not_exists": True}),
    (
        Param.and_([Param("a") > 1, Param("b") < 2]),
        {"all": [{"param": "a", "gt": 1}, {"param": "b", "lt": 2}]},
    ),
    (
        Constraint.or_([Param("a").exists(), Param("b") == 2]),
        {"any": [{"param": "a", "exists": True}, {"param": "b", "eq": 2}]},
    ),
]


@pytest.mark.parametrize(("constraint", "clause"), ALL)
def test_every_operator_is_a_clause_and_comes_back(constraint: Constraint, clause: dict[str, Any]) -> None:
    assert constraint.to_clause() == clause
    assert Constraint.from_dict(clause) == constraint
    assert Constraint.from_dict(json.loads(json.dumps(constraint.to_dict()))) == constraint


def test_factories_and_params_agree() -> None:
    assert Constraint.le("a", 1) == (Param("a") <= 1)
    assert Constraint.eq("a", 1) == (1 == Param("a"))  # noqa: SIM300
    assert Constraint.ge("a", 1) == (1 <= Param("a"))  # noqa: SIM300
    assert Constraint.is_in("a", ["x"]) == Param("a").is_in(["x"])
    assert (Param("a") > 1) & (Param("a") < 3) == Param.and_([Param("a") > 1, Param("a") < 3])
    assert (Param("a") > 1) | (Param("b") < 3) == Param.or_([Param("a") > 1, Param("b") < 3])


def test_a_leading_slash_is_the_same_path() -> None:
    assert (Param("/items/0/price") <= 1).to_clause() == {"param": "items/0/price", "le": 1}


def test_a_chained_comparison_is_an_error_and_drops_nothing() -> None:
    with pytest.raises(TypeError, match="neither true nor false"):
        _ = 1 <= Param("a") <= 10
    with pytest.raises(TypeError, match="join constraints with `&`"):
        _ = (Param("a") >= 1) and (Param("a") <= 10)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Param("a") <= "1000",
        lambda: Param("a") <= True,
        lambda: Param("a") <= float("nan"),
        lambda: Param("a") == None,  # noqa: E711
        lambda: Param("a") == [1],
        lambda: Param("a") == 2**70,
        lambda: Param("a").is_in("USD"),
        lambda: Param("a").is_in([None]),
        lambda: Param("a").starts_with(1),
        lambda: Param(1) <= 2,
        lambda: Constraint("lte", "a", 1),
        lambda: Constraint.or_([]),
        lambda: Constraint.and_([]),
        lambda: Constraint.from_dict({"type": "le", "param": "a"}),
        lambda: Constraint.from_dict({"type": "like", "param": "a", "value": 1}),
        lambda: Constraint.from_dict({"param": "a"}),
        lambda: Constraint.from_dict({"param": "a", "lte": 1}),
        lambda: Constraint.from_dict({"param": "a", "exists": False}),
        lambda: Constraint.from_dict({"all": [], "param": "a"}),
        lambda: Constraint.from_dict({"le": 1}),
        lambda: ConstraintSet.from_dict({"constraint": []}),
        lambda: ConstraintSet.from_dict("amount <= 1"),
    ],
)
def test_what_is_malformed_raises(make: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        make()


def test_a_param_without_operator_is_no_constraint() -> None:
    with pytest.raises(TypeError, match="needs an operator"):
        ConstraintSet([Param("amount")])
    constraints = ConstraintSet([Param("a") > 1])
    with pytest.raises(TypeError):
        constraints.extend([Param("b") > 1, True])
    assert len(constraints) == 1


def test_large_numbers_are_written_as_policies_write_them() -> None:
    assert (Param("a") <= 2**63).to_clause() == {"param": "a", "le": str(2**63)}
    assert Constraint.from_dict((Param("a") <= 2**63).to_clause()) == (Param("a") <= 2**63)
    assert (Param("a") <= 2**63 - 1).to_clause() == {"param": "a", "le": 2**63 - 1}


def test_sets_merge_extend_and_come_back() -> None:
    one, other = ConstraintSet([Param("a") > 1]), ConstraintSet([Param("b").exists()])
    both = one.merge(other)
    assert len(both) == 2
    assert len(one) == 1
    one.extend(other)
    assert one == both
    assert ConstraintSet().is_empty()
    assert not both.is_empty()
    assert ConstraintSet.from_dict(both.to_dict()) == both
    assert ConstraintSet.from_dict(both.to_clauses()) == both


def test_each_failure_is_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    answer: dict[str, Any] = {"param": "amount", "clause": "", "actual": 5000, "missing": False, "mismatch": None}
    constraints = ConstraintSet([Param("amount") <= 1000])

    def fail_with(**more: Any) -> Any:
        monkeypatch.setattr(_native, "check_clauses", lambda *_: json.dumps({**answer, **more}))
        with pytest.raises(ConstraintError) as caught:
            constraints.evaluate({"amount": 5000})
        return caught.value

    violated = fail_with()
    assert isinstance(violated, ViolationError)
    assert (violated.param, violated.rule, violated.actual) == ("amount", "amount <= 1000", 5000)
    assert str(violated) == "Constraint violation: amount <= 1000, actual: 5000"
    missing = fail_with(missing=True, actual=None)
    assert isinstance(missing, MissingParamError)
    assert missing.param == "amount"
    wrong = fail_with(mismatch="a number", actual="many")
    assert isinstance(wrong, TypeMismatchError)
    assert (wrong.param, wrong.expected, wrong.actual) == ("amount", "a number", "str")


def test_arguments_that_are_no_json_do_not_pass() -> None:
    constraints = ConstraintSet([Param("a").exists()])
    for value in (float("nan"), object(), {(1, 2): 3}):
        with pytest.raises(ConstraintError, match="JSON"):
            constraints.evaluate({"a": value})


def test_constraints_judge_the_arguments_that_calls_take() -> None:
    day = datetime.date(2026, 1, 2)
    (Param("day") == "2026-01-02").evaluate({"day": day})
    (Param("tags").contains("new")).evaluate({"tags": {"new"}})
    MethodCapability("pay", [Param("amount") == "1.50"]).validate_call("pay", {"amount": decimal.Decimal("1.50")})
    with pytest.raises(ViolationError):
        (Param("day") == "2026-01-03").evaluate({"day": day})


class TestNative:
    @pytest.mark.parametrize(
        ("constraint", "good", "bad"),
        [
            (Param("a") <= 1000, [1000, -5, 0.5], [1000.5, 5000]),
            (Param("a") < 1, [0], [1]),
            (Param("a") > 1, [2], [1]),
            (Param("a") >= 1, [1], [0]),
            (Param("a") == 1, [1, 1.0], [2, "1"]),
            (Param("a") == True, [True], [False]),  # noqa: E712
            (Param("a") != "x", ["y"], ["x"]),
            (Param("a").is_in(["USD", "EUR"]), ["USD"], ["usd", "GBP"]),
            (Param("a").not_in(["x"]), ["y"], ["x"]),
            (Param("a").starts_with("/api/"), ["/api/x"], ["/API/x"]),
            (Param("a").ends_with(".md"), ["a.md"], ["a.mdx"]),
            (Param("a").within("/data"), ["/data", "/data/x"], ["/data/../x", "/database", "data", 1]),
            (Param("a").contains("b"), ["abc", ["b"]], ["c", ["c"]]),
            (Param("a").exists(), [0, "", False], []),
            (Param("a").not_exists(), [None], [0]),
            ((Param("a") >= 1) & (Param("a") <= 3), [1, 3], [0, 4]),
            ((Param("a") == 1) | (Param("a") == 3), [1, 3], [2]),
        ],
    )
    def test_values_pass_or_violate(self, constraint: Constraint, good: list[Any], bad: list[Any]) -> None:
        for value in good:
            constraint.evaluate({"a": value})
        for value in bad:
            with pytest.raises(ConstraintError):
                constraint.evaluate({"a": value})

    def test_missing_and_null_fail_every_operator_but_one(self) -> None:
        for constraint in (Param("a") <= 1, Param("a") != "x", Param("a").not_in([1]), Param("a").exists()):
            for params in ({}, {"a": None}):
                with pytest.raises(MissingParamError) as caught:
                    constraint.evaluate(params)
                assert caught.value.param == "a"
        Param("a").not_exists().evaluate({})

    def test_booleans_are_no_numbers_and_numbers_no_texts(self) -> None:
        for constraint, value in [
            (Param("a") <= 1000, True),
            (Param("a") <= 1000, "5"),
            (Param("a").starts_with("/"), 5),
        ]:
            with pytest.raises(TypeMismatchError):
                constraint.evaluate({"a": value})
        with pytest.raises(ConstraintError):
            (Param("a") == 1).evaluate({"a": True})

    def test_paths_walk_objects_and_lists(self) -> None:
        (Param("items/0/price") <= 5).evaluate({"items": [{"price": 5}]})
        (Param("items/*/price") <= 5).evaluate({"items": [{"price": 1}, {"price": 5}]})
        with pytest.raises(ConstraintError):
            (Param("items/*/price") <= 5).evaluate({"items": [{"price": 1}, {"price": 6}]})
        with pytest.raises(ConstraintError):
            (Param("items/*/price") <= 5).evaluate({"items": []})

    def test_a_choice_names_itself_whole(self) -> None:
        with pytest.raises(ViolationError, match=r"\(a == 1 or b == 2\)"):
            Constraint.or_([Param("a") == 1, Param("b") == 2]).evaluate({"b": 3})

    def test_subsumption_is_sound(self) -> None:
        wide, narrow = ConstraintSet([Param("a") <= 10]), ConstraintSet([Param("a") <= 5])
        assert wide.subsumes(narrow)
        assert not narrow.subsumes(wide)
        assert not narrow.subsumes(ConstraintSet())
        assert ConstraintSet().subsumes(narrow)
        assert wide.subsumes(ConstraintSet([Param("a").is_in([1, 10])]))
        assert wide.subsumes(ConstraintSet([Param("a") == 10]))
        assert not ConstraintSet([Param("a") == 5]).subsumes(ConstraintSet([Param("a") < 10]))
        assert ConstraintSet([Param("p").starts_with("/a")]).subsumes(ConstraintSet([Param("p") == "/a/b"]))

    @pytest.mark.parametrize("path", ["", "a//b", "a/", "pre*"])
    def test_malformed_paths_raise_where_they_are_written(self, path: str) -> None:
        with pytest.raises(ValueError, match="parameter path"):
            _ = Param(path) <= 1

    def test_empty_choices_raise(self) -> None:
        with pytest.raises(ValueError, match="empty"):
            Param("a").is_in([])


def pay_exactly(
    amount: decimal.Decimal, at: datetime.datetime, day: datetime.date, parts: list[decimal.Decimal]
) -> None: ...


@pytest.mark.parametrize(
    "capability",
    [
        MethodCapability("pay_exactly", [Param("amount") != 100]),
        MethodCapability("**", [Param("at").not_in(["2025-01-31T00:00:00Z"])]),
        MethodCapability("pay_exactly", [(Param("day") == "2025-01-31") & (Param("parts/*") != "1.5")]),
        MethodCapability("pay_exactly", approve=Param("amount") == "100"),
        MethodCapability("pay_exactly", approve=(Param("day") == "2025-01-31") | Param("at").is_in(["x"])),
    ],
)
def test_constraint_that_another_spelling_gets_round_is_refused(capability: MethodCapability) -> None:
    with pytest.raises(ValueError, match="several spellings"):
        Sandbox(tools=[pay_exactly], capabilities=[capability], approver=lambda _: True)


@pytest.mark.parametrize(
    "capability",
    [
        MethodCapability("pay_exactly", [Param("amount") == 100, Param("amount") < 500]),
        MethodCapability("pay_exactly", [Param("day") != "2025-01-31"]),
        MethodCapability("pay_exactly", approve=(Param("amount") > 100) & (Param("day") == "2025-01-31")),
    ],
)
def test_constraint_that_fails_closed_on_another_spelling_is_taken(capability: MethodCapability) -> None:
    approver = None if capability.approve is False else lambda _: True  # pyright: ignore[reportUnknownLambdaType, reportUnknownVariableType]
    assert Sandbox(tools=[pay_exactly], capabilities=[capability], approver=approver)


@pytest.mark.parametrize(
    "grant",
    [
        "where = [{ param = 'amount', ne = 100 }]",
        "where = [{ param = 'parts/*', not_in = ['1.5'] }]",
        "approve = { param = 'at', eq = '2025-01-31T00:00:00Z' }",
    ],
)
def test_policy_that_another_spelling_gets_round_is_refused(grant: str) -> None:
    policy = f"[[grant]]\nmethod = 'pay_exactly'\n{grant}\n"
    approver = (lambda _: True) if "approve" in grant else None
    with pytest.raises(PolicyError, match="can be got round"):
        Sandbox(tools=[pay_exactly], policy=policy, approver=approver)


def test_policy_that_fails_closed_on_another_spelling_is_taken() -> None:
    where = "[{ param = 'amount', lt = 100 }, { param = 'day', ne = '2025-01-31' }]"
    policy = f"[[grant]]\nmethod = 'pay_exactly'\nwhere = {where}\n"
    assert Sandbox(tools=[pay_exactly], policy=policy)


def test_module_of_constraints_has_sets_and_parameters_too() -> None:
    from tollhouse.constraints import Constraint as Condition
    from tollhouse.constraints import ConstraintSet as Conditions
    from tollhouse.constraints import Param as Parameter

    assert (Condition, Conditions, Parameter) == (Constraint, ConstraintSet, Param)
    names: dict[str, Any] = {}
    exec("from tollhouse.constraints import *", names)  # noqa: S102
    assert {"Constraint", "ConstraintSet", "Param"} <= set(names)
    with pytest.raises(AttributeError, match="no attribute 'Params'"):
        tollhouse.constraints.Params  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_pickled_constraint_set_of_an_earlier_release_is_read() -> None:
    pickled = pickle.dumps(ConstraintSet([Param("a") <= 1]), protocol=0)
    earlier = pickled.replace(b"tollhouse.constraint_sets", b"tollhouse.constraints")
    assert earlier != pickled
    assert pickle.loads(earlier) == ConstraintSet([Param("a") <= 1])
