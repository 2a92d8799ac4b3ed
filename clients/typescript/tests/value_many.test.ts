// Many rows: how they are split, and what remains if a part fails.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BatchError, type ExistingRow, LimitError } from "../src/index.js";
import { home, json, refusal, scripted, type ScriptedReply, site } from "./support.js";

/** Returns rows with their numbers as references. */
function numbered(count: number, padding = 0): ExistingRow[] {
  return Array.from({ length: count }, (_, index) => ({
    ...home(),
    request_reference: `${index}${"x".repeat(padding)}`,
  }));
}

/** Returns an answer that echoes as many references. */
function results(first: number, count: number): ScriptedReply {
  const rows = Array.from({ length: count }, (_, index) => ({
    status: "valued",
    request_reference: String(first + index),
  }));
  return json(200, { status: "completed", results: rows });
}

/** Returns the number of rows of each request. */
function sizes(requests: { body: unknown }[]): number[] {
  return requests.map(({ body }) => (body as { requests: unknown[] }).requests.length);
}

test("rows are sent 2,500 at a time and come back in order", async () => {
  const rows = numbered(5_001);
  const answers = [results(0, 2_500), results(2_500, 2_500), results(5_000, 1)];
  const { client, requests } = scripted(answers);
  let expected = 0;
  for await (const { index, row, result } of client.valueMany(rows)) {
    assert.equal(index, expected);
    assert.equal(row, rows[index]);
    assert.equal(result.request_reference, String(index));
    expected += 1;
  }
  assert.equal(expected, 5_001);
  assert.deepEqual(sizes(requests), [2_500, 2_500, 1]);
});

test("a request has at most 9,500,000 bytes, its envelope included", async () => {
  // Each row has more than 4 MB in two-byte characters, so that a third does not fit.
  const rows = numbered(3).map((row) => ({ ...row, request_reference: "é".repeat(2_200_000) }));
  const options = { include_comparables: true };
  const { client, requests } = scripted([results(0, 2), results(2, 1)]);
  for await (const { row } of client.valueMany(rows, { options })) {
    assert.ok(row);
  }
  assert.deepEqual(sizes(requests), [2, 1]);
  for (const { body } of requests) {
    assert.ok(new TextEncoder().encode(JSON.stringify(body)).length <= 9_500_000);
    assert.deepEqual((body as { options: unknown }).options, options);
  }
});

test("a request that fills the limit to the byte is sent whole", async () => {
  const [first, second] = numbered(2);
  const fill = (size: number): ExistingRow[] => [
    { ...first, request_reference: "x".repeat(size) } as ExistingRow,
    second as ExistingRow,
  ];
  const empty = JSON.stringify({ requests: fill(0) }).length;
  const full = scripted([results(0, 2)]);
  for await (const _ of full.client.valueMany(fill(9_500_000 - empty))) {
    assert.equal(JSON.stringify(full.requests[0]?.body).length, 9_500_000);
  }
  const over = scripted([results(0, 1), results(1, 1)]);
  for await (const _ of over.client.valueMany(fill(9_500_001 - empty))) {
    assert.ok(over.requests.length > 0);
  }
  assert.deepEqual(sizes(over.requests), [1, 1]);
});

test("a request that is too large for the service is halved, and the next are as small", async () => {
  const tooLarge = refusal(413, "response_too_large", false);
  const parts = [3, 3, 3, 1, 2].map((count, part) =>
    results(3 * part - (part === 4 ? 2 : 0), count),
  );
  const { client, requests } = scripted([tooLarge, tooLarge, ...parts]);
  const references: (string | undefined)[] = [];
  for await (const { result } of client.valueMany(numbered(12), { rowsPerRequest: 10 })) {
    references.push(result.request_reference);
  }
  assert.deepEqual(
    references,
    Array.from({ length: 12 }, (_, index) => String(index)),
  );
  assert.deepEqual(sizes(requests), [10, 5, 3, 3, 3, 1, 2]);
});

test("a row that is too large alone is an error with its index", async () => {
  const answers = [results(0, 1), refusal(413, "body_too_large", false)];
  const { client } = scripted(answers);
  const seen: number[] = [];
  const error = await (async () => {
    for await (const { index } of client.valueMany(numbered(2), { rowsPerRequest: 1 })) {
      seen.push(index);
    }
    return undefined;
  })().catch((reason: unknown) => reason);
  assert.ok(error instanceof BatchError);
  assert.deepEqual([seen, error.firstRow, error.rowCount], [[0], 1, 1]);
});

test("a part that fails names its rows and keeps its error", async () => {
  const answers = [
    results(0, 2),
    ...Array.from({ length: 5 }, () => refusal(429, "rate_limited", true)),
  ];
  const { client } = scripted(answers);
  const rows = client.valueMany(numbered(4), { rowsPerRequest: 2 });
  await rows.next();
  await rows.next();
  const error = await rows.next().catch((reason: unknown) => reason);
  assert.ok(error instanceof BatchError && error.cause instanceof LimitError);
  assert.deepEqual([error.firstRow, error.rowCount], [2, 2]);
});

test("an answer with another number of results is an error", async () => {
  const { client } = scripted([results(0, 1)]);
  await assert.rejects(client.valueMany(numbered(2)).next(), BatchError);
});

test("rows may come one after the other, and none is read ahead of its request", async () => {
  let read = 0;
  async function* rows(): AsyncGenerator<ExistingRow, void> {
    for (const row of numbered(5)) {
      read += 1;
      yield row;
    }
  }
  const { client } = scripted([results(0, 2), results(2, 2), results(4, 1)]);
  const iterator = client.valueMany(rows(), { mode: "simple", rowsPerRequest: 2 });
  await iterator.next();
  assert.equal(read, 3);
  await iterator.return();
});

test("each mode has its own route", async () => {
  const { client, requests } = scripted([results(0, 1), results(0, 1), results(0, 1)]);
  for (const mode of ["simple", "standard"] as const) {
    await client.valueMany([home()], { mode }).next();
  }
  await client.valueMany([site()], { mode: "development" }).next();
  assert.deepEqual(
    requests.map(({ path }) => path),
    ["/v3/simple-batch-value", "/v3/batch-value", "/v3/development-batch-value"],
  );
});
