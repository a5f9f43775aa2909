"""A little caching allocator after PyTorch's, with a log: what it writes is made up, and what it held is known.

Run as a program it writes the snapshots in examples/memory.
"""

import bisect
import copy
import pickle
import random
from pathlib import Path

SMALL_REQUEST = 1 << 20
SMALL_SEGMENT = 2 << 20
LARGE_SEGMENT = 20 << 20
LARGE_REQUEST = 10 << 20


def round_block(requested):
    return max(512, (requested + 511) // 512 * 512)


class Block:
    def __init__(self, address, size, state="inactive", requested=0, frames=()):
        self.address, self.size, self.state, self.requested, self.frames = address, size, state, requested, frames

    @property
    def end(self):
        return self.address + self.size


class Segment:
    def __init__(self, address, size, stream, large, pool, expandable, frames):
        self.address, self.size, self.stream, self.large, self.pool = address, size, stream, large, pool
        self.expandable, self.frames = expandable, frames
        self.blocks = [Block(address, size)]

    @property
    def end(self):
        return self.address + self.size


class Device:
    """One device's allocator. `log` has every entry, `start` the segments just before entry `keep_from`."""

    def __init__(self, number, chance, keep_from=0, expandable=False):
        self.number, self.chance, self.keep_from, self.expandable = number, chance, keep_from, expandable
        self.segments, self.log, self.start = [], [], None
        self.next_address = 0x7F0000000000 + (number << 40)
        self.time_us = 1_700_000_000_000_000 + number
        self.allocated_rows = []  # (address, bytes, allocated after it, reserved then)

    def allocated(self):
        return sum(b.size for s in self.segments for b in s.blocks if b.state == "active_allocated")

    def reserved(self):
        return sum(s.size for s in self.segments)

    def note(self, action, address, size, stream, pool, frames):
        if len(self.log) == self.keep_from:
            self.start = copy.deepcopy(self.segments)
        self.time_us += self.chance.randrange(3)
        place = "device_free" if action == "oom" else "addr"
        entry = {"action": action, place: address, "size": size, "stream": stream, "time_us": self.time_us,
                 "compile_context": "N/A", "user_metadata": "", "pool_id": pool, "frames": list(frames)}
        self.log.append(entry)

    def free_blocks(self, stream, large, pool):
        return [(b.size, b.address, s, b) for s in self.segments for b in s.blocks
                if b.state == "inactive" and (s.stream, s.large, s.pool) == (stream, large, pool)]

    def allocate(self, requested, stream=0, pool=(0, 0), frames=()):
        size, large = round_block(requested), round_block(requested) > SMALL_REQUEST
        fits = [each for each in self.free_blocks(stream, large, pool) if each[0] >= size]
        if not fits:
            self.grow(size, stream, large, pool, frames)
            fits = [each for each in self.free_blocks(stream, large, pool) if each[0] >= size]
        _, _, segment, block = min(fits, key=lambda each: each[:2])
        self.note("alloc", block.address, requested, stream, pool, frames)
        rest = block.size - size
        if rest >= 512 if not large or segment.expandable else rest > SMALL_REQUEST:
            segment.blocks.insert(segment.blocks.index(block) + 1, Block(block.address + size, rest))
            block.size = size
        block.state, block.requested, block.frames = "active_allocated", requested, frames
        self.allocated_rows.append((len(self.log) - 1, block.address, block.size, self.allocated(), self.reserved()))
        return segment, block

    def grow(self, size, stream, large, pool, frames):
        if self.expandable:
            page = LARGE_SEGMENT if large else SMALL_SEGMENT
            need = (size + page - 1) // page * page
            mine = [s for s in self.segments if (s.stream, s.large, s.pool) == (stream, large, pool)]
            last = max(mine, key=lambda s: s.address, default=None)
            address = last.end if last else self.reserve_addresses(1 << 36)
            self.note("segment_map", address, need, stream, pool, frames)
            if not last:
                return self.segments.append(Segment(address, need, stream, large, pool, True, frames))
            last.blocks.append(Block(address, need))
            last.size += need
            return self.merge(last, last.blocks[-1])
        if not large:
            need = SMALL_SEGMENT
        elif size < LARGE_REQUEST:
            need = LARGE_SEGMENT
        else:
            need = (size + SMALL_SEGMENT - 1) // SMALL_SEGMENT * SMALL_SEGMENT
        address = self.reserve_addresses(need)
        self.note("segment_alloc", address, need, stream, pool, frames)
        self.segments.append(Segment(address, need, stream, large, pool, False, frames))

    def reserve_addresses(self, size):
        address = self.next_address
        self.next_address += size + self.chance.randrange(4) * SMALL_SEGMENT
        return address

    def request_free(self, segment, block, frames=()):
        self.note("free_requested", block.address, block.requested, segment.stream, segment.pool, frames)
        block.state = "active_pending_free"
        self.allocated_rows.append((len(self.log) - 1, block.address, -block.size, self.allocated(), self.reserved()))

    def complete_free(self, segment, block, frames=()):
        self.note("free_completed", block.address, block.requested, segment.stream, segment.pool, frames)
        block.state, block.requested, block.frames = "inactive", 0, ()
        self.merge(segment, block)

    def merge(self, segment, block):
        at = segment.blocks.index(block)
        if at + 1 < len(segment.blocks) and segment.blocks[at + 1].state == "inactive":
            block.size += segment.blocks.pop(at + 1).size
        if at > 0 and segment.blocks[at - 1].state == "inactive":
            segment.blocks[at - 1].size += segment.blocks.pop(at).size

    def empty_cache(self, frames=()):
        for segment in list(self.segments):
            if segment.expandable:
                self.unmap_last(segment, frames)
            elif len(segment.blocks) == 1 and segment.blocks[0].state == "inactive":
                self.note("segment_free", segment.address, segment.size, segment.stream, segment.pool, frames)
                self.segments.remove(segment)

    def unmap_last(self, segment, frames):
        page = LARGE_SEGMENT if segment.large else SMALL_SEGMENT
        last = segment.blocks[-1]
        first_page = (last.address - segment.address + page - 1) // page * page + segment.address
        if last.state != "inactive" or first_page >= last.end:
            return
        self.note("segment_unmap", first_page, last.end - first_page, segment.stream, segment.pool, frames)
        segment.size = first_page - segment.address
        last.size = first_page - last.address
        if last.size == 0:
            segment.blocks.pop()
        if segment.size == 0:
            self.segments.remove(segment)

    def run(self, steps, stacks, streams=(0,), pools=((0, 0),), largest=48 << 20):
        live, waiting = [], []
        for _ in range(steps):
            what, frames = self.chance.random(), self.chance.choice(stacks)
            if what < 0.5:
                size = self.chance.choice((self.chance.randrange(1, 4000), self.chance.randrange(1, SMALL_REQUEST),
                                           self.chance.randrange(SMALL_REQUEST + 1, largest)))
                live.append(self.allocate(size, self.chance.choice(streams), self.chance.choice(pools), frames))
            elif what < 0.9 and live:
                pair = live.pop(self.chance.randrange(len(live)))
                self.request_free(*pair, frames=self.chance.choice(stacks))
                if self.chance.random() < 0.8:
                    self.complete_free(*pair)
                else:
                    waiting.append(pair)
            elif what < 0.97 and waiting:
                self.complete_free(*waiting.pop(self.chance.randrange(len(waiting))))
            elif what < 0.98:
                self.note("oom", self.chance.randrange(1 << 30), 1 << 40, 0, (0, 0), frames)
            else:
                self.empty_cache(frames)


def stacks_of(chance, count=12):
    frames = [{"name": f"forward_{i}", "filename": f"/home/user/model_{i % 5}.py", "line": 10 + i} for i in range(30)]
    return [[chance.choice(frames) for _ in range(chance.randrange(0, 12))] for _ in range(count)]


def block_dict(block, spelling):
    state = spelling if block.state == "active_pending_free" else block.state
    return {"address": block.address, "size": block.size, "requested_size": block.requested, "state": state,
            "frames": list(block.frames)}


def segment_dict(device, segment, spelling="active_pending_free"):
    active = [b for b in segment.blocks if b.state != "inactive"]
    return {"device": device, "address": segment.address, "total_size": segment.size,
            "allocated_size": sum(b.size for b in active if b.state == "active_allocated"),
            "active_size": sum(b.size for b in active), "requested_size": sum(b.requested for b in active),
            "stream": segment.stream, "segment_type": "large" if segment.large else "small",
            "segment_pool_id": segment.pool, "is_expandable": segment.expandable, "frames": list(segment.frames),
            "blocks": [block_dict(b, spelling) for b in segment.blocks]}


SETTINGS = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
            "expandable_segments": False, "pinned_num_register_threads": 1, "release_lock_on_cudamalloc": False,
            "pinned_use_cuda_host_register": False,
            "roundup_power2_divisions": {str(1 << i): 0 for i in range(16)}}


