// Uses types that openapi-typescript generated, with openapi-fetch.
//   use_client.js BASE_URL MISSPELT_URL KEY
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import { checkRows, checkUnknownCode, checkUnknownReason, valued } from "./checks.js";
import { home, rows, shared } from "./homes.js";
import type { paths } from "./schema.js";

const [baseUrl, misspeltUrl, key] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}` };
const client = createClient<paths>({ baseUrl, headers });

const one = await client.POST("/v3/value", { body: home("15") });
assert.equal(valued(one.data).comparables, undefined);

const body = { requests: rows(), options: shared };
const batch = await client.POST("/v3/batch-value", { body });
checkRows(batch.data);

const job = await client.POST("/v3/valuation-jobs", { body: { ...body, mode: "standard" } });
assert.equal(job.data?.request_count, 3);
const path = { job_id: job.data?.job_id ?? "" };
for (let attempt = 0; ; attempt += 1) {
  const { data } = await client.GET("/v3/valuation-jobs/{job_id}/results", { params: { path } });
  if (data && "results_url" in data) {
    assert.ok(attempt < 100, data.status);
    await setTimeout(100);
    continue;
  }
  assert.equal(data?.status, "completed");
  checkRows(data?.result);
  break;
}

const stranger = createClient<paths>({ baseUrl: misspeltUrl, headers });
const refused = await stranger.POST("/v3/value", { body: home("999") });
assert.equal(refused.response.status, 422);
checkUnknownCode(refused.error);
const unknown = await stranger.POST("/v3/value", { body: home("15") });
checkUnknownReason(unknown.data);
console.log("a home, a batch, a job and unknown words");
