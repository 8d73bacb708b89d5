"""Tests of the minifier: a program fails, its launcher finds a smaller graph, and that graph's repro fails in the same way."""
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile

import torch
import torch._dynamo
import torch._dynamo.test_case
import torch._functorch.config
import torch._inductor.config


@dataclasses.dataclass
class MinifierTestResult:
    minifier_code: str
    repro_code: str

    def _get_module(self, t):
        """The class of the graph in a file's text."""
        match = re.search(r"class Repro\(torch\.nn\.Module\):\s+([ ].*\n| *\n)+", t)
        assert match is not None, "failed to find module"
        return re.sub(r"\s+$", "\n", match.group(0), flags=re.MULTILINE).rstrip()

    def minifier_module(self):
        return self._get_module(self.minifier_code)

    def repro_module(self):
        return self._get_module(self.repro_code)


class MinifierTestBase(torch._dynamo.test_case.TestCase):
    DEBUG_DIR = tempfile.mkdtemp()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.path.exists(cls.DEBUG_DIR):
            cls.DEBUG_DIR = tempfile.mkdtemp()
        cls._exit_stack.enter_context(torch._dynamo.config.patch(debug_dir_root=cls.DEBUG_DIR))
        # What a test's program compiles must not come from a cache that another test filled.
        cls._exit_stack.enter_context(torch._inductor.config.patch({"pattern_matcher": False, "compile_threads": 1, "fx_graph_cache": False}))

    @classmethod
    def tearDownClass(cls):
        if os.getenv("PYTORCH_KEEP_TMPDIR", "0") != "1":
            shutil.rmtree(cls.DEBUG_DIR)
        else:
            print(f"test_minifier_common tmpdir kept at: {cls.DEBUG_DIR}")
        cls._exit_stack.close()

    def _gen_codegen_fn_patch_code(self, device, bug_type):
        assert bug_type in ("compile_error", "runtime_error", "accuracy")
        return f"torch._inductor.config.{'triton' if device == 'cuda' else 'cpp'}.inject_relu_bug_TESTING_ONLY = {bug_type!r}\n"

    def _maybe_subprocess_run(self, args, *, isolate, cwd=None):
        """Runs python3 with these arguments. isolate is not asked: what fails here would take the tests' own process along."""
        assert args[0] == "python3", args
        args = args[1:]
        script = None
        if args[0] == "-c":
            fd, script = tempfile.mkstemp(suffix=".py", dir=self.DEBUG_DIR)
            with os.fdopen(fd, "w") as f:
                f.write(args[1])
            args = [script, *args[2:]]
        try:
            return subprocess.run([sys.executable, "run", "--no-minify", *args], capture_output=True, cwd=cwd, check=False)
        finally:
            if script is not None:
                os.unlink(script)

    def _run_test_code(self, code, *, isolate):
        """Runs a program; the folder of its launcher is what stands in its output, None if there is none."""
        proc = self._maybe_subprocess_run(["python3", "-c", code], isolate=isolate)
        print("test stdout:", proc.stdout.decode("utf-8"))
        print("test stderr:", proc.stderr.decode("utf-8"))
        found = sorted(os.path.join(d, "minifier") for d, names, _ in os.walk(self.DEBUG_DIR) if "minifier" in names and os.path.exists(os.path.join(d, "minifier", "minifier_launcher.py")))
        return proc, found[-1] if found else None

    def _run_minifier_launcher(self, repro_dir, isolate, *, minifier_args=()):
        """Runs the launcher; gives the process and the launcher's text."""
        self.assertIsNotNone(repro_dir)
        launch_file = os.path.join(repro_dir, "minifier_launcher.py")
        with open(launch_file) as f:
            launch_code = f.read()
        self.assertTrue(os.path.exists(launch_file))
        args = ["python3", launch_file, "minify", *minifier_args]
        if not isolate:
            args.append("--no-isolate")
        proc = self._maybe_subprocess_run(args, isolate=isolate, cwd=repro_dir)
        print("minifier stdout:", proc.stdout.decode("utf-8"))
        print("minifier stderr:", proc.stderr.decode("utf-8"))
        self.assertNotIn("Input graph did not fail the tester", proc.stderr.decode("utf-8"))
        return proc, launch_code

    def _run_repro(self, repro_dir, *, isolate=True):
        """Runs the smallest graph; gives the process and the text of its repro."""
        self.assertIsNotNone(repro_dir)
        repro_file = os.path.join(repro_dir, "repro.py")
        with open(repro_file) as f:
            repro_code = f.read()
        self.assertTrue(os.path.exists(repro_file))
        proc = self._maybe_subprocess_run(["python3", repro_file], isolate=isolate, cwd=repro_dir)
        print("repro stdout:", proc.stdout.decode("utf-8"))
        print("repro stderr:", proc.stderr.decode("utf-8"))
        return proc, repro_code

    def _gen_test_code(self, run_code, repro_after, repro_level):
        """The program with the settings of this process, and those that have it leave a launcher."""
        return f"""\
import torch
import torch._dynamo
{torch._dynamo.config.codegen_config()}
{torch._inductor.config.codegen_config()}
{torch._functorch.config.codegen_config()}
torch._dynamo.config.repro_after = "{repro_after}"
torch._dynamo.config.repro_level = {repro_level}
torch._dynamo.config.debug_dir_root = "{self.DEBUG_DIR}"
{run_code}
"""

    def _run_full_test(self, run_code, repro_after, expected_error, *, isolate, minifier_args=()):
        """Runs a program, its launcher and its repro; all of them have to show expected_error, or none if it is None."""
        repro_level = 4 if expected_error is None or expected_error == "AccuracyError" else 3
        test_code = self._gen_test_code(run_code, repro_after, repro_level)
        print("running test", file=sys.stderr)
        test_proc, repro_dir = self._run_test_code(test_code, isolate=isolate)
        if expected_error is None:
            # The program is right, and then there is nothing to be made smaller.
            self.assertEqual(test_proc.returncode, 0)
            self.assertIsNone(repro_dir)
            return None
        self.assertIn(expected_error, test_proc.stderr.decode("utf-8"))
        self.assertIsNotNone(repro_dir)
        print("running minifier", file=sys.stderr)
        _, minifier_code = self._run_minifier_launcher(repro_dir, isolate=isolate, minifier_args=minifier_args)
        print("running repro", file=sys.stderr)
        repro_proc, repro_code = self._run_repro(repro_dir, isolate=isolate)
        self.assertIn(expected_error, repro_proc.stderr.decode("utf-8"))
        self.assertNotEqual(repro_proc.returncode, 0)
        shutil.rmtree(os.path.dirname(repro_dir))
        return MinifierTestResult(minifier_code=minifier_code, repro_code=repro_code)
