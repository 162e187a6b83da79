"""The layer below `Sandbox`, as in `amla_sandbox.runtime`."""

from .wasm import (
    AsyncToolHandler,
    Runtime,
    RuntimeConfig,
    RuntimeError,  # noqa: A004
    RuntimeStatus,
    SyncToolHandler,
    ToolHandler,
    precompile_module,
)

__all__ = [
    "AsyncToolHandler",
    "Runtime",
    "RuntimeConfig",
    "RuntimeError",
    "RuntimeStatus",
    "SyncToolHandler",
    "ToolHandler",
    "precompile_module",
]
