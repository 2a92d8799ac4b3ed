"""Re-derives every computed figure of a release of rates from its source files, and compares.

    derive.py SOURCES PACKAGE

Swaps, forward starts and the path of SONIA come from QuantLib's curve. Spreads, summaries and
scenarios come from the formulas of docs/reference/rates.md, which this file writes without the
program's code and computes in decimals. It prints a figure that only one side has, and one that
differs by more than is allowed. The exit code is then 1.
"""

import csv
import glob
import math
import os
import statistics
import sys
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, Decimal

import duckdb
import QuantLib as ql

TENTH_OF_BP = 0.001  # percentage points
EXACT = 0.0
# Results are rounded to six places of a basis point. QuantLib's par rate differs in its thirteenth
# digit, so that a result between two places may be rounded the other way.
PLACES = {"spread": 6, "scenarios": 8}
SPREAD = 1.01e-6  # basis points: one unit of the last place
SCENARIO = 2.01e-8  # percentage points: one unit of the spread, and one of the sum

PRODUCTS = {
    "IUMZICQ": ("owner_occupied_fixed_2y_60ltv", 2, 60),
    "IUMBV34": ("owner_occupied_fixed_2y_75ltv", 2, 75),
    "IUMZICR": ("owner_occupied_fixed_2y_85ltv", 2, 85),
    "IUMB482": ("owner_occupied_fixed_2y_90ltv", 2, 90),
    "IUM2WTL": ("owner_occupied_fixed_2y_95ltv", 2, 95),
    "IUMBV37": ("owner_occupied_fixed_3y_75ltv", 3, 75),
    "IUMZO27": ("owner_occupied_fixed_5y_60ltv", 5, 60),
    "IUMBV42": ("owner_occupied_fixed_5y_75ltv", 5, 75),
    "IUMZO28": ("owner_occupied_fixed_5y_90ltv", 5, 90),
    "IUMBV45": ("owner_occupied_fixed_10y_75ltv", 10, 75),
    "IUMZO29": ("btl_fixed_2y_60ltv", 2, 60),
    "IUMZID4": ("btl_fixed_2y_75ltv", 2, 75),
    "IUMZO2A": ("btl_fixed_5y_60ltv", 5, 60),
    "IUMZO2B": ("btl_fixed_5y_75ltv", 5, 75),
    "IUMBV48": ("owner_occupied_variable_2y_75ltv", None, 75),
    "IUMTLMV": ("mortgage_reversion", None, None),
}
SHIFTS = {
    "market_implied": Decimal("0"),
    "unchanged": None,
    "plus_50bp": Decimal("0.5"),
    "plus_100bp": Decimal("1"),
    "plus_200bp": Decimal("2"),
    "minus_50bp": Decimal("-0.5"),
    "minus_100bp": Decimal("-1"),
    "stress": Decimal("3"),
}
# Dates on which months are whole and thirtieths of a month exact. QuantLib's year fractions are
# then whole twelfths whatever the day of the snapshot.
ORIGIN = ql.Date(1, 1, 2001)
COUNT = ql.Thirty360(ql.Thirty360.BondBasis)
LAST_HORIZON = 120


def database(folder):
    """Returns values by code and day."""
    series = {}
    for path in glob.glob(os.path.join(folder, "*.csv")):
        with open(path, newline="") as file:
            rows = csv.reader(file)
            header = next(rows)
            if header[0] != "DATE":
                continue
            for row in rows:
                day = datetime.strptime(row[0], "%d %b %Y").date()
                for code, text in zip(header[1:], row[1:]):
                    if text:
                        series.setdefault(code, {})[day] = Decimal(text)
    return series


def spot_curves(folder):
    """Returns nodes of the OIS spot curve by day."""
    curves = {}
    with open(os.path.join(folder, "synthetic-ois_spot_curve.csv"), newline="") as file:
        rows = csv.reader(file)
        months = [int(cell) for cell in next(rows)[1:]]
        for row in rows:
            nodes = {m: float(text) for m, text in zip(months, row[1:]) if text}
            curves[date.fromisoformat(row[0])] = nodes
    return curves


