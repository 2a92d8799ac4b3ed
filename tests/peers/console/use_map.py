"""Reads a value over the operator's tiles in Debian's chromium, and fails at any problem.

use_map.py FOLDER NAME PATH LINK [LINK LINK LINK]

PATH is the page of a value, and NAME begins the names of the screenshots in FOLDER. The map is
drawn under the policy of the page, its homes are reached by the keyboard, and each comparable leads
to its row. No request leaves the console's origin. A browser without WebGL and one without scripts
keep the plain map, and so does paper. With one LINK, the map is looked at in one window alone.
"""

import base64
import sys
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from use_console import QUIET

# WebGL by the processor.
DRAWING = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
# The colours that take 3 % of a picture or more. An empty map has one.
COLOURS = """async (picture) => {
    const image = new Image();
    image.src = `data:image/png;base64,${picture}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const drawing = canvas.getContext("2d");
    drawing.drawImage(image, 0, 0);
    const counts = new Map();
    const { data } = drawing.getImageData(0, 0, image.width, image.height);
    for (let at = 0; at < data.length; at += 4) {
        const colour = data.slice(at, at + 3).join();
        counts.set(colour, 1 + (counts.get(colour) ?? 0));
    }
    return [...counts].filter(([, count]) => count > 0.03 * data.length / 4).map(([colour]) => colour);
}"""
WAYS = [(1440, "light"), (390, "dark")]


class Visit:
    """One window."""

    def __init__(self, browser, folder, link, path, **options):
        self.origin = link.split("/login")[0]
        self.folder = folder
        self.path = path
        self.problems = []
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.page.on("request", self.see_request)
        self.page.on("pageerror", lambda error: self.problems.append(f"an error: {error}"))
        self.page.on("console", self.see_line)
        self.ranges = []
        self.page.on("response", self.see_response)
        self.page.goto(link)
        self.page.get_by_role("button", name="Open the console").click()
        self.page.goto(f"{self.origin}{path}")

    def see_request(self, request):
        parts = urlsplit(request.url)
        if f"{parts.scheme}://{parts.netloc}" != self.origin:
            self.problems.append(f"a request to {request.url}")

    def see_line(self, line):
        if line.type == "error" or "Content Security Policy" in line.text:
            self.problems.append(f"the log says {line.text}")

    def see_response(self, response):
        if response.url.endswith(".pmtiles"):
            self.ranges.append(response.status)

    def wait_for_map(self):
        self.page.locator("figure.tiles[data-drawn]").wait_for()

    def check_drawing(self):
        """Checks what is drawn, by sight of its colours."""
        page = self.page
        if page.locator("svg.map").is_visible():
            self.problems.append("both maps are shown")
        if set(self.ranges) != {206}:
            self.problems.append(f"the ranges were answered {self.ranges}")
        said = page.locator("figure.tiles [role=status]").inner_text()
        if said:
            self.problems.append(f"the map says {said}")
        if "Map: © Invented & Co." not in page.locator("figure.tiles figcaption").inner_text():
            self.problems.append("no attribution")

    def use_keys(self):
        """Reaches each comparable by the keyboard, and its row from it."""
        page = self.page
        rows = page.locator("tr[id^=comparable-]").count()
        links = page.locator(".marker a")
        if links.count() != rows:
            self.problems.append(f"{links.count()} comparables of {rows} are on the map")
        page.locator("figure.tiles canvas").focus()
        seen = set()
        for _ in range(rows + 5):
            page.keyboard.press("Tab")
            number = page.evaluate("document.activeElement.closest('.marker a')?.textContent")
            if number:
                seen.add(number)
                last = number
                shown = page.locator(".maplibregl-popup-content").inner_text()
                cells = page.locator(f"#comparable-{number} td").all_inner_texts()
                price, sold = cells[1], cells[2]
                if price not in shown or sold not in shown:
                    self.problems.append(f"comparable {number} is shown as {shown}")
        if len(seen) != rows:
            self.problems.append(f"the keyboard reaches {sorted(seen)} of {rows}")
        page.locator(".marker a", has_text=last).last.press("Enter")
        row = page.evaluate("document.activeElement.id")
        if not row.startswith("comparable-"):
            self.problems.append(f"comparable {last} leads to {row!r}")
        page.get_by_role("button", name="Zoom in").press("Enter")
        page.get_by_role("button", name="Show all").click()


def look(browser, name, folder, path, link, width, scheme):
    """Looks at the map in one window, and returns the problems."""
    visit = Visit(
        browser, folder, link, path,
        viewport={"width": width, "height": 1000}, color_scheme=scheme,
    )
    visit.wait_for_map()
    visit.check_drawing()
    visit.use_keys()
    visit.page.wait_for_timeout(700)
    visit.page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
    visit.page.locator("figure.tiles").screenshot(path=folder / f"{name}-map-{width}-{scheme}.png")
    visit.page.emulate_media(media="print")
    if not visit.page.locator("svg.map").is_visible():
        visit.problems.append("paper has no map")
    # axe-core is put into a copy of the page without its policy.
    state = visit.context.storage_state()
    copy = browser.new_context(
        viewport={"width": width, "height": 1000}, color_scheme=scheme, bypass_csp=True,
        storage_state=state,
    ).new_page()
    copy.goto(f"{visit.origin}{path}")
    copy.locator("figure.tiles[data-drawn]").wait_for()
    if copy.evaluate("document.documentElement.scrollWidth") > width:
        visit.problems.append("the page is wider than its window")
    picture = copy.locator("figure.tiles .canvas").screenshot()
    colours = copy.evaluate(COLOURS, base64.b64encode(picture).decode())
    if len(colours) < 2:
        visit.problems.append(f"the map has the colours {colours} alone")
    for violation in Axe().run(copy).response["violations"]:
        nodes = [node["html"] for node in violation["nodes"]][:3]
        visit.problems.append(f"{violation['id']}: {nodes}")
    copy.context.close()
    visit.context.close()
    return [f"{name} {width} {scheme}: {problem}" for problem in visit.problems]


def main():
    folder, name, path = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    links = sys.argv[4:]
    problems = []
    with sync_playwright() as playwright:
        def launch(more):
            return playwright.chromium.launch(executable_path="/usr/bin/chromium", args=more)

        quiet = [flag for flag in QUIET if flag != "--disable-gpu"]
        browser = launch(quiet + DRAWING)
        windows = list(zip(WAYS, links))
        for (width, scheme), link in windows:
            problems += look(browser, name, folder, path, link, width, scheme)
        if len(links) == 1:
            end(problems, name, windows)
            return
        plain = Visit(browser, folder, links[2], path, java_script_enabled=False)
        if not plain.page.locator("svg.map").is_visible():
            problems.append("without scripts there is no map")
        browser.close()
        browser = launch(QUIET + ["--disable-3d-apis"])
        without = Visit(browser, folder, links[3], path)
        without.page.wait_for_timeout(2_000)
        if not without.page.locator("svg.map").is_visible():
            problems.append("without WebGL there is no map")
        if without.page.locator("figure.tiles").is_visible():
            problems.append("without WebGL an empty map is shown")
        browser.close()
    end(problems, name, windows)


def end(problems, name, windows):
    """Fails with the problems, or says how many windows had none."""
    if problems:
        sys.exit("\n".join(problems))
    print(f"the map of {name}, windows: {len(windows)}")


main()
