"""Uses each page of the console in Debian's chromium, and fails at any problem.

use_console.py FOLDER LINK [LINK LINK LINK]

Each link is for another way. Screenshots go to FOLDER. A page has no problem that axe-core finds,
is no wider than its window, asks no other origin for anything, and logs no error. The third way
has no scripts, and no look for width and axe-core.
"""

import sys
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

WAYS = [
    {"width": 1440, "scheme": "light", "scripts": True},
    {"width": 390, "scheme": "dark", "scripts": True},
    {"width": 390, "scheme": "light", "scripts": False},
    {"width": 1440, "scheme": "dark", "scripts": True},
]
# Chromium looks for its own news, which are none of the page's requests.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The most that a page and all that it loads may be, as they are sent.
MOST_BYTES = 150_000
# The most milliseconds until a page is painted for the first time.
MOST_MILLIS = 1_000
LOADED = """() => [
    ...performance.getEntriesByType("navigation"),
    ...performance.getEntriesByType("resource"),
].reduce((sum, entry) => sum + entry.encodedBodySize, 0)"""
HAS_PAINTED = """() => performance.getEntriesByName("first-contentful-paint").length > 0"""
PAINTED = """() => performance.getEntriesByName("first-contentful-paint")[0].startTime"""
# The least pixels of a letter in a drawing, and drawings' letters that are smaller or cut off.
LEAST_LETTER = 11
SMALL_LETTERS = """(least) => [...document.querySelectorAll("svg text")].flatMap((text) => {
    const box = text.getBoundingClientRect();
    if (box.width === 0) return [];
    const size = parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
    if (size < least) return [`${text.textContent} has ${size.toFixed(1)} px`];
    let outer = text.ownerSVGElement;
    while (outer.ownerSVGElement) outer = outer.ownerSVGElement;
    const frame = outer.getBoundingClientRect();
    const isCut = box.left < frame.left - 1 || box.right > frame.right + 1;
    return isCut ? [`${text.textContent} is cut off`] : [];
})"""
# Paper on which a value takes two pages, with the margins that a printer's dialogue sets.
PAPERS = [("A4", None), ("Letter", None), ("A4", "0.4in")]
HOMES = """postcode,building_number_or_name,street,type,subtype,title_tenure,status,bedrooms,valuation_date
QA1 1AF,15,Badger Yard Gardens,S,house_semi_detached,freehold,owner_occupied,3,2026-10-15
"""


