"""Under which module's name a class is known.

A class of ``torchlike.nn.modules.linear`` is one of ``torch.nn.modules.linear`` while the alias
is on. Classes of the core have the place that PyTorch gives them, by the table below.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

from .loading import PRIVATE, loaded_modules, name_in

OWN, PYTORCH = "torchlike", "torch"

# our module: {where PyTorch has them: which classes}, without the "torch"
PLACES: dict[str, dict[str, str]] = {
    "functional.tensor": {"": "Tensor", ".nn.parameter": "Parameter"},
    "functional.size": {"": "Size"},
    "functional.dtypes": {"": "dtype"},
    "functional.devices": {"": "device"},
    "functional.random": {"._C": "Generator"},
    "functional.modes": {
        ".autograd.grad_mode": "no_grad enable_grad set_grad_enabled inference_mode",
    },
    "functional.function": {".autograd.function": "Function FunctionCtx"},
    "functional.tape.duals": {"": "PlainDual"},
    "functional.tape.node": {".autograd.graph": "Node", ".utils.hooks": "RemovableHandle"},
    "functional.tape.overrides": {
        "._C": "DisableTorchFunction", ".overrides": "TorchFunctionMode",
    },
    "torchlike.backends.cuda": {".nn.attention": "SDPBackend"},
    "torchlike.distributions._constraint_kinds": {
        ".distributions.constraints": "Constraint _Dependent _DependentProperty "
        "_IndependentConstraint MixtureSameFamilyConstraint _Cat _Stack",
    },
    "torchlike.distributions._transform_base": {
        ".distributions.transforms": "Transform _InverseTransform ComposeTransform "
        "IndependentTransform ReshapeTransform",
    },
    "torchlike.distributions._scalar_transforms": {
        ".distributions.transforms": "AbsTransform AffineTransform CumulativeDistributionTransform "
        "ExpTransform PowerTransform SigmoidTransform SoftplusTransform TanhTransform",
    },
    "torchlike.distributions._vector_transforms": {
        ".distributions.transforms": "CatTransform CorrCholeskyTransform LowerCholeskyTransform "
        "PositiveDefiniteTransform SoftmaxTransform StackTransform StickBreakingTransform",
    },
    "torchlike.methods": {"": "layout memory_format"},
    "torchlike.number_info": {"": "finfo iinfo"},
    "torchlike.nn.modules.attention": {".nn.modules.activation": "MultiheadAttention"},
    "torchlike.nn.modules.bilinear": {".nn.modules.linear": "Bilinear"},
    "torchlike.nn.modules.loss_base": {".nn.modules.loss": "_Loss _WeightedLoss"},
    "torchlike.nn.modules.margin_losses": {
        ".nn.modules.loss": "CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss "
        "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss SoftMarginLoss "
        "TripletMarginLoss TripletMarginWithDistanceLoss",
    },
    "torchlike.nn.modules.rectifiers": {
        ".nn.modules.activation": "CELU ELU SELU Hardsigmoid Hardswish Hardtanh Mish PReLU ReLU6 "
        "RReLU SiLU Threshold",
    },
    "torchlike.nn.modules.transformer_layer": {
        ".nn.modules.transformer": "TransformerDecoderLayer TransformerEncoderLayer",
    },
    "torchlike.nn.modules.rnn_cell": {
        ".nn.modules.rnn": "GRUCell LSTMCell RNNCell RNNCellBase",
    },
    "torchlike.nn.modules.parameter_container": {
        ".nn.modules.container": "ParameterDict ParameterList",
    },
    "torchlike.nn.utils.pruning_base": {".nn.utils.prune": "BasePruningMethod PruningContainer"},
    "torchlike.optim._adafactor": {".optim": "Adafactor"},
    "torchlike.optim._muon": {".optim": "Muon"},
    "torchlike.optim.lr_scheduler.base": {".optim.lr_scheduler": "LRScheduler _LRScheduler"},
    "torchlike.optim.lr_scheduler.combined": {
        ".optim.lr_scheduler": "ChainedScheduler SequentialLR",
    },
    "torchlike.optim.lr_scheduler.cosine": {
        ".optim.lr_scheduler": "CosineAnnealingLR CosineAnnealingWarmRestarts",
    },
    "torchlike.optim.lr_scheduler.cycles": {".optim.lr_scheduler": "CyclicLR OneCycleLR"},
    "torchlike.optim.lr_scheduler.functions": {
        ".optim.lr_scheduler": "LambdaLR MultiplicativeLR",
    },
    "torchlike.optim.lr_scheduler.plateau": {".optim.lr_scheduler": "ReduceLROnPlateau"},
    "torchlike.optim.lr_scheduler.ramps": {
        ".optim.lr_scheduler": "ConstantLR LinearLR PolynomialLR",
    },
    "torchlike.utils._treepaths": {".utils._pytree": "GetAttrKey MappingKey SequenceKey"},
    "torchlike.utils._treespec": {".utils._pytree": "LeafSpec TreeSpec"},
    "torchlike.optim.lr_scheduler.steps": {
        ".optim.lr_scheduler": "ExponentialLR MultiStepLR StepLR",
    },
}  # fmt: skip


class _State:
    root = OWN
    node: Any = None  # the base of all node classes


STATE = _State()


def _key(module: ModuleType) -> str:
    """The name of a module in the table, also while the core has its private name."""
    spec = module.__spec__
    name = module.__name__ if spec is None else spec.name
    return "functional" + name[len(PRIVATE) :] if name.startswith(PRIVATE) else name


def _set_module(cls: Any, name: str) -> None:
    line = vars(cls).get("__firstlineno__")  # Python 3.13 forgets it with the old name
    cls.__module__ = name
    if line is not None:
        cls.__firstlineno__ = line


def label(module: ModuleType) -> None:
    """Name the module's classes, and the module itself, by what is on now."""
    key = _key(module)
    for place, names in PLACES.get(key, {}).items():
        for name in names.split():
            found = getattr(module, name, None)
            if found is not None:
                _set_module(found, STATE.root + place)
    if name_in(PYTORCH, key) is None:
        return
    old, new = module.__name__, STATE.root + key[len(OWN) :]
    module.__name__ = new
    own = (key, PYTORCH + key[len(OWN) :], old)
    _label_classes(vars(module), own, new)


