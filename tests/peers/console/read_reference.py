"""Reads the reference of a server in Debian's chromium, and fails at any problem.

read_reference.py FOLDER ORIGIN

The page draws every route with samples of curl and of our clients for Python and TypeScript. It
searches, offers no way to try a request and no field for a key, logs no warning, and asks no other
origin for anything. It is painted within a second. Screenshots go to FOLDER. Without scripts it
lists the routes.
"""

import json
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import sync_playwright

from use_console import HAS_PAINTED, MOST_MILLIS, PAINTED, QUIET


def read(browser, folder, origin, width):
    """Looks at the page in a window, and returns the problems."""
    problems = []
    page = browser.new_page(viewport={"width": width, "height": 1000})
    page.set_default_timeout(30_000)

    def see_request(request):
        parts = urlsplit(request.url)
        if parts.scheme != "data" and f"{parts.scheme}://{parts.netloc}" != origin:
            problems.append(f"a request to {request.url}")

    def see_line(line):
        if line.type in ["warning", "error"]:
            problems.append(f"it logs: {line.text}")

    page.on("request", see_request)
    page.on("pageerror", lambda error: problems.append(f"an error: {error}"))
    page.on("console", see_line)
    page.goto(f"{origin}/reference")
    page.get_by_role("heading", name="Domesday").first.wait_for()
    page.goto(f"{origin}/reference#tag/single/POST/v3/value")
    page.get_by_text("/v3/value", exact=True).first.wait_for()
    page.get_by_role("button", name="curl").first.click()
    for words in ["Python client", "TypeScript client"]:
        page.get_by_text(words, exact=True).first.wait_for()
    page.screenshot(path=folder / f"reference-samples-{width}.png")
    text = page.inner_text("body")
    page.keyboard.press("Escape")
    if width > 1000:
        page.keyboard.press("Control+k")
        page.get_by_role("dialog").get_by_role("combobox").fill("coverage")
        found = page.get_by_role("listbox").get_by_role("option")
        found.filter(has_text="Check coverage of a postcode").first.wait_for()
    for words in ["Ruby", "Test Request", "Send Request", "Authentication", "Auth Type"]:
        if words in text:
            problems.append(f"the page says {words}")
    fields = page.locator("input:not([type=checkbox])")
    for field in fields.all():
        if "oken" in (field.get_attribute("placeholder") or ""):
            problems.append("the page has a field for a token")
    page.screenshot(path=folder / f"reference-{width}.png")
    if page.locator("#plain").count():
        problems.append("the plain list stays beside the drawing")
    page.close()
    painted = measure_paint(browser, origin, width)
    print(f"the reference is painted after {painted:.0f} ms at {width} pixels")
    if painted > MOST_MILLIS:
        problems.append(f"it is painted after {painted:.0f} ms")
    return problems


def measure_paint(browser, origin, width):
    """Returns the first paint, the best of five: the machine has other work."""
    painted = []
    for _ in range(5):
        page = browser.new_page(viewport={"width": width, "height": 1000})
        page.goto(f"{origin}/reference", wait_until="commit")
        for _ in range(100):
            page.wait_for_timeout(200)
            if page.evaluate(HAS_PAINTED):
                break
        painted.append(page.evaluate(PAINTED))
        page.close()
    return min(painted)


def main():
    folder, origin = Path(sys.argv[1]), sys.argv[2]
    problems = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=QUIET)
        for width in [1440, 390]:
            problems += read(browser, folder, origin, width)
        plain = browser.new_page(java_script_enabled=False)
        plain.goto(f"{origin}/reference")
        listed = plain.inner_text("body")
        with urllib.request.urlopen(f"{origin}/openapi.json", timeout=30) as answer:
            paths = json.load(answer)["paths"]
        problems += [f"{path} is not listed" for path in paths if path not in listed]
        browser.close()
    if problems:
        sys.exit("\n".join(problems))
    print("the reference, 2 windows")


main()
