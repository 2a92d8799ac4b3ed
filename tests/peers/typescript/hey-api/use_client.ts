// Uses a client that @hey-api/openapi-ts generated.
//   use_client.js BASE_URL MISSPELT_URL KEY
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { checkRows, checkUnknownCode, checkUnknownReason, valued } from "./checks.js";
import { createClient } from "./client/client/index.js";
import { batchValue, getJobResults, submitJob, value } from "./client/sdk.gen.js";
import { home, rows, shared } from "./homes.js";

const [baseUrl, misspeltUrl, key] = process.argv.slice(2);
const client = createClient({ baseUrl, auth: key });

const one = await value({ client, body: home("15") });
assert.equal(valued(one.data).comparables, undefined);

const body = { requests: rows(), options: shared };
const batch = await batchValue({ client, body });
checkRows(batch.data);

const job = await submitJob({ client, body: { ...body, mode: "standard" } });
assert.equal(job.data?.request_count, 3);
const path = { job_id: job.data?.job_id ?? "" };
for (let attempt = 0; ; attempt += 1) {
  const { data } = await getJobResults({ client, path });
  if (data && "results_url" in data) {
    assert.ok(attempt < 100, data.status);
    await setTimeout(100);
    continue;
  }
  assert.equal(data?.status, "completed");
  checkRows(data?.result);
  break;
}

const stranger = createClient({ baseUrl: misspeltUrl, auth: key });
const refused = await value({ client: stranger, body: home("999") });
assert.equal(refused.response?.status, 422);
checkUnknownCode(refused.error);
const unknown = await value({ client: stranger, body: home("15") });
checkUnknownReason(unknown.data);
console.log("a home, a batch, a job and unknown words");
