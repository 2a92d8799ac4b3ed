"""Re-derives every observation of a markets package in SQL, from the publishers' own files.

Only one thing is taken from the builder: the certificate of each sale (its --matches table).
Address matching is tested by itself. Prints one line a metric with the number of observations
compared; exits 1 where one differs, is missing or is too many.
"""

import argparse
import csv
import datetime
import hashlib
import itertools
import pathlib
import re
import sys
import tempfile
import zipfile

import duckdb

EXACT = {"sales_count", "sales_value_gbp", "new_build_sales_count", "deliveries_count", "developments_count", "monthly_rent_gbp"}
OFFICIAL = "id price day postcode type new tenure paon saon street locality town district county category last".split()
LINKED = "id price day postcode type new tenure saon paon street locality town district county category last".split()
HEADINGS = {
    "transaction_id": "id", "unique_id": "id", "price": "price", "price_paid": "price", "date": "day", "deed_date": "day",
    "postcode": "postcode", "property_type": "type", "new_build_flag": "new", "new_build": "new", "tenure_type": "tenure",
    "estate_type": "tenure", "paon": "paon", "saon": "saon", "street": "street", "district": "district",
    "ppd_category": "category", "transaction_category": "category", "record_status": "last", "linked_data_uri": "last",
}


def month(text):
    year, number = text.split("-")[:2]
    return int(year) * 12 + int(number) - 1


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def postcode(text):
    compact = re.sub(r"\s", "", text).upper()
    form = r"([A-Z][0-9]|[A-Z][0-9][A-Z]|[A-Z][0-9]{2}|[A-Z]{2}[0-9]|[A-Z]{2}[0-9][A-Z]|[A-Z]{2}[0-9]{2})[0-9][A-Z]{2}"
    return f"{compact[:-3]} {compact[-3:]}" if re.fullmatch(form, compact) else None


def day(text):
    try:
        return datetime.date.fromisoformat(text[:10]) if len(text) >= 10 else None
    except ValueError:
        return None


def sales_of(path):
    """Yields the sound rows of one price paid file, in its order."""
    rows = csv.reader(open(path, encoding="utf-8-sig", newline=""))
    first = next(rows)
    names = [HEADINGS.get(re.sub(r"[^a-z]+", "_", name.lower()).strip("_")) for name in first]
    if "price" not in names:
        names, rows = OFFICIAL, itertools.chain([first], rows)
    for row in rows:
        if len(row) != len(names):
            continue
        row = [cell.strip() for cell in row]
        sale = dict(zip(names, row))
        if names[-1] == "last" and len(names) == 16 and not sale["last"].startswith("http") and names == LINKED_NAMES:
            sale = dict(zip(OFFICIAL, row))
        when, code = day(sale["day"]), postcode(sale["postcode"])
        change = "A" if sale["last"].startswith("http") else sale["last"]
        # A postcode that cannot be read counts as none.
        sound = (
            re.fullmatch(r"[0-9]+", sale["price"]) and 0 < int(sale["price"]) < 2**32 and when and when.year >= 1970
            and sale["type"] in "DSTFO" and sale["type"] and sale["new"] in ("Y", "N")
            and sale["tenure"] in ("F", "L", "U") and sale["category"] in ("A", "B") and change in ("A", "C", "D") and sale["id"]
        )
        if sound:
            yield [sale["id"].strip("{}"), int(sale["price"]), when, code, sale["type"], sale["new"] == "Y", sale["category"],
                   change, sale["saon"], sale["paon"], sale["street"], sale["district"]]


LINKED_NAMES = [HEADINGS.get(name, None) for name in
                "unique_id price_paid deed_date postcode property_type new_build estate_type saon paon street locality town district county transaction_category linked_data_uri".split()]


