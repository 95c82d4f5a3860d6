"""The tape: nodes, saved tensors, views, dispatch, and the engine that runs backward."""