class Curve:
    """One snapshot as a QuantLib curve."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.known = [0] + sorted(nodes)
        dates = [ORIGIN + ql.Period(m, ql.Months) for m in self.known]
        factors = [math.exp(-nodes.get(m, 0.0) / 100 * m / 12) for m in self.known]
        self.curve = ql.NaturalLogCubicDiscountCurve(dates, factors, COUNT)
        self.handle = ql.YieldTermStructureHandle(self.curve)

    def reaches(self, month):
        """Reports whether the month is a node or lies between two at most half a year apart."""
        if month in self.nodes or month == 0:
            return True
        above = [m for m in self.known if m > month]
        below = [m for m in self.known if m < month]
        return bool(above) and above[0] - below[-1] <= 6

    def factor(self, month):
        return self.curve.discount(ORIGIN + ql.Period(month, ql.Months))

    def par(self, start, years):
        ends = [start + 12 * year for year in range(1, years + 1)]
        if not all(self.reaches(m) for m in [start, *ends]):
            return None
        return 100 * (self.factor(start) - self.factor(ends[-1])) / sum(map(self.factor, ends))

    def month(self, start):
        if not (self.reaches(start) and self.reaches(start + 1)):
            return None
        begin = ORIGIN + ql.Period(start, ql.Months)
        end = ORIGIN + ql.Period(start + 1, ql.Months)
        return 100 * self.curve.forwardRate(begin, end, COUNT, ql.Simple).rate()

    def swap(self, start, years):
        """Returns the fair rate of QuantLib's own swap object."""
        ql.Settings.instance().evaluationDate = ORIGIN
        free = ql.NullCalendar()
        index = ql.IborIndex("year", ql.Period(1, ql.Years), 0, ql.GBPCurrency(), free, ql.Unadjusted, False, COUNT, self.handle)
        begin = ORIGIN + ql.Period(start, ql.Months)
        end = begin + ql.Period(years, ql.Years)
        schedule = ql.Schedule(begin, end, ql.Period(1, ql.Years), free, ql.Unadjusted, ql.Unadjusted, ql.DateGeneration.Forward, False)
        swap = ql.VanillaSwap(ql.Swap.Payer, 1.0, schedule, 0.0, COUNT, schedule, index, 0.0, COUNT)
        swap.setPricingEngine(ql.DiscountingSwapEngine(self.handle))
        return 100 * swap.fairRate()


def places(dataset):
    """Returns how many decimal places a dataset's values have at most, if they are rounded."""
    ends = [number for name, number in PLACES.items() if dataset.endswith(name) or f"_{name}_" in dataset]
    return ends[0] if ends else None


def round_value(value, number):
    """Rounds half to even."""
    return value.quantize(Decimal(1).scaleb(-number), ROUND_HALF_EVEN)


