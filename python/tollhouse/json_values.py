"""The former place of `tollhouse._internal.types.json_values`, which the native module imports by this name."""

from ._internal.types.json_values import json_key as json_key
from ._internal.types.json_values import simpler_value as simpler_value
