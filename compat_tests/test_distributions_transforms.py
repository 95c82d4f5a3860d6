"""Transforms, constraints and the registry between them, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat_tests.scenarios import Cases, error
from compat_tests.test_distributions import Parameters, attempt

CASES = Cases("distributions_transforms")

VECTOR = [[0.3, -0.7, 1.1], [2.0, 0.1, -0.4]]
POSITIVE = [[0.3, 0.7, 1.1], [2.0, 0.1, 0.4]]
MATRIX = [[[0.3, -0.7, 1.1], [2.0, 0.1, -0.4], [0.5, 0.6, 0.7]]] * 2

# name: how to make it of ``D`` with parameters from ``t``, and a value it takes
TRANSFORMS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "identity": (lambda D, t: D.identity_transform, VECTOR),
    "Exp": (lambda D, t: D.ExpTransform(), VECTOR),
    "Power": (lambda D, t: D.PowerTransform(t([1.5, -0.5, 2.0])), POSITIVE),
    "Power_number": (lambda D, t: D.PowerTransform(2), POSITIVE),
    "Sigmoid": (lambda D, t: D.SigmoidTransform(), VECTOR),
    "Sigmoid_far": (lambda D, t: D.SigmoidTransform(), [[-1e4, 1e4, 40.0]]),
    "Softplus": (lambda D, t: D.SoftplusTransform(), VECTOR),
    "Tanh": (lambda D, t: D.TanhTransform(), VECTOR),
    "Abs": (lambda D, t: D.AbsTransform(), VECTOR),
    "Affine": (lambda D, t: D.AffineTransform(1.5, -2.0), VECTOR),
    "Affine_tensors": (
        lambda D, t: D.AffineTransform(t([[1.0], [2.0]]), t([2.0, -3.0, 0.5])),
        VECTOR,
    ),
    "Affine_event": (
        lambda D, t: D.AffineTransform(t([1.0, 2.0, 0.0]), t([2.0, -3.0, 0.5]), event_dim=1),
        VECTOR,
    ),
    "Affine_number_event": (lambda D, t: D.AffineTransform(0.0, 3, event_dim=1), VECTOR),
    "Softmax": (lambda D, t: D.SoftmaxTransform(), VECTOR),
    "StickBreaking": (lambda D, t: D.StickBreakingTransform(), VECTOR),
    "LowerCholesky": (lambda D, t: D.LowerCholeskyTransform(), MATRIX),
    "CorrCholesky": (lambda D, t: D.CorrCholeskyTransform(), VECTOR),
    "PositiveDefinite": (lambda D, t: D.PositiveDefiniteTransform(), MATRIX),
    "Compose": (
        lambda D, t: D.ComposeTransform(
            [D.AffineTransform(t(0.5), t(2.0)), D.StickBreakingTransform(), D.ExpTransform()]
        ),
        VECTOR,
    ),
    "Independent": (lambda D, t: D.IndependentTransform(D.ExpTransform(), 1), VECTOR),
    "Reshape": (lambda D, t: D.ReshapeTransform((3,), (1, 3, 1)), VECTOR),
    "Cat": (
        lambda D, t: D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=-1, lengths=[1, 2]),
        VECTOR,
    ),
    "Cat_lengths": (
        lambda D, t: D.CatTransform([D.ExpTransform(), D.AffineTransform(t(1.0), t(3.0))], dim=0),
        VECTOR,
    ),
    "Stack": (
        lambda D, t: D.StackTransform(
            [D.ExpTransform(), D.TanhTransform(), D.AffineTransform(1.0, 2.0)], dim=1
        ),
        VECTOR,
    ),
    "CumulativeDistribution": (
        lambda D, t: D.CumulativeDistributionTransform(D.Normal(t(0.5), t(2.0))),
        VECTOR,
    ),
    "inverse": (lambda D, t: D.AffineTransform(t(1.5), t(-2.0)).inv, VECTOR),
    "Compose_inverse": (
        lambda D, t: D.ComposeTransform([D.ExpTransform(), D.AffineTransform(t(0.5), t(2.0))]).inv,
        [[1.3, 2.7]],
    ),
}


def _shape(call: Callable[[], Any]) -> Any:
    found = attempt(lambda: list(call()))
    return found.split("Mismatching")[0] if isinstance(found, str) else found


def _applied(torch: Any, name: str) -> list[Any]:
    make, values = TRANSFORMS[name]
    t = Parameters(torch, "float64")
    transform, x = make(torch.distributions, t), t(values)
    y = transform(x)
    jacobian = attempt(lambda: transform.log_abs_det_jacobian(x, y))
    return [
        y,
        t.gradients(y),
        attempt(lambda: transform.inv(y)),
        jacobian,
        t.gradients(jacobian) if hasattr(jacobian, "dim") else None,
        attempt(lambda: transform.inv.log_abs_det_jacobian(y, x)),
        transform.bijective,
        attempt(lambda: transform.sign),
        attempt(lambda: transform.event_dim),
        [attempt(lambda c=c: [repr(c), c.event_dim, c.is_discrete])
         for c in (transform.domain, transform.codomain)],
        [_shape(lambda: transform.forward_shape(torch.Size((2, 3, 3)))),
         _shape(lambda: transform.inverse_shape(torch.Size((2, 3, 3)))),
         attempt(lambda: list(transform.forward_shape(torch.Size(())))),
         attempt(lambda: list(transform.inverse_shape(torch.Size(()))))],
        repr(transform), repr(transform.inv), transform.inv.inv is transform,
    ]  # fmt: skip


def _cached(torch: Any, name: str) -> list[Any]:
    make, values = TRANSFORMS[name]
    t = Parameters(torch, "float64")
    plain = make(torch.distributions, t)
    with_cache = attempt(plain.with_cache)
    if isinstance(with_cache, str):
        return [with_cache]
    x = t(values)
    y = with_cache(x)
    return [
        with_cache is plain,
        type(with_cache).__name__,
        with_cache(x) is y,
        with_cache.inv(y) is x,
        attempt(lambda: plain == with_cache),
        plain == torch.distributions.ExpTransform(),
        plain != plain,
        with_cache.with_cache(0)(x) - y,
    ]


def _enter(name: str) -> None:
    def scenario(torch: Any) -> Any:
        return [_applied(torch, name), _cached(torch, name)]

    scenario.__name__ = name
    CASES.add(scenario)


for _name in TRANSFORMS:
    _enter(_name)


@CASES.add
def what_transforms_refuse(torch: Any) -> Any:
    D, x = torch.distributions, torch.zeros(2, 3)
    cat = D.CatTransform([D.ExpTransform()] * 2, dim=1)
    stack = D.StackTransform([D.ExpTransform()] * 2, dim=1)
    calls = [
        lambda: D.ExpTransform(cache_size=2),
        lambda: D.AbsTransform().log_abs_det_jacobian(x, x),
        lambda: D.AbsTransform().sign,
        lambda: D.Transform()(x),
        lambda: D.Transform().inv(x),
        lambda: D.Transform().log_abs_det_jacobian(x, x),
        lambda: D.ReshapeTransform((2,), (3,)),
        lambda: D.ReshapeTransform((2,), (1, 2)).forward_shape((5,)),
        lambda: D.ReshapeTransform((2,), (1, 2)).inverse_shape((5,)),
        lambda: D.CorrCholeskyTransform().forward_shape((4,)),
        lambda: D.CorrCholeskyTransform().inverse_shape((4, 3)),
        lambda: D.IndependentTransform(D.ExpTransform(), 3)(x),
        lambda: D.IndependentTransform(D.ExpTransform(), 3).inv(x),
        lambda: D.StickBreakingTransform().event_dim,
        lambda: D.CorrCholeskyTransform().event_dim,
        lambda: D.CatTransform([1, 2]),
        lambda: D.CatTransform([D.ExpTransform()], lengths=[1, 2]),
        lambda: cat(x),
        lambda: cat.inv(x),
        lambda: cat(torch.zeros(2)),
        lambda: cat.log_abs_det_jacobian(x[:, :2], x),
        lambda: D.StackTransform([3]),
        lambda: stack(x),
        lambda: stack.inv(x),
        lambda: stack(torch.zeros(2)),
        lambda: stack.log_abs_det_jacobian(x[:, :2], x),
        lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
        lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
        lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()),
    ]
    return [error(call) for call in calls]


# --- constraints ----------------------------------------------------------------------------------

VALUES = [
    [-1.0, 0.0, 0.5, 1.0, 2.0, 2.5, float("nan"), float("inf")],
    [[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [1.0, 2.0, 3.0], [-0.5, 1.0, 0.5]],
    [[[1.0, 0.0], [0.6, 0.8]], [[2.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [2.0, 1.0]],
     [[0.0, 0.0], [0.0, 0.0]]],
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
]  # fmt: skip
CONSTRAINTS: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda C, name=name: getattr(C, name)  # type: ignore[misc]
        for name in """
            boolean corr_cholesky lower_cholesky lower_triangular nonnegative nonnegative_integer
            one_hot positive positive_definite positive_integer positive_semidefinite real
            real_vector simplex square symmetric unit_interval dependent
        """.split()
    },
    "greater_than": lambda C: C.greater_than(1),
    "greater_than_eq": lambda C: C.greater_than_eq(1),
    "less_than": lambda C: C.less_than(1.5),
    "interval": lambda C: C.interval(-1, 1.0),
    "half_open_interval": lambda C: C.half_open_interval(0.0, 1.0),
    "integer_interval": lambda C: C.integer_interval(0, 2),
    "multinomial": lambda C: C.multinomial(5),
    "independent": lambda C: C.independent(C.positive, 1),
    "independent_2": lambda C: C.independent(C.simplex, 1),
    "mixture": lambda C: C.MixtureSameFamilyConstraint(C.unit_interval),
    "mixture_vectors": lambda C: C.MixtureSameFamilyConstraint(C.simplex),
    "cat": lambda C: C.cat([C.positive, C.real], -1, [1, 2]),
    "cat_lengths": lambda C: C.cat([C.positive, C.real]),
    "stack": lambda C: C.stack([C.positive, C.unit_interval], -1),
    "stack_first": lambda C: C.stack([C.simplex, C.boolean], 0),
}


def _constraint(torch: Any, name: str) -> list[Any]:
    D = torch.distributions
    c = CONSTRAINTS[name](D.constraints)
    found: list[Any] = [attempt(lambda: repr(c)), type(c).__name__]
    found += [attempt(lambda: c.event_dim), attempt(lambda: c.is_discrete)]
    found.append(D.constraints.is_dependent(c))
    for values in VALUES:
        x = torch.tensor(values)
        # which error a matrix check has for vectors is a matter of the functions it is made of
        checked = attempt(lambda x=x: c.check(x))
        found.append("refused" if isinstance(checked, str) else checked)
    for registry in (D.biject_to, D.transform_to):
        found.append(attempt(lambda registry=registry: repr(registry(c))))
        size = 3 if "corr" in name else 2
        x = torch.linspace(-1.0, 1.5, size * 3 if "corr" in name else 4).reshape(-1, size)
        y = attempt(lambda registry=registry, x=x: registry(c)(x))
        found.append("refused" if isinstance(y, str) else y)
    return found


def _enter_constraint(name: str) -> None:
    def scenario(torch: Any) -> Any:
        return _constraint(torch, name)

    scenario.__name__ = f"constraint_{name}"
    CASES.add(scenario)


for _name in CONSTRAINTS:
    _enter_constraint(_name)


@CASES.add
def what_constraints_refuse(torch: Any) -> Any:
    D = torch.distributions
    C = D.constraints
    calls = [
        lambda: C.independent(3, 1),
        lambda: C.independent(C.real, 1.0),
        lambda: C.independent(C.real, -1),
        lambda: C.independent(C.real, 2).check(torch.zeros(3)),
        lambda: C.MixtureSameFamilyConstraint(3),
        lambda: C.cat([1]),
        lambda: C.cat([C.real], lengths=[1, 2]),
        lambda: C.cat([C.real], dim=3).check(torch.zeros(3)),
        lambda: C.stack([1]),
        lambda: C.stack([C.real], dim=3).check(torch.zeros(3)),
        lambda: C.dependent.check(torch.zeros(3)),
        lambda: C.dependent.is_discrete,
        lambda: C.dependent.event_dim,
        lambda: C.Constraint().check(torch.zeros(3)),
        lambda: D.biject_to.register(3, None)(lambda c: None),
        lambda: D.biject_to(C.dependent),
    ]
    known = C.dependent(is_discrete=True)(event_dim=2)
    return [[error(call) for call in calls], known.is_discrete, known.event_dim]


@CASES.add
def a_registered_constraint(torch: Any) -> Any:
    D = torch.distributions

    class Even(D.constraints.Constraint):
        def check(self, value: Any) -> Any:
            return value % 2 == 0

    before = error(lambda: D.transform_to(Even()))

    @D.transform_to.register(Even)
    def _even(constraint: Any) -> Any:
        return D.AffineTransform(0, 2)

    return [before, D.transform_to(Even())(torch.arange(3.0)), repr(Even())]


@CASES.add
def public_names(torch: Any) -> Any:
    D = torch.distributions
    return [sorted(m.__all__) for m in (D, D.constraints, D.transforms, D.utils, D.kl)]


@CASES.add
def helpers(torch: Any) -> Any:
    U = torch.distributions.utils
    matrix = torch.arange(9.0).reshape(3, 3)
    return [
        [U.tril_matrix_to_vec(matrix, d) for d in (-1, 0, 1)],
        [U.vec_to_tril_matrix(torch.arange(3.0), d) for d in (-1, 0)],
        error(lambda: U.tril_matrix_to_vec(matrix, 3)),
        error(lambda: U.vec_to_tril_matrix(torch.arange(4.0))),
        U.broadcast_all(1, torch.zeros(2, 1, dtype=torch.float64), torch.ones(3)),
        U.broadcast_all(1, 2.5),
        error(lambda: U.broadcast_all("a")),
        U.clamp_probs(torch.tensor([0.0, 0.5, 1.0])),
        U.probs_to_logits(torch.tensor([0.0, 0.5, 1.0]), is_binary=True),
        U.probs_to_logits(torch.tensor([0.0, 0.5, 0.5])),
        U.logits_to_probs(torch.tensor([0.0, 0.5, -1.0])),
        U.logits_to_probs(torch.tensor([0.0, 0.5, -1.0]), is_binary=True),
    ]


test_scenario = CASES.test()