def month_end(day):
    following = date(day.year + day.month // 12, day.month % 12 + 1, 1)
    return date.fromordinal(following.toordinal() - 1)


def derive_series(folder):
    """Returns figures by dataset: (selectors and dimensions, period) to value and tolerance."""
    series, spots = database(folder), spot_curves(folder)
    curves = {day: Curve(nodes) for day, nodes in spots.items()}
    want = {}

    def put(dataset, allowed, metric, period, value, product=None, scenario=None, term=None, horizon=None, ltv=None):
        if value is not None:
            key = (dataset, metric, product, scenario, term, horizon, ltv, period)
            want[key] = (float(value), allowed)

    for day, curve in curves.items():
        for years in (1, 2, 3, 5, 7, 10, 15, 20, 25):
            exact = all(12 * year in curve.nodes for year in range(1, years + 1))
            value = curve.swap(0, years) if exact else None
            put("indicative_swap_rates", TENTH_OF_BP, "rate_pct", day, value, term=years)
        for years in (2, 3, 5, 10):
            for start in range(LAST_HORIZON + 1):
                put("forward_starting_swap_rates", TENTH_OF_BP, "rate_pct", day, curve.par(start, years), term=years, horizon=start)
        for start in range(LAST_HORIZON + 1):
            put("sonia_forward_path", TENTH_OF_BP, "rate_pct", day, curve.month(start), horizon=start)

    bank = series["IUDBEDR"]
    spreads, reversion = {}, {}
    for code, (product, term, ltv) in PRODUCTS.items():
        for day, rate in series[code].items():
            end = month_end(day)
            put("mortgage_benchmarks", EXACT, "rate_pct", end.replace(day=1), rate, product=product, term=term, ltv=ltv)
            if term:
                inside = [d for d in curves if d.replace(day=1) == end.replace(day=1)]
                par = curves[max(inside)].par(0, term) if inside else None
                if par is not None:
                    spreads.setdefault(product, {})[end] = round_value((rate - Decimal(par)) * 100, 6)
            elif product == "mortgage_reversion":
                inside = [d for d in bank if d.replace(day=1) == end.replace(day=1)]
                if inside:
                    reversion[end] = round_value((rate - bank[max(inside)]) * 100, 6)
    shape = {product: (term, ltv) for product, term, ltv in PRODUCTS.values()}
    for product, months in spreads.items():
        term, ltv = shape[product]
        for end, value in months.items():
            put("mortgage_swap_spread", SPREAD, "spread_bp", end.replace(day=1), value, product=product, term=term, ltv=ltv)
        recent = [months[end] for end in sorted(months)[-12:]]
        summary = {"latest": recent[-1], "mean": statistics.mean(recent), "median": statistics.median(recent)}
        for name, value in summary.items():
            put("mortgage_spread_summary", SPREAD, f"{name}_spread_bp", max(months).replace(day=1), round_value(value, 6), product=product, term=term, ltv=ltv)
    for end, value in reversion.items():
        put("mortgage_reversion_spread", EXACT, "spread_bp", end.replace(day=1), value)

    snapshot = max(curves)
    curve, today = curves[snapshot], bank[snapshot]
    known = lambda months: months[max(end for end in months if end <= snapshot)] / 100
    for scenario, shift in SHIFTS.items():
        for start in range(LAST_HORIZON + 1):
            now, then = curve.month(0), curve.month(start)
            if now is not None and then is not None:
                rate = today if shift is None else today + Decimal(then) - Decimal(now) + shift
                allowed = EXACT if shift is None else SCENARIO
                put("bank_rate_scenarios", allowed, "rate_pct", snapshot, round_value(rate, 8), scenario=scenario, horizon=start)
                reverting = round_value(rate + known(reversion), 8)
                put("mortgage_reversion_scenarios", allowed, "rate_pct", snapshot, reverting, scenario=scenario, horizon=start)
            for product, months in spreads.items():
                term, ltv = shape[product]
                btl = product.startswith("btl_")
                if term not in ((2, 5) if btl else (2, 5, 10)):
                    continue
                spot, forward = curve.par(0, term), curve.par(start, term)
                if forward is None or spot is None:
                    continue
                swap = Decimal(spot) if shift is None else Decimal(forward) + shift
                dataset = "btl_refinancing_scenarios" if btl else "financing_stress_scenarios"
                put(dataset, SCENARIO, "rate_pct", snapshot, round_value(swap + known(months), 8), scenario=scenario, term=term, horizon=start, ltv=ltv)
    # QuantLib's swap object at later starts, for one snapshot: the formula is not trusted alone.
    for years in (2, 3, 5, 10):
        for start in range(0, LAST_HORIZON + 1, 7):
            par = curve.par(start, years)
            if par is not None:
                assert abs(curve.swap(start, years) - par) < 1e-9, (start, years)
    return want


def load_observations(package):
    """Returns every figure of the datasets that are derived."""
    path = lambda name: os.path.join(package, name)
    rows = duckdb.sql(
        f"""
        select s.dataset, s.metric, s.mortgage_product, s.scenario, s.term_years, s.horizon_month, s.ltv_pct,
               o.period, o.value
        from read_parquet('{path("series.parquet")}') s join read_parquet('{path("observations.parquet")}') o using (series)
        where s.tenor_months is null
          and s.dataset not in ('bank_rate', 'sonia_overnight', 'sonia_compounded_index')
        """
    ).fetchall()
    return {tuple(row[:8]): row[8] for row in rows}


def main(folder, package):
    want, have = derive_series(folder), load_observations(package)
    worst, faults, counts = {}, [], {}
    for key in want.keys() | have.keys():
        counts[key[0]] = counts.get(key[0], 0) + 1
        if key not in have or key not in want:
            faults.append(f"{key}: only {'derived' if key in want else 'in the package'}")
            continue
        value, allowed = want[key]
        difference = abs(value - have[key])
        worst[key[0]] = max(worst.get(key[0], 0.0), difference)
        if not difference <= allowed:
            faults.append(f"{key}: {have[key]} in the package, {value} derived")
        most = places(key[0])
        if most is not None and Decimal(repr(have[key])) != round_value(Decimal(repr(have[key])), most):
            faults.append(f"{key}: {have[key]} has more than {most} decimal places")
    for dataset in sorted(counts):
        print(f"{dataset:30} {counts[dataset]:8} figures, worst difference {worst.get(dataset, 0.0):.1e}")
    for fault in sorted(faults)[:20]:
        print(fault)
    print(f"{len(faults)} faults in {len(want)} figures")
    return 1 if faults or not want else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
