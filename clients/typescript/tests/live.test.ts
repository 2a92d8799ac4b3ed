// The client against a running server of the demo: DOMESDAY_URL and DOMESDAY_KEY name it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AuthenticationError, Domesday, InvalidRequestError, NotFoundError } from "../src/index.js";
import { demoServer, home, site } from "./support.js";

const server = demoServer();
const client = new Domesday(server);
// Jobs of the demo end within milliseconds, so the tests need not wait as the contract asks.
const soon = { pollSeconds: 0.1, timeoutSeconds: 30 };

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) {
    all.push(item);
  }
  return all;
}

test("a home is valued in each mode", async () => {
  const options = { include_comparables: true, comparables_limit: 2 };
  const standard = await client.value({ ...home(), options });
  assert.ok(standard.status === "valued");
  assert.ok(standard.valuation.estimated_value_gbp > 0);
  assert.equal(standard.comparables?.length, 2);
  const simple = await client.value({ ...home(), options }, { mode: "simple" });
  assert.ok(simple.status === "valued" && simple.comparables === undefined);
  const development = await client.value(site(), { mode: "development" });
  assert.equal(development.status, "valued");
});

test("many rows come back in order, a rejected one among them", async () => {
  const rows = ["15", "999", "15"].map((number, index) => ({
    ...home(number),
    request_reference: `row ${index}`,
  }));
  const results = await collect(client.valueMany(rows, { rowsPerRequest: 2 }));
  assert.deepEqual(
    results.map(({ index, row, result }) => [index, row === rows[index], result.request_reference]),
    [0, 1, 2].map((index) => [index, true, `row ${index}`]),
  );
  assert.deepEqual(
    results.map(({ result }) => result.status),
    ["valued", "rejected", "valued"],
  );
  const sites = await collect(client.valueMany([site()], { mode: "development" }));
  assert.equal(sites[0]?.result.status, "valued");
});

test("a client that starts again finds its job", async () => {
  // A new label for each run of the test, since a key is remembered for 30 days.
  const label = `live-${Date.now()}`;
  const body = { mode: "standard" as const, requests: [home(), home("999")] };
  const job = await client.jobs.submit(body, { label });
  const again = await new Domesday(server).jobs.submit(body, { label });
  assert.equal(again.job_id, job.job_id);
  const other = await client.jobs.submit(body, { label: `${label}-b` });
  assert.notEqual(other.job_id, job.job_id);

  const results = await collect(client.jobs.results(job.job_id, soon));
  assert.deepEqual(
    results.map(({ status }) => status),
    ["valued", "rejected"],
  );
  assert.equal((await client.jobs.wait(job.job_id, soon)).status, "completed");
});

test("all pages of a series have the observations of a single page", async () => {
  const query = { dataset: "bank_rate", from: "2026-09-01" } as const;
  const rates = await client.rates.pin();
  const single = await collect(rates.pages(query));
  assert.equal(single.length, 1);
  const rows = await collect(rates.series({ ...query, page_size: 7 }));
  assert.ok(rows.length > 7);
  assert.deepEqual(
    rows.map((row) => row.observation),
    single[0]?.series[0]?.observations,
  );
  for (const row of rows) {
    assert.equal(row.releaseId, rates.releaseId);
    assert.deepEqual(
      [row.series.basis, row.observation.status],
      ["observed", "recorded_revisable"],
    );
  }
});

test("markets have areas, datasets, coverage and series", async () => {
  const markets = await client.markets.pin();
  const { areas } = await markets.areas();
  const area = areas[0]?.code ?? "";
  const { datasets } = await markets.datasets();
  assert.ok(datasets.some(({ dataset }) => dataset === "market_activity"));
  const query = { dataset: "market_activity", area } as const;
  const coverage = await markets.coverage(query);
  assert.ok(coverage.series.every((series) => series.observations === undefined));
  const rows = await collect(markets.series({ ...query, page_size: 1 }));
  assert.ok(rows.length > 1);
  assert.ok(rows.every((row) => row.observation.period_end));
});

test("a release that does not exist is an error of the release", async () => {
  const pinned = await client.rates.pin("no-such-release");
  await assert.rejects(collect(pinned.series({ dataset: "bank_rate" })), (error) => {
    assert.ok(error instanceof NotFoundError);
    assert.deepEqual([error.code, error.pointer], ["release_not_found", "release_id"]);
    return true;
  });
});

test("the release and the coverage check are read", async () => {
  const release = await client.release();
  assert.ok(release.endpoints.includes("/v3/valuation-jobs"));
  const coverage = await client.coverage("QA1 1AF", "999082968959");
  assert.deepEqual([coverage.postcode.represented, coverage.uprn?.present], [true, true]);
});

test("refusals have their class, code, pointer and request id", async () => {
  const stranger = new Domesday({ ...server, apiKey: "unknown" });
  await assert.rejects(stranger.release(), AuthenticationError);
  const unsound = { ...home(), size: { floor_area_m2: -1 } };
  const error = await client.value(unsound).catch((reason: unknown) => reason);
  assert.ok(error instanceof InvalidRequestError);
  assert.deepEqual([error.code, error.pointer], ["invalid_value", "/size/floor_area_m2"]);
  assert.match(error.requestId ?? "", /^[0-9a-f-]{36}$/);
  await assert.rejects(client.jobs.get("00000000-0000-7000-8000-000000000000"), NotFoundError);
});
