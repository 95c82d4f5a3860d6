"""The NumPy kernels as one flat namespace: what rules see as ``F`` for CPU arrays.

A second array library exports the same names from a module beside this one.
"""

# ruff: noqa: F403 - re-exporting is this module's purpose
from .activation import *
from .arrange import *
from .attention import *
from .avg_pool import *
from .complex import *
from .conv import *
from .ctc import *
from .elementwise import *
from .embedding import *
from .errorfn import *
from .fft import *
from .folding import *
from .grid import *
from .group_norm import *
from .gru import *
from .index import *
from .joining import *
from .lapack import *
from .linalg import *
from .loss import *
from .losses import *
from .lstm import *
from .lu import *
from .norm import *
from .padding import *
from .pairs import *
from .polynomials import *
from .pool import *
from .pooling import *
from .products import *
from .reduce import *
from .resample import *
from .rnn import *
from .scans import *
from .scatter import *
from .segments import *
from .shapes import *
from .softmax import *
from .solvers import *
from .sorting import *
from .special import *
from .statistics import *
from .transfer import *
