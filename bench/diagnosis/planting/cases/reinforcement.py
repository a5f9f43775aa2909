"""Programs that learn by acting."""

import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import mlp, on_device
from planting.workload import Workload


class Pole:
    """A pole on a cart, in plain Python."""

    def __init__(self):
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]

    def step(self, push: int) -> tuple[list[float], float]:
        place, speed, angle, turning = self.state
        force = 10.0 if push else -10.0
        sine, cosine = np.sin(angle), np.cos(angle)
        pushed = (force + 0.05 * turning**2 * sine) / 1.1
        faster = (9.8 * sine - cosine * pushed) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        self.state = [
            place + 0.02 * speed,
            speed + 0.02 * (pushed - 0.05 * faster * cosine / 1.1),
            angle + 0.02 * turning,
            turning + 0.02 * faster,
        ]
        if abs(self.state[2]) > 0.2 or abs(self.state[0]) > 2.4:
            self.__init__()
        return self.state, 1.0


class Poles:
    """The same for many poles at once, on the device."""

    def __init__(self, count: int):
        self.state = torch.rand(count, 4, device=DEVICE) * 0.1 - 0.05

    def step(self, push: Tensor) -> tuple[Tensor, Tensor]:
        place, speed, angle, turning = self.state.unbind(1)
        sine, cosine = angle.sin(), angle.cos()
        pushed = (torch.where(push > 0, 10.0, -10.0) + 0.05 * turning**2 * sine) / 1.1
        faster = (9.8 * sine - cosine * pushed) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        speed_after = speed + 0.02 * (pushed - 0.05 * faster * cosine / 1.1)
        after = [place + 0.02 * speed, speed_after, angle + 0.02 * turning, turning + 0.02 * faster]
        self.state = torch.stack(after, dim=1)
        fallen = (self.state[:, 2].abs() > 0.2) | (self.state[:, 0].abs() > 2.4)
        self.state = torch.where(fallen[:, None], torch.rand_like(self.state) * 0.1 - 0.05, self.state)
        return self.state, torch.ones_like(angle)


def drawn(logits: Tensor) -> Tensor:
    """An action from its distribution, without torch.multinomial's wait."""
    return (logits.softmax(-1) / torch.empty_like(logits).exponential_()).argmax(-1)


@case("python_overhead", "vectorize", "all poles moved at once, on the device")
def poles_moved_in_python(plan: Plan) -> Workload:
    count, length = plan.batch(128), 12
    poles = [Pole() for _ in range(count)]
    together = Poles(count)

    def act_one_by_one(model: nn.Module) -> tuple[Tensor, Tensor]:
        seen, rewards = [], []
        state = torch.tensor([pole.state for pole in poles], dtype=torch.float32, device=DEVICE)
        for _ in range(length):
            actions = drawn(model(state)).cpu().numpy()
            results = [pole.step(action) for pole, action in zip(poles, actions)]  # fault: poles_moved_in_python
            seen.append(state)
            state = torch.tensor(np.array([s for s, _ in results], dtype=np.float32), device=DEVICE)
            rewards.append(torch.tensor([r for _, r in results], device=DEVICE))
        return torch.stack(seen), torch.stack(rewards)

    def act_together(model: nn.Module) -> tuple[Tensor, Tensor]:
        seen, rewards, state = [], [], together.state
        for _ in range(length):
            seen.append(state)
            state, reward = together.step(drawn(model(state)))
            rewards.append(reward)
        return torch.stack(seen), torch.stack(rewards)

    act = act_together if plan.has("vectorize") else act_one_by_one

    def loss(model: nn.Module, scale: Tensor) -> Tensor:
        with torch.no_grad():
            seen, rewards = act(model)
        returns = rewards.flip(0).cumsum(0).flip(0)
        chance = model(seen.flatten(0, 1)).log_softmax(-1).amax(-1)
        return -(chance * returns.flatten() * scale).mean()

    return Workload(mlp(4, 256, 256, 2), [(torch.tensor(0.1, device=DEVICE),)], loss, fused=True)


class Critic(nn.Module):
    def __init__(self, sight: int, moves: int, width: int):
        super().__init__()
        self.first, self.second = mlp(sight + moves, width, width, 1), mlp(sight + moves, width, width, 1)

    def forward(self, seen: Tensor, move: Tensor) -> Tensor:
        x = torch.cat([seen, move], dim=-1)
        return torch.cat([self.first(x), self.second(x)], dim=-1)