class Areas:
    def __init__(self, areas, codes):
        read = lambda path: list(csv.DictReader(open(path, encoding="utf-8-sig", newline="")))
        self.current = {row["LADCD"]: row["LADCD_ACTIVE"] for row in read(codes)}
        rows = {row["LADCD"]: row for row in read(codes)}
        measured = {}
        for path in areas:
            for row in read(path):
                code = next(value for key, value in row.items() if re.fullmatch(r"LAD[0-9]+CD", key))
                if code[0] in "EW":
                    measured[code] = (next(v for k, v in row.items() if re.fullmatch(r"LAD[0-9]+NM", k)), float(row["AREALHECT"]))
        self.hectares, self.names = {}, {}
        for code, (name, hectares) in measured.items():
            now = self.current.get(code, code)
            if now in measured and now != code:
                continue
            self.hectares[now] = self.hectares.get(now, 0) + hectares
            self.names.setdefault(self.plain(name), set()).add(now)
        self.region = {}
        past = {}
        for code, row in rows.items():
            now = row["LADCD_ACTIVE"]
            if now not in self.hectares:
                continue
            self.region.setdefault(now, "W92000004" if now[0] == "W" else row["RGNCD"])
            for name in (row["LADNM"], row["LADNM_ACTIVE"]):
                self.names.setdefault(self.plain(name), set()).add(now)
            if code != now:
                past.setdefault(now, []).append(code)
        for code in self.hectares:
            if code in rows:
                self.region[code] = "W92000004" if code[0] == "W" else rows[code]["RGNCD"]
        self.parts = {code for codes in past.values() if len(codes) > 1 for code in codes}

    @staticmethod
    def plain(name):
        return " ".join(word for word in re.split(r"[^A-Z]+", name.upper()) if word and word not in ("AND", "CITY", "COUNTY", "OF", "THE", "UA"))

    def of_code(self, code):
        now = self.current.get(code, code)
        return now if now in self.hectares else None

    def of_whole(self, code):
        return None if code in self.parts else self.of_code(code)

    def of_district(self, name):
        found = self.names.get(self.plain(name), ())
        return next(iter(found)) if len(found) == 1 else None


def code_point(paths):
    for path in paths:
        archive = zipfile.ZipFile(path)
        for name in archive.namelist():
            if name.lower().startswith("data/csv/"):
                for row in csv.reader(archive.read(name).decode().splitlines()):
                    if row[1] != "90":
                        yield postcode(row[0]), row[8]


def rents_of(path):
    """Yields (window, area code, group, month, rent) of a workbook in either layout."""
    if path.endswith(".xls"):
        import xlrd
        names = {"all categories": 0, "one bedroom": 1, "two bedrooms": 2, "three bedrooms": 3, "four or more bedrooms": 4}
        for sheet in xlrd.open_workbook(path).sheets():
            cells = [sheet.row_values(row) for row in range(sheet.nrows)]
            above = [str(cell).strip().lower() for row in cells[:6] for cell in row]
            group = next((names[cell] for cell in above if cell in names), None)
            if group is None or "mean" not in [str(cell).lower() for cell in cells[6]]:
                continue
            column = next(at for at, cell in enumerate(cells[6]) if str(cell).startswith("Area Code"))
            mean = cells[6].index("Mean")
            for row in cells[7:]:
                if re.fullmatch(r"[A-Z][0-9]{8}", str(row[column])) and isinstance(row[mean], float):
                    yield 12, row[column], group, month("2023-09"), row[mean]
        return
    import openpyxl
    sheet = openpyxl.load_workbook(path, data_only=True)["Table 1"]
    rows = sheet.iter_rows(values_only=True)
    names = next(list(row) for row in rows if row[0] == "Time period")
    heads = ["Rental price", "Rental price one bed", "Rental price two bed", "Rental price three bed", "Rental price four or more bed"]
    for row in rows:
        for group, head in enumerate(heads):
            value = row[names.index(head)]
            if isinstance(value, (int, float)):
                yield 1, row[names.index("Area code")], group, row[0].year * 12 + row[0].month - 1, float(value)


def load(con, table, columns, rows):
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NOTNULL if hasattr(csv, "QUOTE_NOTNULL") else csv.QUOTE_MINIMAL)
        writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
        file.flush()
        kinds = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
        con.execute(f"create table {table} as select * from read_csv('{file.name}', header=false, delim=',', quote='\"', "
                    f"escape='\"', nullstr='', columns={{{kinds}}})")


