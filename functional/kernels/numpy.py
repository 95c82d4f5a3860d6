"""The NumPy kernels as one flat namespace: what rules see as ``F`` for CPU arrays.

A second array library exports the same names from a module beside this one.
"""

# ruff: noqa: F403 - re-exporting is this module's purpose
from .avg_pool import *
from .conv import *
from .elementwise import *
from .index import *
from .linalg import *
from .loss import *
from .norm import *
from .pool import *
from .reduce import *
from .shapes import *
from .softmax import *
