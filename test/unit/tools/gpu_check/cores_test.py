"""Control groups limit the cores that gpu-check uses as they limit the runtime's threads."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools"))
from gpu_check import cores  # noqa: E402

SECOND = "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
FIRST = "31 20 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"


class Cores(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path: str, text: str):
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def test_without_groups_there_is_no_limit(self):
        self.assertIsNone(cores.quota_cores(self.root))

    def test_version_2_counts_all_parents_and_rounds_down(self):
        self.write("proc/self/mountinfo", SECOND)
        self.write("proc/self/cgroup", "0::/outer/inner\n")
        self.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n")
        self.assertIsNone(cores.quota_cores(self.root))
        self.write("sys/fs/cgroup/outer/cpu.max", "590000 100000\n")
        self.assertEqual(cores.quota_cores(self.root), 5)
        self.write("sys/fs/cgroup/outer/inner/cpu.max", "150000 50000\n")
        self.assertEqual(cores.quota_cores(self.root), 3)
        self.write("sys/fs/cgroup/cpu.max", "50000 100000\n")
        self.assertEqual(cores.quota_cores(self.root), 1)

    def test_version_1_has_two_files(self):
        self.write("proc/self/mountinfo", FIRST)
        self.write("proc/self/cgroup", "7:memory:/elsewhere\n4:cpu,cpuacct:/job\n")
        self.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n")
        self.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
        self.assertIsNone(cores.quota_cores(self.root))
        self.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "420000\n")
        self.assertEqual(cores.quota_cores(self.root), 4)

    def test_a_container_sees_its_own_group_as_the_folder(self):
        self.write("proc/self/mountinfo", SECOND.replace(" / /sys", " /docker/abc /sys"))
        self.write("proc/self/cgroup", "0::/docker/abc\n")
        self.write("sys/fs/cgroup/cpu.max", "200000 100000\n")
        self.assertEqual(cores.quota_cores(self.root), 2)

    def test_a_machine_leaves_one_at_least(self):
        self.assertGreaterEqual(cores.usable_cores(), 1)


if __name__ == "__main__":
    unittest.main()
