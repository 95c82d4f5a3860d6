"""Parametrizations, pruning, fusion, starting values and the choice of attention."""

from __future__ import annotations

from typing import Any

import pytest

import torchlike as torch
from torchlike import nn
from torchlike.nn import attention, init, utils
from torchlike.nn.utils import parametrizations, parametrize, prune


class Symmetric(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, x: Any) -> Any:
        return x.triu()


def test_a_parametrized_tensor_is_computed_and_learned() -> None:
    layer = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    assert type(layer).__name__ == "ParametrizedLinear" and isinstance(layer, nn.Linear)
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    layer.weight = torch.arange(9.0).reshape(3, 3)
    assert layer.weight.tolist() == [[0, 1, 2], [1, 4, 5], [2, 5, 8]]
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.parametrizations.weight.original.grad.tolist() == [[1, 2, 2], [0, 1, 2], [0, 0, 1]]
    assert layer.weight is not layer.weight
    with parametrize.cached():
        assert layer.weight is layer.weight


def test_removing_a_parametrization() -> None:
    layer = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    kept = layer.weight.detach().clone()
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and isinstance(layer.weight, nn.Parameter)
    assert torch.equal(layer.weight, kept) and sorted(layer.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(layer, "weight")


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (3, 3)])
@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
def test_orthogonal(kind: str, shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    w = parametrizations.orthogonal(nn.Linear(*shape), orthogonal_map=kind).weight
    if w.shape[0] < w.shape[1]:
        w = w.mT
    assert torch.allclose(w.mT @ w, torch.eye(w.shape[1]), atol=1e-5)


def test_reflections_keep_the_sign_of_the_last_column() -> None:
    """The last column of a square matrix takes no reflection."""
    layer = nn.Linear(3, 3)
    layer.weight.data.copy_(torch.tensor([[1.0, 2, 3], [4, 5, 7], [2, 1, 5]]))
    parametrizations.orthogonal(layer, "weight", "householder", use_trivialization=False)
    original = layer.parametrizations.weight.original
    assert original.diagonal().tolist() == pytest.approx([-1, 1, -1], abs=1e-5)
    assert layer.weight.tolist() == [
        pytest.approx([0.2182, 0.5345, 0.8165], abs=1e-4),
        pytest.approx([0.8729, 0.2673, -0.4082], abs=1e-4),
        pytest.approx([0.4364, -0.8018, 0.4082], abs=1e-4),
    ]


def test_norms() -> None:
    torch.manual_seed(0)
    layer = parametrizations.spectral_norm(nn.Linear(4, 3))
    for _ in range(50):
        layer(torch.ones(1, 4))
    assert abs(torch.linalg.svdvals(layer.weight)[0].item() - 1) < 1e-3
    plain = nn.Linear(4, 3)
    before = plain.weight.detach().clone()
    layer = parametrizations.weight_norm(plain)
    assert torch.allclose(layer.weight, before)
    with pytest.warns(FutureWarning, match="parametrizations.weight_norm"):
        old = utils.weight_norm(nn.Linear(4, 3))
    layer.load_state_dict(old.state_dict())
    assert torch.allclose(layer.weight, old.weight)
    utils.remove_weight_norm(old)
    assert sorted(old.state_dict()) == ["bias", "weight"]


def test_pruning() -> None:
    layer = nn.Linear(4, 3)
    layer.weight.data = torch.arange(12.0).reshape(3, 4)
    prune.l1_unstructured(layer, "weight", 3)
    assert (layer.weight == 0).sum().item() == 3 and prune.is_pruned(layer)
    prune.ln_structured(layer, "weight", 1, n=2, dim=1)
    assert layer.weight[:, 0].tolist() == [0, 0, 0]
    hook = next(iter(layer._forward_pre_hooks.values()))
    assert isinstance(hook, prune.PruningContainer) and len(hook) == 2
    layer(torch.ones(1, 4)).sum().backward()
    assert torch.equal(layer.weight_orig.grad, layer.weight_mask)
    prune.remove(layer, "weight")
    assert sorted(layer.state_dict()) == ["bias", "weight"] and not prune.is_pruned(layer)
    with pytest.raises(ValueError, match="has to be pruned before"):
        prune.remove(layer, "weight")


def test_pruning_of_several_parameters_together() -> None:
    layer = nn.Linear(4, 3)
    layer.weight.data, layer.bias.data = torch.full((3, 4), 2.0), torch.ones(3)
    pairs = ((layer, "weight"), (layer, "bias"))
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=3)
    assert layer.bias.tolist() == [0, 0, 0] and layer.weight.tolist() == [[2] * 4] * 3


def test_fusion_with_batch_normalization() -> None:
    torch.manual_seed(0)
    conv, bn = nn.Conv2d(2, 3, 2).eval(), nn.BatchNorm2d(3).eval()
    bn.running_mean.uniform_()
    bn.running_var.uniform_(0.5, 2)
    x = torch.randn(2, 2, 5, 5)
    assert torch.allclose(utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5)


def test_starting_values() -> None:
    w = init.dirac_(torch.empty(2, 2, 3))
    x = torch.randn(1, 2, 5)
    assert torch.equal(nn.functional.conv1d(x, w, padding=1), x)
    assert (init.sparse_(torch.empty(10, 3), 0.4) == 0).sum(0).tolist() == [4, 4, 4]
    with pytest.warns(FutureWarning, match=r"`nn.init.uniform` is now deprecated"):
        init.uniform(torch.empty(2))
    assert utils.skip_init(nn.Linear, 3, 4).weight.shape == (4, 3)


def test_the_choice_of_attention_is_kept() -> None:
    before = attention._cur_sdpa_kernel_backends()
    with attention.sdpa_kernel(attention.SDPBackend.MATH):
        assert attention._cur_sdpa_kernel_backends() == [attention.SDPBackend.MATH]
    assert attention._cur_sdpa_kernel_backends() == before
    with pytest.raises(AssertionError, match="got int"), attention.sdpa_kernel(3):
        pass


def test_what_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match=r"Module\.share_memory"):
        nn.Linear(1, 1).share_memory()


def test_embedding_rows() -> None:
    table = nn.Embedding(5, 3, padding_idx=-1)
    assert table.padding_idx == 4 and table.weight[4].tolist() == [0, 0, 0]
    init.ones_(table.weight)
    table(torch.tensor([4, 1, 1])).sum().backward()
    assert table.weight.grad[4].tolist() == [0, 0, 0] and table.weight.grad[1].tolist() == [2, 2, 2]
    frozen = nn.Embedding.from_pretrained(torch.ones(2, 2), padding_idx=0)
    assert not frozen.weight.requires_grad and frozen.weight[0].tolist() == [1, 1]
    shrunk = nn.Embedding.from_pretrained(torch.full((2, 4), 5.0), max_norm=1.0)
    assert abs(shrunk(torch.tensor([0])).norm().item() - 1) < 1e-4
    assert shrunk.weight[1].tolist() == [5] * 4
