# SPDX-License-Identifier: GPL-2.0
"""Chromium without a window, told through a pipe what to open and asked what it has made of it.

The protocol is Chrome's own (DevTools), in JSON, a NUL behind each message. What a page says to its console,
and what its policy forbids, is collected.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAM = "chromium"
WORDS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--remote-debugging-pipe",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)
PATIENCE = 120  # seconds that an answer may take
LOUD = ("warning", "error", "assert")


class BrowserError(Exception):
    pass


def there() -> bool:
    return shutil.which(PROGRAM) is not None


class Browser:
    """with Browser() as browser: one process and one page, in which any number are opened."""

    def __init__(self) -> None:
        self.said: list[str] = []  # warnings and errors since the last open()
        self.number = 0
        self.rest = b""

    def __enter__(self) -> Browser:
        self.home = tempfile.TemporaryDirectory(prefix="dm-david-browser-")
        (reader, self.out), (self.into, writer) = os.pipe(), os.pipe()
        # The browser has them as 3 and 4, which may be taken here.
        theirs, ours = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (reader, writer))
        os.close(reader)
        os.close(writer)
        shell = ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{ours}', "bash"]
        self.process = subprocess.Popen(
            [*shell, PROGRAM, *WORDS, f"--user-data-dir={self.home.name}", "about:blank"],
            pass_fds=(theirs, ours),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(ours)
        self.session = ""
        targets = self.call("Target.getTargets")["targetInfos"]
        [page] = [one["targetId"] for one in targets if one["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log"):
            self.call(f"{part}.enable")
        # From now on: what came before would be missing.
        self.call("Performance.enable", timeDomain="threadTicks")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.out)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.into)
        self.home.cleanup()

    def _message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self.rest:
            if not select.select([self.into], [], [], max(0, deadline - time.monotonic()))[0]:
                raise BrowserError("the browser does not answer")
            more = os.read(self.into, 1 << 20)
            if not more:
                raise BrowserError("the browser has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        found: dict[str, Any] = json.loads(text)
        return found

    def _hear(self, message: dict[str, Any]) -> None:
        what = message.get("params", {})
        if message.get("method") == "Runtime.consoleAPICalled" and what["type"] in LOUD:
            self.said.append(" ".join(str(one.get("value", one.get("description"))) for one in what["args"]))
        elif message.get("method") == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.said.append(details.get("exception", {}).get("description", details["text"]))
        elif message.get("method") == "Log.entryAdded" and what["entry"]["level"] in LOUD:
            self.said.append(what["entry"]["text"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        words = {"id": self.number, "method": method, "params": params}
        if self.session:
            words["sessionId"] = self.session
        os.write(self.out, json.dumps(words).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while (message := self._message(deadline)).get("id") != self.number:
            self._hear(message)
        if "error" in message:
            raise BrowserError(f"{method}: {message['error']['message']}")
        found: dict[str, Any] = message["result"]
        return found

    def see(self, width: int, height: int = 1000, scheme: str = "light", media: str = "screen") -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.call(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def open(self, page: Path) -> None:
        self.call("Page.navigate", url="about:blank")
        self.said.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        self.evaluate(
            "new Promise(done => document.readyState === 'complete' ? done(1) : "
            "addEventListener('load', () => done(1)))"
        )

    def evaluate(self, text: str) -> Any:
        found = self.call("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return found["result"].get("value")

    def busy(self) -> float:
        """Seconds of CPU that the page's thread has had so far."""
        found = {one["name"]: one["value"] for one in self.call("Performance.getMetrics")["metrics"]}
        return float(found["TaskDuration"])

    def printed(self) -> bytes:
        """The page as a PDF, on A4."""
        found = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(found["data"])

    def screenshot(self, whole: bool = True) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])