@case("python_overhead", "vectorize", "the memory as tensors on the device, indexed at once", also=("build_on_device",))
def replay_from_a_list(plan: Plan) -> Workload:
    sight, moves, size, batch = 256, 8, 10_000, plan.batch(512)
    fixed = plan.has("vectorize") or plan.has("build_on_device")
    with torch.device(DEVICE):
        model, target = Critic(sight, moves, 512), Critic(sight, moves, 512)
    parts = (sight, moves, 1, sight)
    kept = [on_device(size, part) for part in parts] if fixed else None
    memory = [] if fixed else [tuple(np.random.randn(p).astype(np.float32) for p in parts) for _ in range(size)]

    def sampled() -> list[Tensor]:
        if fixed:
            which = torch.randint(size, (batch,), device=DEVICE)
            return [part[which] for part in kept]
        chosen = random.sample(memory, batch)
        return [torch.from_numpy(np.stack(column)).to(DEVICE) for column in zip(*chosen)]  # fault: replay_from_a_list

    def loss(model: nn.Module, discount: Tensor) -> Tensor:
        seen, move, reward, after = sampled()
        with torch.no_grad():
            wanted = reward + discount * target(after, move).amin(-1, keepdim=True)
        return F.mse_loss(model(seen, move), wanted.expand(-1, 2))

    return Workload(model, [(torch.tensor(0.99, device=DEVICE),)], loss, optimizer=torch.optim.Adam)


class ActorCritic(nn.Module):
    def __init__(self, sight: int, actions: int, width: int):
        super().__init__()
        self.body = nn.Sequential(mlp(sight, width, width, width), nn.Tanh())
        self.policy, self.value = nn.Linear(width, actions), nn.Linear(width, 1)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        x = self.body(seen)
        return self.policy(x), self.value(x).squeeze(-1)


def clipped_loss(logits: Tensor, value: Tensor, action: Tensor, before: Tensor, advantage: Tensor) -> Tensor:
    chances = logits.log_softmax(-1)
    chance = chances.gather(-1, action[..., None]).squeeze(-1)
    ratio = (chance - before).exp()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    gain = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    entropy = -(chances.exp() * chances).sum(-1).mean()
    return F.mse_loss(value, advantage + value.detach()) - gain - 0.01 * entropy


@case("loop_indexing", "batch_calls", "discounted sums of all times as one product")
def advantages_time_by_time(plan: Plan) -> Workload:
    times, games = 128, plan.batch(256)
    with torch.device(DEVICE):
        model = ActorCritic(128, 16, 512)
        decay = torch.arange(times)[None] - torch.arange(times)[:, None]
        discounts = torch.where(decay >= 0, 0.94 ** decay.clamp(min=0), 0.0)

    def advantages(rewards: Tensor, values: Tensor) -> Tensor:
        surprise = rewards[:-1] + 0.99 * values[1:] - values[:-1]
        if plan.has("batch_calls"):
            return discounts[: len(surprise), : len(surprise)] @ surprise
        result = torch.zeros_like(surprise)
        last = torch.zeros_like(surprise[0])
        for t in reversed(range(len(surprise))):
            last = surprise[t] + 0.94 * last  # fault: advantages_time_by_time
            result[t] = last
        return result

    def loss(model: nn.Module, seen: Tensor, action: Tensor, reward: Tensor, before: Tensor) -> Tensor:
        logits, value = model(seen)
        advantage = advantages(reward, value.detach())
        return clipped_loss(logits[:-1], value[:-1], action[:-1], before[:-1], advantage)

    action = torch.randint(16, (times, games), device=DEVICE)
    batch = (on_device(times, games, 128), action, on_device(times, games), -on_device(times, games).abs())
    return Workload(model, [batch], loss, fused=True)


@case("none", None, "")
def policy_from_pictures(plan: Plan) -> Workload:
    with torch.device(DEVICE):
        sight = nn.Sequential(
            *(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU()),
            nn.Flatten(),
        )
        model = nn.Sequential(sight, ActorCritic(3136, 18, 512))
    batch = plan.batch(1024)
    frames = torch.randint(256, (batch, 4, 84, 84), dtype=torch.uint8, device=DEVICE)

    def loss(model: nn.Module, frames: Tensor, action: Tensor, before: Tensor, advantage: Tensor) -> Tensor:
        logits, value = model(frames.float() / 255)
        return clipped_loss(logits, value, action, before, advantage)

    rest = (torch.randint(18, (batch,), device=DEVICE), -on_device(batch).abs(), on_device(batch))
    return Workload(model, [(frames, *rest)], loss, optimizer=torch.optim.Adam)
