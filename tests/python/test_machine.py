"""What the recorder says about the machine."""
import tempfile
import unittest
from pathlib import Path

from telltale._capture.machine import has_bf16_instructions, memory_bytes


class MemoryOfProcess(unittest.TestCase):
    """A process in the group /jobs/7, as the kernel's files tell it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.proc, self.groups = Path(folder.name, "proc"), Path(folder.name, "groups")
        self.write(self.proc / "self/cgroup", "0::/jobs/7\n")

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def bytes(self):
        return memory_bytes(self.proc, self.groups)

    def test_is_that_of_the_machine_without_a_limit(self):
        kibibytes = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
        machine = int(kibibytes.split()[1]) * 1024
        self.assertEqual(self.bytes(), machine)
        self.write(self.groups / "jobs/7/memory.max", "max\n")
        self.assertEqual(self.bytes(), machine)

    def test_is_the_least_of_all_groups_around_it(self):
        self.write(self.groups / "jobs/7/memory.max", "3000000\n")
        self.write(self.groups / "jobs/memory.max", "2000000\n")
        self.write(self.groups / "jobs/8/memory.max", "1000000\n")
        self.assertEqual(self.bytes(), 2000000)

    def test_knows_the_older_groups(self):
        self.write(self.proc / "self/cgroup", "4:memory:/jobs/7\n2:cpu:/jobs/8\n")
        self.write(self.groups / "memory/jobs/7/memory.limit_in_bytes", "4000000\n")
        self.assertEqual(self.bytes(), 4000000)


class InstructionsForBf16(unittest.TestCase):
    def said(self, cpuinfo):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "cpuinfo").write_text(cpuinfo)
            return has_bf16_instructions(Path(folder))

    def test_are_told_by_x86_and_arm_cpus(self):
        self.assertTrue(self.said("processor\t: 0\nflags\t\t: fpu avx512f avx512_bf16 avx512_fp16\n"))
        self.assertTrue(self.said("flags\t\t: fpu amx_bf16 amx_tile\n"))
        self.assertTrue(self.said("processor\t: 0\nFeatures\t: fp asimd i8mm bf16 dgh\n"))

    def test_are_missed_where_nothing_tells_of_them(self):
        self.assertFalse(self.said("flags\t\t: fpu avx2 avx512f\nmodel name\t: no bf16\n"))
        self.assertFalse(self.said(""))
        self.assertFalse(has_bf16_instructions(Path("/nowhere")))


if __name__ == "__main__":
    unittest.main()