def sources(con, given):
    areas = Areas(given.areas, given.codes)
    load(con, "area", {"area": "varchar", "km2": "double"}, [(code, hectares / 100) for code, hectares in areas.hectares.items()])
    load(con, "live", {"postcode": "varchar", "area": "varchar"},
         [(code, areas.of_code(dc)) for code, dc in code_point(given.code_point) if code and areas.of_code(dc)])
    files = []
    for path in given.price_paid:
        rows = list(sales_of(path))
        files.append((max((row[2] for row in rows), default=datetime.date.min), sha256(path), path, rows))
    files.sort(key=lambda file: file[:2])
    load(con, "ppd", {"file_order": "integer", "n": "integer", "file": "varchar", "id": "varchar", "price": "bigint", "day": "date",
                      "postcode": "varchar", "type": "varchar", "new": "boolean", "category": "varchar", "change": "varchar",
                      "saon": "varchar", "paon": "varchar", "street": "varchar", "district": "varchar", "by_name": "varchar"},
         ([order, n, pathlib.Path(path).name, *row, areas.of_district(row[-1])]
          for order, (_, _, path, rows) in enumerate(files) for n, row in enumerate(rows)))
    con.execute(f"create table matched as select *, row_number() over () as line from read_csv('{given.matches}', header=true, all_varchar=true)")
    con.execute("""create table tx as select * exclude (rank) from (
        select *, row_number() over (partition by id order by file_order desc, n desc) as rank from ppd) where rank = 1 and change <> 'D'""")
    con.execute("""create table candidate as select tx.*, coalesce(live.area, by_name) as area, year(day) * 12 + month(day) - 1 as m
        from tx left join live using (postcode) where category = 'A' and type <> 'O' and coalesce(live.area, by_name) is not null""")
    first, newest = con.execute("select min(m), max(m) from candidate").fetchone()
    release = month(given.release_month) if given.release_month else newest + 1
    core = release - 3
    if given.covers:
        spans = []
        for text in given.covers:
            code, start, end = text.split(":")
            spans.append((areas.of_whole(code), month(start), min(month(end), core)))
    else:
        spans = [(code, first, core) for code in areas.hectares]
    load(con, "span", {"area": "varchar", "first": "integer", "last": "integer"}, spans)
    hpi = []
    for path in given.house_price_index:
        rows = []
        for row in csv.DictReader(open(path, encoding="utf-8-sig", newline="")):
            when = row["Date"] if "-" in row["Date"] else "-".join(reversed(row["Date"].split("/")))
            if row["Index"]:
                code = row["AreaCode"]
                rows.append((areas.of_whole(code) or code, month(when), float(row["Index"])))
        hpi.append((max(row[1] for row in rows), sha256(path), rows))
    index = {}
    for _, _, rows in sorted(hpi, key=lambda file: file[:2]):
        for code, m, value in rows:
            index.setdefault(code, {})[m] = value
    chosen = []
    for code, start, last in spans:
        chain = [code, areas.region.get(code), "W92000004" if code[0] == "W" else "E92000001"]
        taken = next((c for c in chain if any(start <= m <= last for m in index.get(c, {}))), None)
        chosen += [(code, m, repr(value)) for m, value in index.get(taken, {}).items()]
    load(con, "idx", {"area": "varchar", "m": "integer", "v": "double"}, chosen)
    rents = [(window, areas.of_whole(code), group, m, repr(gbp)) for path in given.rents for window, code, group, m, gbp in rents_of(path) if areas.of_whole(code)]
    load(con, "rent", {"w": "integer", "area": "varchar", "g": "integer", "m": "integer", "gbp": "double"}, sorted(set(rents)))


