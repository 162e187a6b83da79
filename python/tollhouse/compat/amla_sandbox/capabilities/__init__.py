"""Capabilities, constraints and patterns, as in `amla_sandbox.capabilities`."""

from .constraints import (
    Constraint,
    ConstraintError,
    ConstraintSet,
    MissingParamError,
    Param,
    TypeMismatchError,
    ViolationError,
)
from .method import METHOD_CAPABILITY_TYPE, MethodCapability
from .patterns import method_matches_pattern, pattern_is_subset
from .tool_call import TOOL_CALL_CAP_TYPE, CallLimitExceededError, CapabilityError, ToolCallCap

__all__ = [
    "METHOD_CAPABILITY_TYPE",
    "TOOL_CALL_CAP_TYPE",
    "CallLimitExceededError",
    "CapabilityError",
    "Constraint",
    "ConstraintError",
    "ConstraintSet",
    "MethodCapability",
    "MissingParamError",
    "Param",
    "ToolCallCap",
    "TypeMismatchError",
    "ViolationError",
    "method_matches_pattern",
    "pattern_is_subset",
]
