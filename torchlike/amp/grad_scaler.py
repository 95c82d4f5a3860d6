"""Losses scaled up, so that small gradients survive float16, and gradients scaled back.

::

    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(loss).backward()
    scaler.step(optimizer)  # scales back; does nothing where a gradient is infinite or NaN
    scaler.update()
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

from functional import devices, dtypes
from functional.modes import no_grad
from functional.tape.op import TENSOR
from functional.tensor import Tensor

__all__ = ["GradScaler", "OptState"]

_ONE_NUMBER = (
    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
    "requires_grad=False."
)
_MIDWAY = (
    "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end "
    "after scaler.update()."
)
_EMPTY = (
    "The source state dict is empty, possibly because it was saved from a disabled instance of "
    "GradScaler."
)


class OptState(Enum):
    """What has been done with an optimizer's gradients since the last ``update``."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


def _require(condition: Any, text: str) -> None:
    if not condition:
        raise AssertionError(text)


class GradScaler:
    """Scales losses by a factor that adapts: it grows after ``growth_interval`` steps whose
    gradients were all finite, and shrinks after one whose gradients were not, which is skipped.

    With ``enabled=False``, and with a warning for a GPU that is not there, it changes nothing:
    ``step`` just calls the optimizer's.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and not devices.count("cuda"):
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                stacklevel=2,
            )
            self._enabled = False
        if self._enabled:
            _require(growth_factor > 1.0, "The growth factor must be > 1.0.")
            _require(backoff_factor < 1.0, "The backoff factor must be < 1.0.")
            self._init_scale = init_scale
            self._scale: Any = None  # a tensor, once the first loss tells the device
            self._growth_factor = growth_factor
            self._backoff_factor = backoff_factor
            self._growth_interval = growth_interval
            self._init_growth_tracker = 0
            self._growth_tracker: Any = None
        self._per_optimizer_states: Any = defaultdict(_refresh_per_optimizer_state)

    def _check_scale_growth_tracker(self, what: str) -> tuple[Any, Any]:
        fix = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in "
        fix += "the iteration."
        for name in ("_scale", "_growth_tracker"):
            found = getattr(self, name)
            _require(found is not None, f"Attempted {what} but {name} is None.  {fix}")
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, device: Any) -> None:
        _require(self._growth_tracker is None, "_growth_tracker initialized before _scale")
        self._scale = TENSOR.full((), self._init_scale, dtype=dtypes.float32, device=device)
        self._growth_tracker = TENSOR.full(
            (), self._init_growth_tracker, dtype=dtypes.int32, device=device
        )

    def scale(self, outputs: Any) -> Any:
        """A tensor, or each tensor of an iterable, times the scale factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * self._scale.to(device=outputs.device)
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    # --- one step ---------------------------------------------------------------------------------

    def _unscale_grads_(
        self, optimizer: Any, inv_scale: Any, found_inf: Any, allow_fp16: bool
    ) -> dict[Any, Any]:
        """Multiply the gradients; for each device, whether one of them was not finite."""
        found: dict[Any, Any] = {}
        with no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if not allow_fp16 and p.grad.dtype is dtypes.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    where = p.grad.device
                    flag = found.setdefault(where, found_inf.to(device=where, copy=True))
                    if not TENSOR.isfinite(p.grad).all():
                        flag.fill_(1.0)
                    p.grad.mul_(inv_scale.to(device=where))
        return found

    def _inverse(self) -> Any:
        return self._scale.double().reciprocal().float()

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer by the scale factor, e.g. to clip them.

        ``step`` does it where this was not called. Raises RuntimeError when called twice in a
        step, or after ``step``.
        """
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        clear = TENSOR.full((), 0.0, dtype=dtypes.float32, device=self._scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(
            optimizer, self._inverse(), clear, False
        )
        state["stage"] = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step()``, unless a gradient is infinite or NaN; what that returned."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._self_scaling_step(optimizer, state, *args, **kwargs)
        else:
            if state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            _require(
                state["found_inf_per_device"], "No inf checks were recorded for this optimizer."
            )
            result = None
            if not self._found(state):
                result = optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _self_scaling_step(self, optimizer: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        """The step of an optimizer that looks at ``grad_scale`` and ``found_inf`` itself."""
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        flags = list(state["found_inf_per_device"].values())
        optimizer.grad_scale = None if state["stage"] is OptState.UNSCALED else self._scale
        optimizer.found_inf = sum(flags[1:], flags[0]) if flags else None
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf

    @staticmethod
    def _found(state: Any) -> bool:
        return any(flag.item() for flag in state["found_inf_per_device"].values())

    def update(self, new_scale: Any = None) -> None:
        """Adapt the scale factor to what the steps since the last call found, or set it."""
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if new_scale is None:
            states = self._per_optimizer_states.values()
            _require(
                any(s["found_inf_per_device"] for s in states),
                "No inf checks were recorded prior to update.",
            )
            self._adapt(scale, tracker, any(self._found(s) for s in states))
        elif isinstance(new_scale, float):
            scale.fill_(new_scale)
        else:
            _require(new_scale.device.type == self._device, _ONE_NUMBER)
            _require(new_scale.numel() == 1 and not new_scale.requires_grad, _ONE_NUMBER)
            scale.copy_(new_scale)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _adapt(self, scale: Any, tracker: Any, found_inf: bool) -> None:
        if found_inf:
            scale.mul_(self._backoff_factor)
            tracker.zero_()
            return
        tracker.add_(1)
        if tracker.item() == self._growth_interval:
            grown = scale * self._growth_factor
            if TENSOR.isfinite(grown):
                scale.copy_(grown)
            tracker.zero_()

    # --- settings ---------------------------------------------------------------------------------

    def _get_scale_async(self) -> Any:
        return self._scale

    def get_scale(self) -> float:
        """The scale factor; 1.0 if disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by when it grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by when it grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by when it shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by when it shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many good steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many good steps the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else tracker.item()

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale factor and the settings; empty if disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(_EMPTY)
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            _require(not self._per_optimizer_states, _MIDWAY)
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _check_inf_per_device(self, optimizer: Any) -> Any:
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one = TENSOR.full((), 1.0, dtype=dtypes.float32, device=scale.device)
        zero = TENSOR.full((), 0.0, dtype=dtypes.float32, device=scale.device)
        found = self._unscale_grads_(optimizer, one, zero, True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer: Any) -> Any:
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
