#!/usr/bin/env python3
"""Looks at the site of the book: links, images and headings are there; in Chromium, pages draw without errors.

    python3 tests/page/book.py SITE

Without Chromium the second half is left out.
"""

import html.parser
import os
import shutil
import sys
import tempfile
import time
import urllib.parse

from check import Browser

# Pages with all others in them, and the one for addresses that are not there.
LEFT_OUT = ("print.html", "404.html", "toc.html")


class Page(html.parser.HTMLParser):
    """Links, images and names of places of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places, self.images = [], set(), 0
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.places.add(attrs["id"])
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        if tag == "img":
            self.images += 1
            self.links.append(attrs["src"])


def dead_links(site, pages):
    """Links of the site that lead nowhere."""
    found = []
    for path, page in pages.items():
        for link in page.links:
            target, place = urllib.parse.urldefrag(link)
            if "://" in target or target.startswith("mailto:"):
                continue
            other = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(target))) if target else path
            if not os.path.exists(os.path.join(site, other)):
                found.append(f"{path}: {link} is not there")
            elif place and other in pages and place not in pages[other].places:
                found.append(f"{path}: {link} names no place of its page")
    return found


def draw(browser, path):
    """Loads a page; its images are decoded, and no script fails."""
    browser.events.clear()
    browser.call("Page.navigate", url=f"file://{path}")
    until = time.time() + 60
    while browser.value("document.readyState") != "complete" or browser.value("location.pathname") != path:
        assert time.time() < until, f"{path} is not loaded after a minute"
        time.sleep(0.05)
    assert browser.value('[...document.querySelectorAll("main img")].every(image => image.naturalWidth > 0)'), f"{path}: an image is not drawn"
    assert browser.value('document.querySelector("main").innerText.length > 20'), f"{path}: no text"
    thrown = [event for event in browser.events if event["method"] == "Runtime.exceptionThrown"]
    assert not thrown, f"{path}: {thrown}"


def main():
    site = os.path.abspath(sys.argv[1])
    names = [os.path.relpath(os.path.join(folder, file), site) for folder, _, files in os.walk(site) for file in files if file.endswith(".html")]
    pages = {name: Page(os.path.join(site, name)) for name in sorted(names) if os.path.basename(name) not in LEFT_OUT}
    assert len(pages) > 30, f"{len(pages)} pages"
    found = dead_links(site, pages)
    assert not found, "\n".join(found)
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, {sum(page.images for page in pages.values())} images")

    program = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    if program is None:
        print("left out: there is no Chromium to draw the pages")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            for domain in ("Page", "Runtime"):
                browser.call(f"{domain}.enable")
            for name in pages:
                draw(browser, os.path.join(site, name))
        finally:
            browser.process.kill()
            browser.process.wait()
    print(f"{len(pages)} pages are drawn without errors")


if __name__ == "__main__":
    main()