class Visit:
    """One way to look at all pages."""

    def __init__(self, browser, folder, link, way):
        self.origin = link.split("/login")[0]
        self.way = way
        self.folder = folder
        self.context = browser.new_context(
            viewport={"width": way["width"], "height": 900},
            color_scheme=way["scheme"],
            java_script_enabled=way["scripts"],
            # axe-core is put into the page, which forbids every script but its own.
            bypass_csp=True,
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.problems = []
        self.loaded = {}
        self.page.on("request", self.see_request)
        self.page.on("pageerror", lambda error: self.problems.append(f"an error: {error}"))
        self.page.goto(link)
        self.page.get_by_role("button", name="Open the console").click()

    def see_request(self, request):
        parts = urlsplit(request.url)
        if f"{parts.scheme}://{parts.netloc}" != self.origin:
            self.problems.append(f"a request to {request.url}")

    def look(self, name):
        """Takes a picture of the page, and looks for problems."""
        way = self.way
        self.page.screenshot(
            path=self.folder / f"{name}-{way['width']}-{way['scheme']}.png", full_page=True
        )
        if not way["scripts"]:
            return
        loaded = self.page.evaluate(LOADED)
        if loaded > MOST_BYTES:
            self.problems.append(f"{name} loads {loaded} bytes")
        self.loaded[name] = loaded
        small = self.page.evaluate(SMALL_LETTERS, LEAST_LETTER)
        if small:
            self.problems.append(f"{name}: {small[:5]}")
        width = self.page.evaluate("document.documentElement.scrollWidth")
        if width > way["width"]:
            self.problems.append(f"{name} is {width} wide")
        for violation in Axe().run(self.page).response["violations"]:
            nodes = [node["html"] for node in violation["nodes"]][:3]
            self.problems.append(f"{name}: {violation['id']}: {nodes}")

    def measure_paint(self, name):
        """Measures the first paint. The machine has other work, so the best of five counts."""
        if not self.way["scripts"]:
            return
        painted = []
        for _ in range(5):
            self.page.reload()
            # A busy machine paints late, and the time is there only then.
            for _ in range(100):
                self.page.wait_for_timeout(200)
                if self.page.evaluate(HAS_PAINTED):
                    break
            painted.append(self.page.evaluate(PAINTED))
        print(f"{name} is painted after {min(painted):.0f} ms")
        if min(painted) > MOST_MILLIS:
            self.problems.append(f"{name} is painted after {min(painted):.0f} ms")

    def value_a_home(self):
        """Fills the form by the keyboard, and changes an input."""
        page = self.page
        page.locator("[name=postcode]").focus()
        page.keyboard.type("QA1 1AF")
        page.keyboard.press("Tab")
        page.keyboard.type("15")
        page.keyboard.press("Tab")
        page.keyboard.type("Badger Yard Gardens")
        for name, choice in [
            ("type", "S"),
            ("subtype", "house_semi_detached"),
            ("title_tenure", "freehold"),
            ("status", "owner_occupied"),
        ]:
            page.select_option(f"[name={name}]", choice)
        page.fill("[name=bedrooms]", "3")
        page.fill("[name=valuation_date]", "2026-10-15")
        self.look("form")
        page.locator("[name=bedrooms]").press("Enter")
        page.wait_for_url("**/values/*")
        assert page.locator("h1.estimate").inner_text().startswith("£"), "no estimate"
        assert page.locator("svg.map circle.home").count() == 1, "no map"
        self.look("value")
        if self.way["scripts"]:
            self.print_on_paper("value", 2)
        self.measure_paint("value")
        page.fill("[name=valuation_date]", "2027-06-01")
        page.get_by_role("button", name="Value the home").click()
        assert "before the change" in page.locator(".difference").inner_text()

    def value_a_home_of_many_sales(self):
        """Finds a home by the keyboard. Stored data fill its type and tenure."""
        page = self.page
        page.goto(f"{self.origin}/")
        page.get_by_role("searchbox").fill("16 copper yard place")
        result = page.get_by_role("link", name="16 COPPER YARD PLACE")
        if self.way["scripts"]:
            result.wait_for()
            page.get_by_role("searchbox").press("ArrowDown")
            with page.expect_navigation():
                page.keyboard.press("Enter")
        else:
            self.follow("button", "Find")
            with page.expect_navigation():
                result.click()
        filled = [page.locator(f"[name={name}]").input_value() for name in ["type", "title_tenure"]]
        assert filled == ["D", "freehold"], filled
        page.select_option("[name=subtype]", "house_detached")
        page.select_option("[name=status]", "owner_occupied")
        page.fill("[name=bedrooms]", "3")
        page.fill("[name=valuation_date]", "2026-10-15")
        self.look("found")
        self.follow("button", "Value the home")
        assert page.locator(".sales tbody tr").count() >= 5, "too few own sales"
        self.look("many-sales")
        if self.way["scripts"]:
            self.print_on_paper("many-sales", 2)

    def print_on_paper(self, name, most):
        """Counts the pages of paper, on which no form is."""
        for paper, margin in PAPERS:
            margins = dict.fromkeys(["top", "right", "bottom", "left"], margin) if margin else None
            file = self.folder / f"{name}-{paper}{margin or ''}.pdf"
            printed = self.page.pdf(path=file, format=paper, margin=margins)
            pages = printed.count(b"/Type /Page\n")
            if not 1 <= pages <= most:
                self.problems.append(f"{name} takes {pages} pages of {paper}, {margin or 'no margin'}")
        self.page.emulate_media(media="print")
        if self.page.locator("form:visible").count():
            self.problems.append(f"{name} prints a form")
        self.page.emulate_media(media="null")

    def follow(self, role, name):
        """Clicks, and waits for the page that follows: the one before has other headings."""
        with self.page.expect_navigation():
            self.page.get_by_role(role, name=name).click()

    def read_series(self):
        """Chooses a dataset and an area, and finds the chart and its table."""
        page = self.page
        self.follow("link", "Markets")
        page.select_option("[name=dataset]", "market_activity")
        self.follow("button", "Show")
        page.select_option("[name=area]", "E06990001")
        page.fill("[name=from]", "2020-01")
        page.fill("[name=to]", "2026-07")
        self.follow("button", "Show")
        assert page.locator("figure.chart").count() > 0, "no chart"
        with page.expect_download() as download:
            page.get_by_role("link", name="observations as CSV").click()
        assert download.value.suggested_filename == "market_activity.csv"
        self.look("markets")
        if self.way["scripts"]:
            self.print_on_paper("markets", 6)
        page.select_option("[name=compared_with]", "E06990002")
        page.select_option("[name=metrics]", "sales_value_gbp")
        self.follow("button", "Show")
        assert page.get_by_role("columnheader", name="Difference").count() == 1, "no difference"
        self.look("areas")
        self.follow("link", "Rates")
        page.select_option("[name=dataset]", "bank_rate")
        self.follow("button", "Show")
        page.fill("[name=from]", "2024-01-01")
        page.fill("[name=to]", "2026-09-30")
        self.follow("button", "Show")
        assert page.locator("figure.chart").count() > 0, "no chart"
        self.look("rates")
        self.move_a_curve()

    def move_a_curve(self):
        """Moves a curve to the day before: by the keyboard, or by a link without scripts."""
        page = self.page
        page.goto(f"{self.origin}/rates?dataset=ois_spot_curve&from=2026-09-30&to=2026-09-30")
        curve = page.locator("[data-moves] path")
        before = curve.get_attribute("d")
        if self.way["scripts"]:
            page.get_by_role("slider").focus()
            page.keyboard.press("ArrowLeft")
            assert page.locator("output").inner_text() == "2026-09-29", "the slider does not move"
            assert page.get_by_role("link", name="2026-09-30").is_visible(), "no link to the next day"
        else:
            self.follow("link", "2026-09-29")
            assert page.url.endswith("from=2026-09-29&to=2026-09-29"), page.url
        assert curve.get_attribute("d") != before, "the curve stays"
        self.look("curve")

    def run_a_job(self):
        """Submits a file of homes, and waits for its results."""
        page = self.page
        page.get_by_role("link", name="Jobs").click()
        self.look("jobs")
        page.fill("[name=homes]", HOMES)
        page.get_by_role("button", name="Submit the job").click()
        for _ in range(60):
            if page.locator("h1").inner_text() == "Job completed":
                break
            page.wait_for_timeout(500)
            page.reload()
        with page.expect_download():
            page.get_by_role("link", name="results as CSV").click()
        self.look("job")

    def read_the_rest(self):
        """Opens the other pages, and logs out."""
        page = self.page
        self.follow("link", "Operation")
        assert page.locator("h1").inner_text() == "Operation"
        assert page.locator("figure.chart").count() >= 7, "a plot is missing"
        page.get_by_text("Latency as a table").click()
        assert page.get_by_role("columnheader", name="p99").is_visible(), "no table of latencies"
        self.look("operation")
        page.goto(f"{self.origin}/operation/guide#memory")
        self.look("operations-guide")
        self.follow("link", "Releases")
        assert page.locator("h1").inner_text() == "Releases"
        self.look("releases")
        self.follow("link", "By month and segment")
        self.follow("link", "Postcode areas")
        assert "the median error moved" in page.get_by_role("alert").first.inner_text()
        assert page.locator("figure.chart").count() == 2, "bias or coverage is missing"
        self.look("drift")
        self.read_reports()
        self.follow("button", "Log out")
        assert page.locator("h1").inner_text() == "Logged out"
        self.look("logged-out")

    def read_reports(self):
        """Opens reports under their policy, which no script and no form of theirs passes."""
        context = self.context.browser.new_context(
            viewport={"width": self.way["width"], "height": 900},
            color_scheme=self.way["scheme"],
        )
        context.add_cookies(self.context.cookies())
        page = context.new_page()
        page.on("request", self.see_request)
        for name in ["compare.json", "<img src=x onerror=alert(1)>.html"]:
            page.goto(f"{self.origin}/releases")
            page.get_by_role("link", name=name, exact=True).click()
            page.wait_for_url("**/releases/report?*")
            title = "Notes" if name.endswith(".html") else "against"
            if title not in page.title():
                self.problems.append(f"{name} has the title {page.title()}")
        page.go_back()
        page.get_by_role("link", name="compare.html", exact=True).click()
        page.locator("svg").first.wait_for()
        way = self.way
        page.screenshot(path=self.folder / f"report-{way['width']}-{way['scheme']}.png")
        context.close()


def main():
    folder = Path(sys.argv[1])
    problems = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=QUIET)
        ways = list(zip(WAYS, sys.argv[2:]))
        for way, link in ways:
            visit = Visit(browser, folder, link, way)
            visit.value_a_home()
            visit.value_a_home_of_many_sales()
            visit.read_series()
            visit.run_a_job()
            visit.read_the_rest()
            problems += [f"{way}: {problem}" for problem in visit.problems]
            print(way, "bytes loaded:", visit.loaded)
            visit.context.close()
        browser.close()
    if problems:
        sys.exit("\n".join(problems))
    print(f"every page, ways: {len(ways)}")


if __name__ == "__main__":
    main()
