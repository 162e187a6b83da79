"""Runs the code that AI agents write, with tools behind one gate that checks every call."""

from .audit import AuditCollector, AuditConfig, AuditEntry
from .capabilities import (
    METHOD_CAPABILITY_TYPE,
    TOOL_CALL_CAP_TYPE,
    MethodCapability,
    ToolCallCap,
    method_matches_pattern,
    pattern_is_subset,
)
from .constraints import Constraint, ConstraintSet, Param
from .errors import (
    ArgumentError,
    CallLimitExceededError,
    CapabilityError,
    ConstraintError,
    MissingParamError,
    TypeMismatchError,
    ViolationError,
)
from .ingestion import from_anthropic_tools, from_claude, from_langchain, from_openai, from_openai_tools
from .prompts import DEFAULT_MAX_CALLS, JS_CODEACT_PROMPT
from .result import ExecutionResult
from .schema import dataclass_to_schema, extract_param_description, python_type_to_json_schema
from .signatures import format_tool_descriptions_js
from .tools import (
    Tool,
    ToolDefinition,
    capability_from_function,
    create_tool_handler,
    tool,
    tool_from_function,
    tools_of,
)

__all__ = [
    "ArgumentError",
    "AuditCollector",
    "AuditConfig",
    "AuditEntry",
    "CallLimitExceededError",
    "CapabilityError",
    "Constraint",
    "ConstraintError",
    "ConstraintSet",
    "DEFAULT_MAX_CALLS",
    "ExecutionResult",
    "JS_CODEACT_PROMPT",
    "METHOD_CAPABILITY_TYPE",
    "MethodCapability",
    "MissingParamError",
    "Param",
    "TOOL_CALL_CAP_TYPE",
    "Tool",
    "ToolCallCap",
    "ToolDefinition",
    "TypeMismatchError",
    "ViolationError",
    "capability_from_function",
    "create_tool_handler",
    "dataclass_to_schema",
    "extract_param_description",
    "format_tool_descriptions_js",
    "from_anthropic_tools",
    "from_claude",
    "from_langchain",
    "from_openai",
    "from_openai_tools",
    "method_matches_pattern",
    "pattern_is_subset",
    "python_type_to_json_schema",
    "tool",
    "tool_from_function",
    "tools_of",
]
