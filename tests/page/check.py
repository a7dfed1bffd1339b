#!/usr/bin/env python3
"""Opens a page of a run in headless Chromium: neither errors nor requests, labels and slider work.

    python3 tests/page/check.py PAGE.html [PICTURE.png]

The browser is spoken to over pipes (--remote-debugging-pipe), so that Python needs no packages. With a
second argument the page as it is drawn is written there.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time


class Browser:
    """Chromium with one page."""

    def __init__(self, program, profile):
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def pipes():
            # Descriptors 3 and 4 are those that the browser reads and writes.
            high = [os.dup(fd) for fd in (to_read, from_write)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        words = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]
        words += ["--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(words, preexec_fn=pipes, close_fds=False, **quiet)
        os.close(to_read)
        os.close(from_write)
        self.out, self.inp = to_write, os.fdopen(from_read, "rb")
        self.number, self.events, self.session = 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def message(self):
        """The next message of the browser."""
        data = bytearray()
        while (byte := self.inp.read(1)) != b"\0":
            if not byte:
                sys.exit("the browser ended")
            data += byte
        return json.loads(data)

    def call(self, method, **params):
        """Calls a method; events that come before its answer are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while (answer := self.message()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']}")
        return answer["result"]

    def value(self, expression):
        """The value of an expression of JavaScript."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            sys.exit(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")


def main():
    page = os.path.abspath(sys.argv[1])
    program = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    if program is None:
        print("left out: there is no chromium")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            check(browser, page)
            if len(sys.argv) > 2:
                size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
                browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=int(size["height"]), deviceScaleFactor=1, mobile=False)
                picture = browser.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                with open(sys.argv[2], "wb") as file:
                    file.write(base64.b64decode(picture))
        finally:
            browser.process.kill()
            browser.process.wait()


def check(browser, page):
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(f"{domain}.enable")
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    browser.call("Page.navigate", url=f"file://{page}")
    until = time.time() + 60
    while browser.value("document.readyState") != "complete" or browser.value("location.protocol") != "file:":
        assert time.time() < until, "the page is not loaded after a minute"
        time.sleep(0.05)

    labels = browser.value('[...document.querySelectorAll("figure text")].map(label => label.textContent)')
    assert len(labels) > 4, labels
    boxes = browser.value('[...document.querySelectorAll("figure text")].every(l => { const b = l.getBoundingClientRect(); return b.width > 0 && b.height > 0; })')
    assert boxes, "a label without extent"

    steps = browser.value("data.steps.length")
    if steps and steps > 1:
        check_slider(browser, steps)
    else:
        print("no slider: the page has fewer than two steps")

    events = [event for event in browser.events if event.get("sessionId") == browser.session]
    wrong = [event for event in events if event["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
    assert not wrong, wrong
    urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    others = [url for url in urls if not url.startswith("data:") and url != f"file://{page}"]
    assert not others, others
    print(f"{os.path.basename(page)}: {os.path.getsize(page)} bytes, {steps} steps, {len(labels)} labels, no errors, no requests")


def check_slider(browser, steps):
    def shown():
        figures = 'data.figures.map(f => { const i = document.getElementById(f.id); return i.getAttribute(f.map ? "href" : "d"); })'
        return browser.value('document.getElementById("moment").textContent'), browser.value(figures)

    def key(name, code):
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    # The last step comes first; the keys of a user move the slider.
    last = shown()
    assert last[0].startswith(f"step {browser.value('data.steps.at(-1).step')}"), last[0]
    browser.call("Runtime.evaluate", expression='document.getElementById("step").focus()')
    key("Home", 36)
    first = shown()
    assert first[0].startswith(f"step {browser.value('data.steps[0].step')}"), first[0]
    assert first[1] != last[1], "the slider changes no diagram"
    key("ArrowRight", 39)
    second = shown()
    assert second[0].startswith(f"step {browser.value('data.steps[1].step')}"), second[0]
    key("End", 35)
    assert shown() == last, "back at the end"
    # Images are decoded, with as many pixels as a map needs.
    sizes = browser.value("""Promise.all(data.figures.filter(f => f.map).map(f => { const image = new Image();
        image.src = document.getElementById(f.id).getAttribute("href"); return image.decode().then(() => image.naturalWidth); }))""") or []
    assert all(size > 0 for size in sizes), sizes


if __name__ == "__main__":
    main()
