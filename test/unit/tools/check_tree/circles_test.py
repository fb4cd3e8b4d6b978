"""folder_circles.py: which includes are found to close a circle of folders."""

import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools"))
import folder_circles  # noqa: E402


def texts(**includes):
    """Files of one name per folder, "_" for "/", each with its includes."""
    return {f"{folder.replace('_', '/')}/X.h": [f'#include "{target}/X.h"' for target in targets]
            for folder, targets in includes.items()}


class Circles(unittest.TestCase):
    def found(self, files, exceptions=()):
        reason = dict.fromkeys(exceptions, "Reason.")
        return [(path, line) for path, line, _ in folder_circles.breaches(files, reason)]

    def test_a_line_is_none(self):
        self.assertEqual(self.found(texts(a=["b", "c"], b=["c"], c=[])), [])

    def test_two_folders(self):
        self.assertEqual(self.found(texts(a=["b"], b=["a"])), [("a/X.h", 1), ("b/X.h", 1)])

    def test_three_folders_and_one_beside(self):
        self.assertEqual(self.found(texts(a=["b"], b=["c", "d"], c=["a"], d=[])),
                         [("a/X.h", 1), ("b/X.h", 1), ("c/X.h", 1)])

    def test_a_parent_and_its_child(self):
        self.assertEqual(len(self.found(texts(a=["a/b"], a_b=["a"]))), 2)

    def test_files_of_one_folder_are_none(self):
        self.assertEqual(self.found({"a/X.h": ['#include "a/Y.h"'], "a/Y.h": ['#include "a/X.h"']}), [])

    def test_includes_of_tablegen_and_of_the_api(self):
        files = {"a/X.td": ['include "b/X.td"'], "b/X.td": [""], "b/X.cpp": ['  # include <effc/y.h>'],
                 "runtime/include/effc/y.h": ['#include "a/X.td"']}
        self.assertEqual(len(self.found(files)), 3)

    def test_an_exception_takes_one_arrow_away(self):
        files = texts(a=["a/b"], a_b=["a"])
        self.assertEqual(self.found(files, [("a", "a/b")]), [])
        files["c/X.h"] = ['#include "a/X.h"']
        files["a/b/X.h"].append('#include "c/X.h"')
        self.assertEqual(self.found(files, [("a", "a/b")]), [])
        files["a/X.h"].append('#include "c/X.h"')
        self.assertEqual(self.found(files, [("a", "a/b")]), [("a/X.h", 2), ("c/X.h", 1)])

    def test_an_exception_that_closes_no_circle_is_told(self):
        for arrow in (("a", "b"), ("b", "a")):
            self.assertEqual(self.found(texts(a=["b"], b=[]), [arrow]), [("tools/folder_circles.py", 1)])


class Tree(unittest.TestCase):
    def test_a_new_circle_is_found(self):
        listing = subprocess.run(["git", "ls-files", "*.cpp", "*.h", "*.hpp", "*.c", "*.td"], cwd=ROOT,
                                 capture_output=True, text=True, check=True).stdout.splitlines()
        files = {path: (ROOT / path).read_text(errors="replace").splitlines()
                 for path in listing if (ROOT / path).exists()}
        self.assertEqual(list(folder_circles.breaches(files)), [])
        files["frontend/model/ModelInput.h"].append('#include "frontend/Import.h"')
        paths = {path for path, _, _ in folder_circles.breaches(files)}
        self.assertIn("frontend/model/ModelInput.h", paths)

    def test_each_exception_has_a_sentence(self):
        for reason in folder_circles.EXCEPTIONS.values():
            self.assertRegex(reason, r"^[A-Z][^.]*(\.h)?[^.]*\.$")


if __name__ == "__main__":
    unittest.main()
