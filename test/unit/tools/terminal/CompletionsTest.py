#!/usr/bin/env python3
"""What bash offers behind `effc ...`, asked of bash itself."""
import os
import subprocess
import unittest

EFFC = os.environ["EFFC_PROGRAM"]


def offered(*words):
    """The completions of the last of `words`, in alphabetical order."""
    script = subprocess.run([EFFC, "completions", "bash"], check=True, capture_output=True, text=True).stdout
    line = " ".join("'" + word + "'" for word in words)
    ask = f'COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _effc; printf "%s\\n" "${{COMPREPLY[@]}}"'
    run = subprocess.run(["bash", "-c", script + ask], check=True, capture_output=True, text=True)
    return sorted(run.stdout.split())


class Bash(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(offered("effc", "ve"), ["verify"])
        self.assertIn("compile", offered("effc", ""))

    def test_options(self):
        self.assertEqual(offered("effc", "run", "m.effc", "--top"), ["--top-k", "--top-p"])
        self.assertEqual(offered("effc", "compile", "--weights-"), ["--weights-from", "--weights-type"])

    def test_choices(self):
        self.assertEqual(offered("effc", "run", "--device", "sim:"), ["sim:80", "sim:90"])
        self.assertEqual(offered("effc", "compile", "--weights-type", "q5"),
                         ["q5_0", "q5_1", "q5_k", "q5_k_m", "q5_k_s"])

    def test_files(self):
        self.assertEqual(offered("effc", "run", "m"), [])  # bash's own default takes over


class Shells(unittest.TestCase):
    def test_scripts_parse(self):
        for shell in ["bash", "zsh", "fish"]:
            script = subprocess.run([EFFC, "completions", shell], check=True, capture_output=True, text=True).stdout
            if subprocess.run(["sh", "-c", f"command -v {shell}"], capture_output=True).returncode == 0:
                subprocess.run([shell, "-n"], input=script, text=True, check=True)


if __name__ == "__main__":
    unittest.main()
