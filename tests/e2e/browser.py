# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, asked through its debugging pipe: pages of --html as a browser sees them.

Nothing waits for a time: pages say by body[data-ready] that they are drawn. LIMIT only ends what hangs.
"""

import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

# The first has no windows to draw: the same pages take it a fifth to a third less of the CPU.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

# Seconds until a browser that does not answer a request is given up, on a machine that is very busy.
LIMIT = 240


def find():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


# Makes two descriptors 3 and 4, whatever they are now, and becomes the command behind them.
AS_3_AND_4 = """
import fcntl, os, sys
high = [fcntl.fcntl(int(word), fcntl.F_DUPFD, 10) for word in sys.argv[1:3]]
for fd, old in enumerate(high, 3):
    os.dup2(old, fd)
    os.close(old)
os.execvp(sys.argv[3], sys.argv[3:])
"""


class PageError(Exception):
    """The page's program failed, or does not get ready."""


class Browser:
    """One browser with one page. Use it with `with`."""

    def __init__(self, path=None):
        self.folder = tempfile.TemporaryDirectory(prefix="cyclops-browser-", ignore_cleanup_errors=True)
        to_child, self.outgoing = os.pipe()
        self.incoming, from_child = os.pipe()
        # It makes folders where these say.
        home = {name: self.folder.name for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
        self.process = subprocess.Popen(self.command(path or find(), to_child, from_child), env={**os.environ, **home},
                                        pass_fds=(to_child, from_child), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self.watchdog = None
        self.received = b""
        self.number = 0
        self.session = None
        self.errors = []
        self.loads = 0
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def command(self, path, to_child, from_child):
        """The browser reads requests from descriptor 3 and answers to 4."""
        chromium = [path, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                    "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                    "--disable-background-networking", "--disable-component-update", "--disable-extensions",
                    f"--user-data-dir={self.folder.name}", "about:blank"]
        return [sys.executable, "-c", AS_3_AND_4, str(to_child), str(from_child), *chromium]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.watch(None)
        self.kill()
        self.process.wait()
        os.close(self.outgoing)
        os.close(self.incoming)
        self.folder.cleanup()

    def kill(self):
        """The browser, and the script that some distributions start it by."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def watch(self, seconds):
        if self.watchdog is not None:
            self.watchdog.cancel()
        self.watchdog = None
        if seconds is not None:
            self.watchdog = threading.Timer(seconds, self.kill)
            self.watchdog.start()

    def read(self):
        while b"\0" not in self.received:
            piece = os.read(self.incoming, 1 << 20)
            if not piece:
                raise PageError("the browser ended")
            self.received += piece
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        """Sends a request and returns its result. What the page logs meanwhile goes to `errors`."""
        self.watch(LIMIT)
        self.number += 1
        number = self.number  # hear() may make requests, too
        request = {"id": number, "method": method, "params": parameters}
        if self.session is not None:
            request["sessionId"] = self.session
        left = json.dumps(request).encode() + b"\0"
        while left:
            left = left[os.write(self.outgoing, left):]
        while True:
            message = self.read()
            if message.get("id") == number:
                if "error" in message:
                    raise PageError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.hear(message)

    def hear(self, message):
        what, said = message.get("method"), message.get("params", {})
        self.loads += what == "Page.loadEventFired"
        if what == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(said["exceptionDetails"])[:600])
        elif what == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.errors.append(f"console: {json.dumps(said['args'])[:600]}")
        elif what == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.errors.append(f"log: {said['entry']['text']}")
        elif what == "Network.requestWillBeSent" and not said["request"]["url"].startswith(("file:", "about:", "blob:")):
            self.errors.append(f"network: {said['request']['url'][:200]}")
        elif what == "Page.javascriptDialogOpening":
            self.errors.append(f"dialog: {said['message'][:200]}")
            self.number += 1
            request = {"id": self.number, "method": "Page.handleJavaScriptDialog", "params": {"accept": True},
                       "sessionId": self.session}
            os.write(self.outgoing, json.dumps(request).encode() + b"\0")

    def run(self, expression):
        """The value of an expression in the page; promises are waited for."""
        result = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise PageError(json.dumps(result["exceptionDetails"])[:1000])
        return result["result"].get("value")

    def open(self, path, address="#"):
        """Loads a file and waits until the page at this address is drawn."""
        for url in ("about:blank", pathlib.Path(path).resolve().as_uri() + address):
            loads = self.loads
            self.ask("Page.navigate", url=url)
            while self.loads == loads:
                self.hear(self.read())
        self.wait(address)

    def show(self, address):
        """Goes to another page of the same file."""
        self.run(f"location.hash = {json.dumps(address)}")
        self.wait(address)

    def wait(self, address):
        self.run(f"""new Promise((done) => {{
            const ready = () => document.body !== null && document.body.dataset.ready === {json.dumps(address)};
            const check = () => ready() ? done(true) : setTimeout(check, 10);
            check();
        }})""")

    def size(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, is_dark):
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def screenshot(self, path):
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
