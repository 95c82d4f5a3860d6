"""Settings of the compiler's front end: they can be set, and change nothing."""

from __future__ import annotations

from typing import Any

suppress_errors: Any = False
verbose: Any = False
cache_size_limit: Any = 8
recompile_limit: Any = 8
accumulated_cache_size_limit: Any = 256
accumulated_recompile_limit: Any = 256
automatic_dynamic_shapes: Any = True
assume_static_by_default: Any = True
capture_scalar_outputs: Any = False
capture_dynamic_output_shape_ops: Any = False
specialize_int: Any = False
disable: Any = False
guard_nn_modules: Any = True
inline_inbuilt_nn_modules: Any = True
optimize_ddp: Any = True
error_on_recompile: Any = False
