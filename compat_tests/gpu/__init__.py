"""The tests that need a GPU, and CuPy. They run in processes of their own."""