SQL = """
create table one_match as select * from (
    select *, row_number() over (partition by file, transaction_id order by line desc) as rank from matched) where rank = 1;

create table s as
select c.area, c.m, c.id, c.day, c.price, c.new, c.postcode, c.district, c.saon, c.paon, c.street,
    case c.type when 'D' then 'detached' when 'S' then 'semi_detached' when 'T' then 'terraced' else 'flat' end as t,
    cast(floor_area_hundredths_m2 as bigint) as fa,
    greatest(c.m, year(cast(floor_area_lodged as date)) * 12 + month(cast(floor_area_lodged as date)) - 1) as fa_m,
    case when habitable_rooms is not null then
        least(4, greatest(1, cast(habitable_rooms as integer) - case when c.type <> 'F' and cast(habitable_rooms as integer) > 4 then 2 else 1 end)) end as beds,
    greatest(c.m, year(cast(rooms_lodged as date)) * 12 + month(cast(rooms_lodged as date)) - 1) as beds_m
from candidate c join span on span.area = c.area and c.m between span.first and span.last
left join one_match o on o.file = c.file and o.transaction_id = c.id;

create table ends as
select area, unnest(generate_series(first, last)) as e, first from span where last >= first;
create table types as select unnest(['all', 'detached', 'semi_detached', 'terraced', 'flat']) as t;
create table expected (dataset varchar, metric varchar, area varchar, sel varchar, m integer, value double);

create table act as
select ends.area, types.t, e, count(s.id) as n, coalesce(sum(s.price), 0) as v,
    count(s.id) filter (s.fa is not null and s.fa_m <= e) as fn,
    sum(s.price) filter (s.fa is not null and s.fa_m <= e) as fp,
    sum(s.fa) filter (s.fa is not null and s.fa_m <= e) as fa
from ends cross join types
left join s on s.area = ends.area and s.m between e - 11 and e and (types.t = 'all' or s.t = types.t)
where e >= first + 11 group by all;
insert into expected select 'market_activity', 'sales_count', area, t, e, n from act;
insert into expected select 'market_activity', 'sales_value_gbp', area, t, e, v from act where n = 0 or n >= 5;
insert into expected select 'market_activity', 'sales_value_per_km2_gbp', area, t, e, v / km2 from act join area using (area) where n = 0 or n >= 5;
insert into expected select 'market_activity', 'sales_share_pct', a.area, a.t, a.e, 100.0 * a.n / b.n
    from act a join act b on b.area = a.area and b.e = a.e and b.t = 'all' where b.n > 0;
insert into expected select 'market_activity', 'price_per_sqm_gbp', area, t, e, fp / (fa / 100.0) from act where fn >= 10;

create table bands as select * from (values
    ('under_100k', 0, 100000), ('100k_to_150k', 100000, 150000), ('150k_to_200k', 150000, 200000), ('200k_to_250k', 200000, 250000),
    ('250k_to_300k', 250000, 300000), ('300k_to_400k', 300000, 400000), ('400k_to_500k', 400000, 500000),
    ('500k_to_750k', 500000, 750000), ('750k_to_1m', 750000, 1000000), ('1m_plus', 1000000, 1e18)) v(b, low, high);
create table banded as
select ends.area, b, e, count(s.id) as n from ends cross join bands
left join s on s.area = ends.area and s.m between e - 11 and e and s.price >= low and s.price < high
where e >= first + 11 group by all;
insert into expected select 'price_bands', 'sales_count', area, b, e, n from banded;
insert into expected select 'price_bands', 'sales_share_pct', b.area, b.b, b.e, 100.0 * b.n / a.n
    from banded b join act a on a.area = b.area and a.e = b.e and a.t = 'all' where a.n > 0;

create table groups as select * from (values (0, 'all'), (1, '1'), (2, '2'), (3, '3'), (4, '4_plus')) v(g, name);
create table capital as
select ends.area, g, e, count(s.id) as n, sum(s.price / i.v) * any_value(last.v) / nullif(count(s.id), 0) as value,
    count(s.id) filter (i.v is null) as unindexed, any_value(last.v) as at_end
from ends cross join groups
left join s on s.area = ends.area and s.m between e - 23 and e and (g = 0 or (s.beds = g and s.beds_m <= e))
left join idx i on i.area = s.area and i.m = s.m
left join idx last on last.area = ends.area and last.m = e
where e >= first + 23 group by all;
create table valued as select * from capital where n >= 5 and unindexed = 0 and at_end is not null;
insert into expected select 'rental_market', 'property_value_gbp', area, name, e, value from valued join groups using (g);
insert into expected select 'rental_market', 'monthly_rent_gbp', area, name, m, gbp from rent join groups using (g);
insert into expected select 'rental_market', 'gross_yield_pct', r.area, name, r.m, 12 * r.gbp / value * 100
    from rent r join groups using (g) join span on span.area = r.area
    join valued v on v.area = r.area and v.g = r.g and v.e = least(r.m, span.last) where r.m - v.e <= 2;

create table sides as
select ends.area, s.t, e, count(s.id) filter (s.new) as nn, sum(s.price) filter (s.new) as nv,
    count(s.id) filter (not s.new) as en, sum(s.price) filter (not s.new) as ev
from ends join s on s.area = ends.area and s.m between e - 35 and e where e >= first + 35 group by all;
create table compared as
select sides.area, types.t, e, sum(nn) as nn, sum(nv) as nv, sum(en) as en, sum(nn * (ev / en)) as ev
from types join sides on types.t in ('all', sides.t) where least(nn, en) >= 5 group by all having least(sum(nn), sum(en)) >= 30;
insert into expected select 'new_build_price_differential', 'price_differential_pct', area, t, e, 100 * (nv / ev - 1) from compared;
insert into expected select 'new_build_price_differential', 'new_build_price_gbp', area, t, e, nv / nn from compared;
insert into expected select 'new_build_price_differential', 'established_price_gbp', area, t, e, ev / nn from compared;
insert into expected select 'new_build_price_differential', 'new_build_sales_count', ends.area, types.t, e, count(s.id)
    from ends cross join types left join s on s.new and s.area = ends.area and s.m between e - 35 and e and (types.t = 'all' or s.t = types.t)
    where e >= first + 35 group by all;

create table newly as
select ends.area, types.t, e, count(s.id) as n from ends cross join types
left join s on s.new and s.area = ends.area and s.m between e - 11 and e and (types.t = 'all' or s.t = types.t)
where e >= first + 11 group by all;
insert into expected select 'new_build_sales_share', 'new_build_sales_count', area, t, e, n from newly;
insert into expected select 'new_build_sales_share', 'new_build_share_pct', w.area, w.t, w.e, 100.0 * w.n / a.n
    from newly w join act a on a.area = w.area and a.t = w.t and a.e = w.e where a.n > 0;

create table delivered as select * exclude (rank) from (
    select area, m, day, t, postcode, id,
        row_number() over (partition by coalesce(postcode, district), coalesce(saon, ''), coalesce(paon, ''), coalesce(street, '') order by day, id) as rank
    from s where new) where rank = 1;
insert into expected select 'new_build_deliveries', 'deliveries_count', ends.area, types.t, e, count(d.id)
    from ends cross join types left join delivered d on d.area = ends.area and d.m between e - 11 and e and (types.t = 'all' or d.t = types.t)
    where e >= first + 11 group by all;

create table runs as
select area, e, postcode, sum(begins) over (partition by area, e, postcode order by day, id rows unbounded preceding) as run from (
    select d.area, e, d.postcode, d.day, d.id,
        case when d.day - lag(d.day) over (partition by d.area, e, d.postcode order by d.day, d.id) <= 180 then 0 else 1 end as begins
    from ends join delivered d on d.area = ends.area and d.m between e - 11 and e where d.postcode is not null);
create table developments as select area, e, count(*) as homes from runs group by area, e, postcode, run having count(*) >= 2;
create table development as
select ends.area, ends.e, count(d.homes) as n, coalesce(sum(d.homes), 0) as homes, coalesce(sum(d.homes) filter (d.homes >= 10), 0) as major
from ends left join developments d on d.area = ends.area and d.e = ends.e where ends.e >= first + 11 group by all;
insert into expected select 'development_deliveries', 'developments_count', area, '', e, n from development;
insert into expected select 'development_deliveries', 'deliveries_count', area, '', e, homes from development;
insert into expected select 'development_deliveries', 'homes_per_development', area, '', e, homes / n from development where n > 0;
insert into expected select 'development_deliveries', 'major_development_share_pct', area, '', e, 100.0 * major / homes from development where homes > 0;
"""


