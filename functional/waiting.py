"""How long the BLAS's threads wait, spinning, for their next product.

OpenBLAS's default is some 25 ms, during which a thread keeps a core from everything else: a
network of convolutions (threads of our own) and linear layers (the BLAS's) took 88 ms a step where
it takes 60 with a short wait. OpenBLAS reads the setting when it is loaded, so it counts only where
this package is imported before NumPy. A setting of the user's own stays.
"""

import os

# cycles as a power of 2: about a third of a millisecond, longer than pauses between small products
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
