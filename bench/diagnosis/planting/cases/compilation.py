"""Programs that are compiled already: one well, one again and again."""

import itertools

import torch
from torch import Tensor, nn

from planting.case import Plan, case
from planting.models import energy, mlp, on_device, residual_tower
from planting.workload import Workload


@case("none", None, "")
def compiled_and_healthy(plan: Plan) -> Workload:
    x = on_device(plan.batch(16384), 2048)
    model = residual_tower(4, 2048)
    return Workload(model, [(x,)], energy, autocast=torch.bfloat16, fused=True, compiled="default")


@case(
    "recompilation",
    "stable_shapes",
    "every batch padded to the longest",
    without={
        "compile_graphs": "each length would be a graph of its own",
        "larger_batch": "compiling costs the same for any batch",
        "fused_optimizer": "compiling is all of the step",
    },
    warmups=2,
    steps=1,
    rows=5,
    stacks=False,  # the compiler's own frames would be a hundred times the program's
)
def compiled_for_every_length(plan: Plan) -> Workload:
    torch._inductor.config.force_disable_caches = True  # a real program meets its lengths for the first time
    torch._inductor.config.triton.autotune_pointwise = False  # thousands of trial launches would fill the trace
    torch._dynamo.config.recompile_limit = 1000
    longest = 4096
    lengths = itertools.count(longest // 2, 8)

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        rows = longest if plan.has("stable_shapes") else next(lengths)
        return model(x[:rows]).square().mean()  # fault: compiled_for_every_length

    x = on_device(longest, 1024)
    return Workload(mlp(1024, 1024, 1024), [(x,)], loss, autocast=torch.bfloat16, compiled="default", dynamic=False)