def settings_of(devices):
    """Those under which the devices were made."""
    if not any(device.expandable for device in devices):
        return SETTINGS
    return {**SETTINGS, "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "expandable_segments": True}


def snapshot_of(devices, spelling="active_pending_free", annotations=()):
    """What torch.cuda.memory._snapshot() gives: the end, and the log from `keep_from` on."""
    return {"segments": [segment_dict(d.number, s, spelling) for d in devices for s in d.segments],
            "device_traces": [d.log[d.keep_from:] for d in devices],
            "allocator_settings": settings_of(devices), "external_annotations": list(annotations)}


def made_up(seed, steps=400, keep_from=120, devices=1, expandable=False, **more):
    chance = random.Random(seed)
    made = []
    for number in range(devices):
        device = Device(number, chance, keep_from, expandable)
        device.run(steps, stacks_of(chance), **more)
        if device.start is None:
            device.start = copy.deepcopy(device.segments)
        made.append(device)
    return made


def annotations_of(device):
    """Two steps over the log, as record_function marks them."""
    times = [entry["time_us"] for entry in device.log[device.keep_from:]]
    middle = times[bisect.bisect(times, (times[0] + times[-1]) // 2)]
    marks = [("ProfilerStep#0", "START", times[0]), ("ProfilerStep#0", "END", middle),
             ("ProfilerStep#1", "START", middle), ("forward", "START", middle + 1), ("forward", "END", middle + 2),
             ("ProfilerStep#1", "END", times[-1])]
    return [{"name": name, "stage": stage, "device": device.number, "time_us": time} for name, stage, time in marks]


def write_examples(folder):
    """The snapshots in examples/memory."""
    for name, options in {"made_up_training": {"seed": 11, "steps": 900, "keep_from": 300},
                          "made_up_expandable": {"seed": 12, "steps": 500, "keep_from": 150, "expandable": True},
                          "made_up_two_devices": {"seed": 13, "steps": 300, "devices": 2, "streams": (0, 94123456789),
                                                  "pools": ((0, 0), (0, 1))}}.items():
        devices = made_up(**options)
        snapshot = snapshot_of(devices, annotations=annotations_of(devices[0]))
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(snapshot, 4))


if __name__ == "__main__":
    write_examples(Path(__file__).resolve().parents[2] / "examples" / "memory")