def _label_classes(members: Any, own: tuple[str, ...], new: str) -> None:
    for member in list(members.values()):
        if isinstance(member, type) and member.__module__ in own and member.__module__ != new:
            _set_module(member, new)
            _label_classes(vars(member), own, new)


def label_all() -> None:
    """Name the classes of everything that is loaded."""
    for module in loaded_modules():
        label(module)


def label_functions(namespace: dict[str, Any]) -> None:
    """Let the core's functions be known by where the program finds them, for pickle's sake."""
    for name, value in namespace.items():
        if type(value) is FunctionType and value.__name__ == name:
            value.__module__, value.__qualname__ = OWN, name


def _name_node(cls: Any) -> None:
    """PyTorch's node classes are no module's; those of user-written Functions are."""
    if hasattr(cls, "function"):
        cls.__module__ = STATE.root + ".autograd.function"
    elif cls.__module__.startswith(("functional.", PRIVATE + ".")):
        cls.__module__ = "builtins"


def name_nodes(node: Any) -> None:
    """Name the classes derived from ``node`` that there are, and those still to come."""
    STATE.node = node
    waiting = node.__subclasses__()
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        _name_node(cls)
    node.__init_subclass__ = classmethod(_name_node)


def switch(root: str) -> None:
    """Name everything after PyTorch (``torch``) or after ourselves (``torchlike``)."""
    STATE.root = root
    name_nodes(STATE.node)
    label_all()
