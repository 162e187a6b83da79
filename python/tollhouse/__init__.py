"""Runs the code that AI agents write, with tools behind one gate that checks every call."""

# What is imported when it is first used makes `import tollhouse` cost next to nothing: many programs run one script.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._native import __version__ as __version__
    from .audit import AuditCollector, AuditConfig, AuditEntry, CheckedLog, check_audit_log
    from .call_contexts import CallContext, call_context
    from .capabilities import (
        METHOD_CAPABILITY_TYPE,
        TOOL_CALL_CAP_TYPE,
        MethodCapability,
        ToolCallCap,
        method_matches_pattern,
        pattern_is_subset,
    )
    from .checks import Problem
    from .codeact import (
        create_amla_codeact,
        create_amla_sandbox,
        create_tollhouse_codeact,
        create_tollhouse_sandbox,
    )
    from .confinement import confine
    from .constraint_sets import ConstraintSet
    from .constraints import Constraint
    from .errors import (
        ArgumentError,
        CallLimitExceededError,
        CapabilityError,
        ConstraintError,
        Defer,
        MissingParamError,
        NativeError,
        PolicyError,
        RegistryError,
        RunSuspended,
        ScriptError,
        SessionConflictError,
        SessionNotFoundError,
        TollhouseError,
        ToolError,
        TypeMismatchError,
        ViolationError,
    )
    from .errors import RuntimeError as RuntimeError  # noqa: A004
    from .files import Files, FileStat, Snapshot
    from .ingestion import from_anthropic_tools, from_claude, from_langchain, from_openai, from_openai_tools
    from .literals import Effect, LanguageName, OnChange, PendingState, Resolution, RunStatus, Status
    from .mcp_servers import McpServerOptions, McpServers, McpTool
    from .params import Param
    from .pending import ApprovalRequest, CallInDoubt, Decision, PendingCall
    from .precompile import precompile_module
    from .prompts import DEFAULT_MAX_CALLS, JS_CODEACT_PROMPT
    from .receipts import Verification, VerifiedCall, verify_receipt
    from .registry import Registry
    from .result import ExecutionResult
    from .runtime import AsyncToolHandler, Runtime, RuntimeConfig, RuntimeStatus, SyncToolHandler, ToolHandler
    from .sandbox import Sandbox
    from .sandbox_tool import SandboxTool, create_sandbox_tool
    from .schema import dataclass_to_schema, extract_param_description, python_type_to_json_schema
    from .sessions import Session
    from .signatures import format_tool_descriptions_js
    from .stores import Run, Store
    from .tools import (
        Tool,
        ToolDefinition,
        capability_from_function,
        create_tool_handler,
        tool,
        tool_from_function,
        tools_of,
    )

