"""Programs that look at pictures: segmentation, detection, classification, fine-tuning."""

import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import classification, labels, on_device
from planting.workload import Workload


def convolution(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class SegmentationNet(nn.Module):
    """A U: down to a sixteenth of the size and up again, with connections across."""

    def __init__(self, width: int, classes: int):
        super().__init__()
        widths = [width, 2 * width, 4 * width, 8 * width]
        pair = lambda a, b: nn.Sequential(convolution(a, b), convolution(b, b))  # noqa: E731
        self.stem = pair(3, width)
        self.down = nn.ModuleList(pair(a, b) for a, b in zip(widths, widths[1:]))
        self.raise_ = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(pair(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        levels = [self.stem(x)]
        for block in self.down:
            levels.append(block(F.max_pool2d(levels[-1], 2)))
        x = levels.pop()
        for level, raise_, block in zip(reversed(levels), reversed(self.raise_), reversed(self.up)):
            x = block(torch.cat([raise_(x), level], dim=1))
        return self.head(x)


@case("no_mixed_precision", "bf16", "bf16 autocast")
def segmentation_in_fp32(plan: Plan) -> Workload:
    with torch.device(DEVICE):
        model = SegmentationNet(48, 21)
    batch = plan.batch(16)
    masks = torch.randint(21, (batch, 256, 256), device=DEVICE)
    return Workload(model, [(on_device(batch, 3, 256, 256), masks)], classification, optimizer=torch.optim.SGD)


class DenseLayer(nn.Module):
    def __init__(self, inputs: int, growth: int):
        super().__init__()
        self.norm, self.inner_norm = nn.BatchNorm2d(inputs), nn.BatchNorm2d(4 * growth)
        self.narrow = nn.Conv2d(inputs, 4 * growth, 1, bias=False)
        self.conv = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        new = self.conv(F.relu(self.inner_norm(self.narrow(F.relu(self.norm(x))))))
        return torch.cat([x, new], dim=1)


def dense_net(classes: int) -> nn.Sequential:
    channels, growth = 64, 32
    layers: list[nn.Module] = [convolution(3, channels, stride=2), nn.MaxPool2d(2)]
    for _ in range(3):
        for _ in range(4):
            layers.append(DenseLayer(channels, growth))
            channels += growth
        layers += [convolution(channels, channels // 2), nn.AvgPool2d(2)]
        channels //= 2
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


@case("channels_last", "channels_last", "model and images in channels_last", nostack=True)
def dense_blocks_nchw(plan: Plan) -> Workload:
    with torch.device(DEVICE):
        model = dense_net(1000)
    batch = plan.batch(128)
    images = (on_device(batch, 3, 192, 192), labels(batch, 1000))
    return Workload(model, [images], classification, autocast=torch.float16, fused=True)


class Detector(nn.Module):
    """One anchor at each place of two feature maps: a class score and a box."""

    def __init__(self, width: int, classes: int):
        super().__init__()
        self.stem = nn.Sequential(convolution(3, width, 2), convolution(width, width, 2), convolution(width, width, 2))
        self.fine = nn.Sequential(convolution(width, 2 * width, 2), convolution(2 * width, 2 * width))
        self.coarse = nn.Sequential(convolution(2 * width, 2 * width, 2), convolution(2 * width, 2 * width))
        self.head = nn.Conv2d(2 * width, classes + 4, 3, padding=1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        fine = self.fine(self.stem(x))
        maps = [self.head(level).flatten(2).transpose(1, 2) for level in (fine, self.coarse(fine))]
        out = torch.cat(maps, dim=1)
        return out[..., :-4], out[..., -4:]


@case("host_sync", "remove_sync", "all anchors kept, weighted with 0 or 1", also=("batch_calls",))
def detector_with_boolean_masks(plan: Plan) -> Workload:
    classes, batch = 20, plan.batch(16)
    anchors = 16 * 16 + 8 * 8
    overlap = torch.rand(batch, anchors, device=DEVICE)
    wanted = torch.randint(classes, (batch, anchors), device=DEVICE)
    boxes = on_device(batch, anchors, 4)

    def loss_of_each_image(scores: Tensor, places: Tensor) -> Tensor:
        losses = []
        for i in range(len(scores)):
            positive = overlap[i] > 0.7
            chosen = scores[i][positive].float()  # fault: detector_with_boolean_masks
            score = F.cross_entropy(chosen, wanted[i][positive])
            place = F.smooth_l1_loss(places[i][positive].float(), boxes[i][positive])
            losses.append(score + place)
        return torch.stack(losses).mean()

    def loss_with_weights(scores: Tensor, places: Tensor) -> Tensor:
        weight = (overlap > 0.7).float()
        weight = weight / weight.sum(1, keepdim=True)
        score = F.cross_entropy(scores.flatten(0, 1).float(), wanted.flatten(), reduction="none").view_as(weight)
        place = F.smooth_l1_loss(places.float(), boxes, reduction="none").mean(-1)
        return ((score + place) * weight).sum(1).mean()

    fixed = plan.has("remove_sync") or plan.has("batch_calls")
    loss_of = loss_with_weights if fixed else loss_of_each_image
    with torch.device(DEVICE):
        model = Detector(64, classes)
    images = on_device(batch, 3, 256, 256)
    return Workload(model, [(images,)], lambda m, x: loss_of(*m(x)), autocast=torch.bfloat16, fused=True)


def plain_classifier(classes: int) -> nn.Sequential:
    body = [convolution(3, 64, 2), convolution(64, 128, 2), convolution(128, 256, 2), convolution(256, 256)]
    return nn.Sequential(*body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, classes))


@case("loop_indexing", "batch_calls", "flips, shifts and brightness of all pictures at once")
def augment_each_picture(plan: Plan) -> Workload:
    def augment_one_by_one(images: Tensor) -> Tensor:
        out = []
        for image in images:
            if random.random() < 0.5:
                image = image.flip(-1)
            down, right = random.randrange(17), random.randrange(17)
            image = F.pad(image, (8, 8, 8, 8))[:, down : down + 128, right : right + 128]
            out.append(image * random.uniform(0.8, 1.2) + random.uniform(-0.1, 0.1))  # fault: augment_each_picture
        return torch.stack(out)

    def augment_together(images: Tensor) -> Tensor:
        count, device = len(images), images.device
        flip = torch.where(torch.rand(count, device=device) < 0.5, -1.0, 1.0)
        still = torch.eye(2, 3, device=device).repeat(count, 1, 1)
        grid = F.affine_grid(still, list(images.shape), align_corners=False)
        shift = (torch.rand(count, 1, 1, 2, device=device) - 0.5) / 8
        grid = torch.stack([grid[..., 0] * flip[:, None, None], grid[..., 1]], dim=-1) + shift
        images = F.grid_sample(images, grid, mode="nearest", align_corners=False)
        gain, offset = (torch.rand(2, count, 1, 1, 1, device=device) - 0.5).unbind(0)
        return images * (1 + 0.4 * gain) + 0.2 * offset

    augment = augment_together if plan.has("batch_calls") else augment_one_by_one
    with torch.device(DEVICE):
        model = plain_classifier(100)
    batch = plan.batch(64)
    images = (on_device(batch, 3, 128, 128), labels(batch, 100))
    loss = lambda m, x, y: F.cross_entropy(m(augment(x)), y)  # noqa: E731
    return Workload(model, [images], loss, autocast=torch.bfloat16, fused=True)


class Photographs(torch.utils.data.Dataset):
    """Transforms in numpy, as in many a project: crop, flip, jitter, blur, normalize. The picture itself is made."""

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        dice = np.random.default_rng(index)
        image = dice.integers(0, 255, (176, 176, 3), dtype=np.uint8).astype(np.float32) / 255
        top, left = dice.integers(0, 48, 2)
        image = image[top : top + 128, left : left + 128]
        if dice.random() < 0.5:
            image = image[:, ::-1]
        image = np.clip(image * dice.uniform(0.7, 1.3, 3).astype(np.float32), 0, 1)
        image = sum(np.roll(image, shift, axis) for axis in (0, 1) for shift in (-1, 0, 1)) / 6
        image = (image - image.mean((0, 1))) / (image.std((0, 1)) + 1e-6)
        return torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1), dtype=np.float32)), index % 100


@case("data_loading", "loader_workers", "twelve workers instead of two")
def slow_transforms(plan: Plan) -> Workload:
    with torch.device(DEVICE):
        model = plain_classifier(100)
    workers = 12 if plan.has("loader_workers") else 2
    loader = torch.utils.data.DataLoader(
        Photographs(), plan.batch(32), num_workers=workers, pin_memory=DEVICE == "cuda", persistent_workers=True
    )
    return Workload(model, loader, classification, autocast=torch.bfloat16, fused=True, non_blocking=True)


@case("none", None, "")
def finetune_convnext(plan: Plan) -> Workload:
    import torchvision

    with torch.device(DEVICE):
        model = torchvision.models.convnext_tiny()
    for parameter in model.features[:4].parameters():
        parameter.requires_grad_(False)
    batch = plan.batch(64)
    images = (on_device(batch, 3, 224, 224), labels(batch, 1000))
    return Workload(model, [images], classification, autocast=torch.bfloat16, fused=True)


@case("none", None, "", nostack=True)
def contrastive_pairs(plan: Plan) -> Workload:
    import torchvision

    with torch.device(DEVICE):
        model = torchvision.models.resnet18(num_classes=128)

    def loss(model: nn.Module, one: Tensor, other: Tensor) -> Tensor:
        features = F.normalize(model(torch.cat([one, other])).float(), dim=1)
        similar = features @ features.t() / 0.1
        similar.fill_diagonal_(-1e9)
        half = len(one)
        partner = torch.arange(2 * half, device=similar.device).roll(half)
        return F.cross_entropy(similar, partner)

    batch = plan.batch(128)
    views = (on_device(batch, 3, 160, 160), on_device(batch, 3, 160, 160))
    return Workload(model, [views], loss, optimizer=torch.optim.SGD, optimizer_options={"momentum": 0.9})
