"""A drop-in for amla-sandbox 0.1.6 to 0.2.8.

    import tollhouse.compat.amla_sandbox as amla_sandbox

Names, arguments, exceptions and return types are those of amla-sandbox; docs/migrating-from-amla.md lists where this
refuses what amla-sandbox allowed. New programs use `tollhouse` itself.
"""

from .audit import AuditCollector, AuditConfig, AuditEntry
from .bash_tool import DEFAULT_MAX_CALLS, create_sandbox_tool
from .capabilities import (
    METHOD_CAPABILITY_TYPE,
    TOOL_CALL_CAP_TYPE,
    CallLimitExceededError,
    CapabilityError,
    Constraint,
    ConstraintError,
    ConstraintSet,
    MethodCapability,
    MissingParamError,
    Param,
    ToolCallCap,
    TypeMismatchError,
    ViolationError,
    method_matches_pattern,
    pattern_is_subset,
)
from .codeact import JS_CODEACT_PROMPT, create_amla_codeact, create_amla_sandbox
from .langgraph import ExecutionResult, SandboxTool
from .runtime import (
    AsyncToolHandler,
    Runtime,
    RuntimeConfig,
    RuntimeError,  # noqa: A004
    RuntimeStatus,
    SyncToolHandler,
    ToolHandler,
    precompile_module,
)
from .sandbox import Sandbox
from .tools import (
    ToolDefinition,
    capability_from_function,
    create_tool_handler,
    format_tool_descriptions_js,
    from_anthropic_tools,
    from_claude,
    from_langchain,
    from_openai,
    from_openai_tools,
    tool_from_function,
)

__all__ = [
    "DEFAULT_MAX_CALLS",
    "JS_CODEACT_PROMPT",
    "METHOD_CAPABILITY_TYPE",
    "TOOL_CALL_CAP_TYPE",
    "AsyncToolHandler",
    "AuditCollector",
    "AuditConfig",
    "AuditEntry",
    "CallLimitExceededError",
    "CapabilityError",
    "Constraint",
    "ConstraintError",
    "ConstraintSet",
    "ExecutionResult",
    "MethodCapability",
    "MissingParamError",
    "Param",
    "Runtime",
    "RuntimeConfig",
    "RuntimeError",
    "RuntimeStatus",
    "Sandbox",
    "SandboxTool",
    "SyncToolHandler",
    "ToolCallCap",
    "ToolDefinition",
    "ToolHandler",
    "TypeMismatchError",
    "ViolationError",
    "capability_from_function",
    "create_amla_codeact",
    "create_amla_sandbox",
    "create_sandbox_tool",
    "create_tool_handler",
    "format_tool_descriptions_js",
    "from_anthropic_tools",
    "from_claude",
    "from_langchain",
    "from_openai",
    "from_openai_tools",
    "method_matches_pattern",
    "pattern_is_subset",
    "precompile_module",
    "tool_from_function",
]