_NAMES = {
    "_native": ["__version__"],
    "audit": ["AuditCollector", "AuditConfig", "AuditEntry", "CheckedLog", "check_audit_log"],
    "call_contexts": ["CallContext", "call_context"],
    "capabilities": [
        "METHOD_CAPABILITY_TYPE",
        "TOOL_CALL_CAP_TYPE",
        "MethodCapability",
        "ToolCallCap",
        "method_matches_pattern",
        "pattern_is_subset",
    ],
    "checks": ["Problem"],
    "codeact": [
        "create_amla_codeact",
        "create_amla_sandbox",
        "create_tollhouse_codeact",
        "create_tollhouse_sandbox",
    ],
    "confinement": ["confine"],
    "constraint_sets": ["ConstraintSet"],
    "constraints": ["Constraint"],
    "errors": [
        "ArgumentError",
        "CallLimitExceededError",
        "CapabilityError",
        "ConstraintError",
        "Defer",
        "MissingParamError",
        "NativeError",
        "PolicyError",
        "RegistryError",
        "RunSuspended",
        "ScriptError",
        "SessionConflictError",
        "SessionNotFoundError",
        "TollhouseError",
        "ToolError",
        "RuntimeError",
        "TypeMismatchError",
        "ViolationError",
    ],
    "files": ["Files", "FileStat", "Snapshot"],
    "ingestion": ["from_anthropic_tools", "from_claude", "from_langchain", "from_openai", "from_openai_tools"],
    "literals": ["Effect", "LanguageName", "OnChange", "PendingState", "Resolution", "RunStatus", "Status"],
    "mcp_servers": ["McpServerOptions", "McpServers", "McpTool"],
    "params": ["Param"],
    "pending": ["ApprovalRequest", "CallInDoubt", "Decision", "PendingCall"],
    "precompile": ["precompile_module"],
    "prompts": ["DEFAULT_MAX_CALLS", "JS_CODEACT_PROMPT"],
    "receipts": ["Verification", "VerifiedCall", "verify_receipt"],
    "registry": ["Registry"],
    "result": ["ExecutionResult"],
    "runtime": ["AsyncToolHandler", "Runtime", "RuntimeConfig", "RuntimeStatus", "SyncToolHandler", "ToolHandler"],
    "sandbox": ["Sandbox"],
    "sandbox_tool": ["SandboxTool", "create_sandbox_tool"],
    "schema": ["dataclass_to_schema", "extract_param_description", "python_type_to_json_schema"],
    "sessions": ["Session"],
    "signatures": ["format_tool_descriptions_js"],
    "stores": ["Run", "Store"],
    "tools": [
        "Tool",
        "ToolDefinition",
        "capability_from_function",
        "create_tool_handler",
        "tool",
        "tool_from_function",
        "tools_of",
    ],
}
"""Public names by module. `RuntimeError` is not in `__all__`: it would hide the builtin one."""

_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "METHOD_CAPABILITY_TYPE",
    "TOOL_CALL_CAP_TYPE",
    "DEFAULT_MAX_CALLS",
    "JS_CODEACT_PROMPT",
    "ApprovalRequest",
    "ArgumentError",
    "AsyncToolHandler",
    "AuditCollector",
    "AuditConfig",
    "AuditEntry",
    "CallContext",
    "CallInDoubt",
    "CallLimitExceededError",
    "CapabilityError",
    "CheckedLog",
    "Constraint",
    "ConstraintError",
    "ConstraintSet",
    "Decision",
    "Defer",
    "Effect",
    "ExecutionResult",
    "FileStat",
    "Files",
    "LanguageName",
    "McpServerOptions",
    "McpServers",
    "McpTool",
    "MethodCapability",
    "MissingParamError",
    "NativeError",
    "OnChange",
    "Param",
    "PendingCall",
    "PendingState",
    "Problem",
    "PolicyError",
    "Registry",
    "RegistryError",
    "Resolution",
    "Run",
    "RunStatus",
    "RunSuspended",
    "Runtime",
    "RuntimeConfig",
    "RuntimeStatus",
    "Sandbox",
    "SandboxTool",
    "ScriptError",
    "Session",
    "SessionConflictError",
    "SessionNotFoundError",
    "Snapshot",
    "Status",
    "Store",
    "SyncToolHandler",
    "TollhouseError",
    "Tool",
    "ToolCallCap",
    "ToolDefinition",
    "ToolError",
    "ToolHandler",
    "TypeMismatchError",
    "Verification",
    "VerifiedCall",
    "ViolationError",
    "call_context",
    "capability_from_function",
    "check_audit_log",
    "confine",
    "create_amla_codeact",
    "create_amla_sandbox",
    "create_sandbox_tool",
    "create_tollhouse_codeact",
    "create_tollhouse_sandbox",
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
    "precompile_module",
    "python_type_to_json_schema",
    "tool",
    "tool_from_function",
    "tools_of",
    "verify_receipt",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'tollhouse' has no attribute {name!r}")
    # `importlib` would be one more import; this is the one that `import` itself makes.
    module = __import__(f"{__name__}.{_MODULES[name]}", fromlist=[name])
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
