// Series: cursors, pins, and what an observation keeps.

import assert from "node:assert/strict";
import { test } from "node:test";
import { json, scripted } from "./support.js";

function page(periods: string[], cursor: string | null) {
  const observations = periods.map((period) => ({ period, status: "new_status", value: 0 }));
  const head = { series_id: "s", basis: "new_basis", metric: "m", unit: "u", extra: 1 };
  const release = { dataset: "bank_rate", release_id: "r1", next_cursor: cursor };
  return json(200, { ...release, series: [{ ...head, observations }] });
}

test("a selection is read to its last page, by cursors alone", async () => {
  const { client, requests } = scripted([
    page(["a", "b"], "c1"),
    page([], "c2"),
    page(["c"], null),
  ]);
  const periods: string[] = [];
  for await (const row of client.rates.series({ dataset: "bank_rate", from: "2026-01-01" })) {
    periods.push(row.observation.period);
    assert.deepEqual([row.series.basis, row.observation.status], ["new_basis", "new_status"]);
    assert.deepEqual([row.observation.value, row.releaseId, row.dataset], [0, "r1", "bank_rate"]);
    assert.ok(!("observations" in row.series));
  }
  assert.deepEqual(periods, ["a", "b", "c"]);
  assert.deepEqual(
    requests.map(({ path }) => path),
    [
      "/v1/rates/series?dataset=bank_rate&from=2026-01-01",
      "/v1/rates/series?cursor=c1",
      "/v1/rates/series?cursor=c2",
    ],
  );
});

test("pages are asked for one by one", async () => {
  const { client, requests } = scripted([page(["a"], "c1"), page(["b"], null)]);
  for await (const _ of client.markets.pages({ dataset: "market_activity", area: "E1" })) {
    break;
  }
  assert.equal(requests.length, 1);
});

test("a series without observations is in its page", async () => {
  const head = { series_id: "s", availability: { status: "suppressed", from: null, to: null } };
  const { client } = scripted([
    json(200, { series: [head], notice: { code: "new" }, next_cursor: null }),
  ]);
  const pages = client.rates.pages({ dataset: "bank_rate" });
  const { value } = await pages.next();
  assert.equal(value?.series[0]?.availability.status, "suppressed");
  assert.equal(value?.notice?.code, "new");
});

test("a pinned session names its release in each query but not beside a cursor", async () => {
  const { client, requests } = scripted([
    json(200, { release_id: "r9" }),
    page(["a"], "c1"),
    page(["b"], null),
    json(200, {}),
    json(200, {}),
    json(200, {}),
  ]);
  const markets = await client.markets.pin();
  assert.equal(markets.releaseId, "r9");
  for await (const row of markets.series({ dataset: "market_activity", area: "E1" })) {
    assert.ok(row);
  }
  await markets.coverage({ dataset: "market_activity", area: "E1" });
  await markets.datasets();
  await markets.areas();
  assert.deepEqual(
    requests.map(({ path }) => path),
    [
      "/v1/markets/releases/current",
      "/v1/markets/series?release_id=r9&dataset=market_activity&area=E1",
      "/v1/markets/series?cursor=c1",
      "/v1/markets/coverage?release_id=r9&dataset=market_activity&area=E1",
      "/v1/markets/datasets?release_id=r9",
      "/v1/markets/areas?release_id=r9",
    ],
  );
});

test("a pin on a given release asks for nothing", async () => {
  const { client, requests } = scripted([]);
  assert.equal((await client.rates.pin("r2")).releaseId, "r2");
  assert.equal(requests.length, 0);
});