def compare(con, package):
    con.execute(f"""create table actual as
        select dataset, metric, area, coalesce(property_type, bedroom_group, price_band, '') as sel,
            year(period) * 12 + month(period) - 1 as m, value, o.* exclude (series, period, value)
        from '{package}/series.parquet' join '{package}/observations.parquet' o using (series)""")
    con.execute("""create table pair as select dataset, metric, area, sel, m, e.value as wanted, a.value as given
        from expected e full join actual a using (dataset, metric, area, sel, m)""")
    failed = False
    for dataset, metric, n, missing, extra in con.execute("""select dataset, metric, count(*), count(*) filter (given is null),
            count(*) filter (wanted is null) from pair group by all order by all""").fetchall():
        rule = "given <> wanted" if metric in EXACT else "abs(given - wanted) > 1e-9 * greatest(abs(wanted), 1e-9)"
        wrong = con.execute(f"select *, abs(given / wanted - 1) as off from pair where dataset = ? and metric = ? and ({rule} or given is null or wanted is null) "
                            "order by area, sel, m limit 3", [dataset, metric]).fetchall()
        print(f"{dataset} {metric}: {n} compared, {missing} missing, {extra} too many, {'exact' if metric in EXACT else '1e-9'}")
        for row in wrong:
            failed = True
            print("  differs:", row)
    lag = con.execute("""select count(*) from actual where metric = 'gross_yield_pct' and (
        input_month_gap <> date_diff('month', capital_observation_month, rental_observation_month) or input_month_gap not between 0 and 2
        or mixed_vintage <> (input_month_gap > 0) or capital_period_end <> last_day(capital_observation_month)
        or capital_period_start <> capital_observation_month - interval 23 month)""").fetchone()[0]
    gaps = con.execute("select list(distinct input_month_gap order by input_month_gap) from actual where metric = 'gross_yield_pct'").fetchone()[0]
    print(f"input_month_gap: {gaps}, {lag} contradict their months")
    return failed or lag > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("--matches", required=True)
    for name in ["price-paid", "areas", "code-point", "rents", "house-price-index", "covers"]:
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--codes", required=True)
    parser.add_argument("--release-month")
    given = parser.parse_args()
    con = duckdb.connect()
    con.execute("set threads = 2")
    sources(con, given)
    for statement in SQL.split(";\n"):
        if statement.strip():
            con.execute(statement)
    sys.exit(1 if compare(con, given.package) else 0)


main()
