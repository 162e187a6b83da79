"""Arrays, scalars and missing values of numpy and pandas as results of tools."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tollhouse import Sandbox, ToolDefinition, ToolError


def given(value: Any) -> Any:
    """What a caller gets of a tool that returns a value."""
    return Sandbox(tools=[ToolDefinition("give")], tool_handler=lambda method, params: value).call("give")


def seen(value: Any) -> str:
    """What a script sees of it."""
    sandbox = Sandbox(tools=[ToolDefinition("give")], tool_handler=lambda method, params: value)
    return sandbox.run("javascript", "return JSON.stringify(await give({}))", check=True).return_value


class Nanoseconds(dt.timedelta):
    """The duration that pandas has: a `timedelta` with one more field."""

    nanoseconds = 0

    def __abs__(self) -> Nanoseconds:
        made = Nanoseconds(seconds=abs(self.total_seconds()))
        made.nanoseconds = self.nanoseconds
        return made

    def __divmod__(self, other: Any) -> Any:
        whole, rest = divmod(dt.timedelta(seconds=self.total_seconds()), other)
        left = Nanoseconds(seconds=rest.total_seconds())
        left.nanoseconds = self.nanoseconds
        return whole, left


def test_duration_with_nanoseconds_is_written_with_all_digits() -> None:
    duration = Nanoseconds(days=1)
    assert given(duration) == "P1D"
    duration.nanoseconds = 789
    assert given(duration) == "P1DT0.000000789S"
    duration = Nanoseconds(microseconds=1)
    duration.nanoseconds = 500
    assert given(duration) == "PT0.0000015S"


class Wide:
    """A number that `tolist` does not make a plain one, as `longdouble`."""

    def tolist(self) -> Wide:
        return self


def test_scalar_whose_list_is_itself_is_an_error_that_says_what_to_return() -> None:
    with pytest.raises(ToolError, match="of type Wide, which has no JSON form: convert it to float"):
        given([Wide()])


class Frame:
    columns = ("a",)

    def __iter__(self) -> Any:
        return iter(self.columns)

    def to_dict(self, orient: str = "dict") -> dict[str, Any]:
        return {}


def test_frame_is_an_error_that_says_what_to_return() -> None:
    with pytest.raises(ToolError, match=r"of type Frame, .* use its `to_dict\('records'\)`"):
        given(Frame())
    with pytest.raises(ToolError, match=r"of type ExecutionResult, .* use its `to_dict\(\)`"):
        given(Sandbox().last_result)


def test_numpy_numbers_are_numbers() -> None:
    np = pytest.importorskip("numpy")
    assert given(np.array([[1, 2**60], [3, 4]])) == [[1, 2**60], [3, 4]]
    assert given([np.int64(5), np.float32(0.5), np.bool_(True), np.uint64(2**64 - 1)]) == [5, 0.5, True, 2**64 - 1]
    assert given({np.int64(1): 2, np.float64(1.5): 3, np.bool_(False): 4}) == {"1": 2, "1.5": 3, "false": 4}
    assert given(np.ma.array([1, 2], mask=[0, 1])) == [1, None]
    with pytest.raises(ToolError, match="two keys"):
        given({np.int64(1): 2, "1": 3})
    with pytest.raises(ToolError, match="longdouble, which has no JSON form: convert it to float"):
        given(np.array([1], dtype=np.longdouble))
    with pytest.raises(ToolError, match="complex"):
        given(np.array([1j]))


def test_numpy_times_are_texts_in_every_unit() -> None:
    np = pytest.importorskip("numpy")
    for unit in ("s", "ms", "us", "ns", "ps"):  # picoseconds reach no further than some months
        assert given(np.datetime64("1970-01-01T00:00:01", unit)) == "1970-01-01T00:00:01", unit
    assert given(np.array(["2020-01-01T00:00:00.123456789", "NaT"], dtype="M8[ns]")) == [
        "2020-01-01T00:00:00.123456789",
        None,
    ]
    assert given(np.array([["2020-01-02"]], dtype="M8[ns]")) == [["2020-01-02T00:00:00"]]
    assert given(np.datetime64("2020-01-02")) == "2020-01-02"
    assert given(np.datetime64("20000-01-02")) == "20000-01-02"
    assert given(np.datetime64("NaT")) is None
    with pytest.raises(ToolError, match="times among its fields: use a list of dicts"):
        given(np.array([(1, "2020-01-01")], dtype=[("a", "i4"), ("b", "M8[ns]")]))
    assert given(np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")])) == [[1, 2.5]]


def test_numpy_durations_are_texts_or_errors() -> None:
    np = pytest.importorskip("numpy")
    for unit in ("s", "ms", "us", "ns"):
        assert given(np.timedelta64(5, "s").astype(f"m8[{unit}]")) == "PT5S", unit
    assert given(np.array([1000, "NaT"], dtype="m8[ns]")) == ["PT0.000001S", None]
    assert given(np.timedelta64(2, "D")) == "P2D"
    for lost in (np.timedelta64(5, "ns"), np.timedelta64(5, "Y"), np.timedelta64(5, "M"), np.timedelta64(5)):
        with pytest.raises(ToolError, match="timedelta64"):
            given(lost)


def test_pandas_values_are_their_plain_ones_and_missing_ones_are_null() -> None:
    pd = pytest.importorskip("pandas")
    times = pd.to_datetime(pd.Series(["2020-01-01T00:00:00.123456789", None]), format="ISO8601")
    frame = pd.DataFrame({"at": times, "count": pd.array([1, None], dtype="Int64"), "name": ["a", None]}, dtype=None)
    frame["name"] = frame["name"].astype(object).where(frame["name"].notna(), None)
    rows = [
        {"at": "2020-01-01T00:00:00.123456789", "count": 1, "name": "a"},
        {"at": None, "count": None, "name": None},
    ]
    assert given(frame.to_dict("records")) == rows
    assert given(times) == given(times.to_numpy()) == ["2020-01-01T00:00:00.123456789", None]
    assert given(frame["count"]) == [1, None]
    assert given(pd.Timestamp("2020-01-01", tz="Europe/Oslo")) == "2020-01-01T00:00:00+01:00"
    assert given(pd.Timedelta("1 days 00:00:00.000000789")) == "P1DT0.000000789S"
    assert given(pd.Timedelta("1 days 2s")) == "P1DT2S"
    assert given([pd.NaT, pd.NA]) == [None, None]
    assert seen({"rows": frame["count"], "index": frame.index}) == '{"rows":[1,null],"index":[0,1]}'
    with pytest.raises(ToolError, match=r"of type DataFrame, .* use its `to_dict\('records'\)`"):
        given(frame)
