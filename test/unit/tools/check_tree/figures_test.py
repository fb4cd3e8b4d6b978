"""page_figures.py: which figures of a page are found to differ from where they come from."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools"))
import page_figures  # noqa: E402

REPORT = "# Report\n\n| call | 1,363.6 | 17.3 | 4.0e-04 |\n| other | 60 of 61 |\n"
HEAD = "| call | us | floor | of floor | line |\n|---|---|---|---|---|\n"


class FiguresTest(unittest.TestCase):
    def reasons(self, text):
        """What is found in a summary, as (line, reason)."""
        with tempfile.TemporaryDirectory() as folder:
            root, page_figures.ROOT = page_figures.ROOT, pathlib.Path(folder)
            try:
                (page_figures.ROOT / "report.md").write_text(REPORT)
                (page_figures.ROOT / "page.md").write_text(text)
                return [(line, reason) for _, line, reason in page_figures.summary_breaches("page.md", "report.md")]
            finally:
                page_figures.ROOT = root

    def test_what_stands_there_passes(self):
        self.assertEqual(self.reasons(HEAD + "| call | 1,363.6 | 17.3 | 1 % | 3 |\n"), [])

    def test_another_figure_is_named_with_its_line(self):
        [(line, reason)] = self.reasons(HEAD + "| call | 1,363.6 | 17.4 | 1 % | 3 |\n")
        self.assertEqual(line, 3)
        self.assertIn("has 17.4, which is not in line 3", reason)

    def test_a_figure_of_another_line_is_none_of_this_one(self):
        self.assertEqual(len(self.reasons("| what | result | line |\n|---|---|---|\n| a | 60 of 61 | 3 |\n")), 1)
        self.assertEqual(self.reasons("| what | result | lines |\n|---|---|---|\n| a | 60 of 61 | 3, 4 |\n"), [])

    def test_a_share_is_the_floor_over_the_time(self):
        [(_, reason)] = self.reasons(HEAD + "| call | 1,363.6 | 17.3 | 2 % | 3 |\n")
        self.assertIn("2 % of the floor, which is 1.3 %", reason)

    def test_figures_of_the_tree_are_right(self):
        self.assertEqual(list(page_figures.breaches()), [])

    def test_what_is_counted_is_there(self):
        for what, (_, number) in page_figures.counts().items():
            self.assertGreater(number, 20, what)


if __name__ == "__main__":
    unittest.main()
