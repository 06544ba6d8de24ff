# A headless Chromium that tests drive, through its pipe of JSON (the Chrome
# DevTools Protocol), with Python alone.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import fcntl
import glob
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find_browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    kept = os.path.expanduser("~/.cache/ms-playwright/chromium*/*/*shell")
    return next(iter(sorted(glob.glob(kept))), None)


class Browser:
    """One page of a browser; `with` ends it. Raises OSError where the program
    that there is does not answer."""

    def __init__(self, program, seconds=60):
        self.scratch = tempfile.TemporaryDirectory(prefix="tfc-page-")
        self.seconds, self.held, self.number = seconds, b"", 0
        theirs, self.write = os.pipe()
        self.read, ours = os.pipe()
        # Which are 3 and 4 there: copied from places that are neither.
        ends = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10)
                for each in (theirs, ours)]
        os.close(theirs), os.close(ours)

        def place():
            os.dup2(ends[0], 3), os.dup2(ends[1], 4)
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={self.scratch.name}/profile", "about:blank"],
            close_fds=False, preexec_fn=place, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for each in ends:
            os.close(each)
        self.session = None
        try:
            self._attach()
        except OSError:
            self.__exit__()
            raise

    def _attach(self):
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(each for each in targets if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=page["targetId"])["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.process.kill()
        self.process.wait()
        os.close(self.read), os.close(self.write)
        self.scratch.cleanup()

    def call(self, method, **words):
        """The result of a method of the protocol."""
        self.number += 1
        asked = {"id": self.number, "method": method, "params": words}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.write, json.dumps(asked).encode() + b"\0")
        end = time.monotonic() + self.seconds
        while True:
            while b"\0" not in self.held:
                left = max(0, end - time.monotonic())
                found = select.select([self.read], [], [], left)[0] and \
                    os.read(self.read, 1 << 16)
                if not found:
                    raise OSError(f"{method}: the browser says nothing")
                self.held += found
            part, _, self.held = self.held.partition(b"\0")
            made = json.loads(part)
            if made.get("id") == self.number:
                if "error" in made:
                    raise OSError(f"{method}: {made['error']}")
                return made["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def value(self, script):
        """What an expression of the page's is."""
        made = self.call("Runtime.evaluate", expression=script,
                         returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in made, made
        return made["result"].get("value")

    def until(self, script):
        """Waits for an expression to be true."""
        end = time.monotonic() + self.seconds
        while not self.value(script):
            assert time.monotonic() < end, f"never: {script}"
            time.sleep(0.05)
