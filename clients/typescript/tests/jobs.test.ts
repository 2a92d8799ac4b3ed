// Jobs: keys, polling, and results that arrive in parts.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ConnectionError,
  idempotencyKey,
  JobFailedError,
  type JobRequest,
  JobTimeoutError,
  ResponseError,
  ServiceError,
} from "../src/index.js";
import { home, json, refusal, scripted, type ScriptedReply, sharedFile } from "./support.js";

interface Vector {
  readonly name: string;
  readonly label: string;
  readonly body: JobRequest;
  readonly key: string;
}

const JOB = { job_id: "j", status: "queued" };

/** Returns the job in this status. */
function status(word: string, more: object = {}): ScriptedReply {
  return json(200, { ...JOB, status: word, ...more });
}

/** Returns results that arrive in pieces of as many bytes, and that are lost after some of them. */
function pieces(document: string, size: number, lostAfter = Infinity): ScriptedReply {
  return () => {
    const bytes = new TextEncoder().encode(document);
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= lostAfter) {
          controller.error(new TypeError("terminated"));
        } else if (at >= bytes.length) {
          controller.close();
        } else {
          controller.enqueue(bytes.slice(at, at + size));
          at += size;
        }
      },
    });
    return new Response(body, { status: 200 });
  };
}

/** Returns completed results with these references. */
function completed(references: string[]): string {
  const results = references.map((reference) => ({
    status: "valued",
    request_reference: reference,
    input_resolution: { stored_data_used: [{ field: "é", status: "x" }] },
  }));
  const result = { release_id: "r", status: "completed", summary: {}, results };
  return JSON.stringify({ api_version: "v3", ...JOB, status: "completed", result });
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) {
    all.push(item);
  }
  return all;
}

test("the shared vectors give their keys", async () => {
  const vectors = sharedFile("idempotency-vectors.json") as Vector[];
  assert.ok(vectors.length >= 12);
  for (const { name, label, body, key } of vectors) {
    assert.equal(await idempotencyKey(body, label), key, name);
    assert.match(key, /^[A-Za-z0-9._:-]{1,100}$/);
  }
});

test("an undefined member counts as absent, as it is sent", async () => {
  const body = { requests: [home()] };
  const loose = { ...body, options: undefined } as unknown as JobRequest;
  assert.equal(await idempotencyKey(loose, "a"), await idempotencyKey(body, "a"));
});

test("an unsound label is refused before anything is sent", async () => {
  const { client, requests } = scripted([]);
  for (const label of ["", "x".repeat(36), "a b", "é", "a/b"]) {
    await assert.rejects(client.jobs.submit({ requests: [home()] }, { label }), RangeError, label);
  }
  assert.equal(requests.length, 0);
});

test("a submission is repeated with the same key after a lost connection", async () => {
  const { client, requests } = scripted(["lost", refusal(503, "overloaded", true), json(202, JOB)]);
  const body = { mode: "standard" as const, requests: [home()] };
  assert.equal((await client.jobs.submit(body, { label: "run" })).job_id, "j");
  const sent = requests.map((request) => request.body);
  assert.equal(sent.length, 3);
  const key = await idempotencyKey(body, "run");
  assert.deepEqual(
    sent,
    Array.from({ length: 3 }, () => ({ ...body, idempotency_key: key })),
  );
});

test("a submission without an answer may be charged", async () => {
  const { client } = scripted(["lost", "lost"], { retries: { maxAttempts: 2 } });
  const submission = client.jobs.submit({ requests: [home()] }, { label: "run" });
  await assert.rejects(submission, { name: "ConnectionError", mayBeCharged: true, attempts: 2 });
});

test("a refusal after a lost connection may be charged too", async () => {
  const { client } = scripted(["lost", refusal(500, "internal", false)]);
  const submission = client.jobs.submit({ requests: [home()] }, { label: "run" });
  await assert.rejects(submission, { name: "ServiceError", mayBeCharged: true, attempts: 2 });
  const other = scripted([refusal(500, "internal", false)]).client;
  await assert.rejects(other.value(home()), { name: "ServiceError", mayBeCharged: false });
});

test("wait asks less and less often, and passes an unknown status", async () => {
  const words = ["queued", "paused", "running", "running", "running", "running", "running"];
  const { client, clock } = scripted([...words.map((word) => status(word)), status("completed")]);
  clock.random = () => 0;
  assert.equal((await client.jobs.wait("j")).status, "completed");
  assert.deepEqual(clock.waits, [5_000, 7_500, 11_250, 16_875, 25_312.5, 37_968.75, 56_953.125]);
});

test("a wait between two requests is at most a minute", async () => {
  const { client, clock } = scripted([
    ...Array.from({ length: 9 }, () => status("running")),
    status("completed"),
  ]);
  clock.random = () => 0;
  await client.jobs.wait("j");
  assert.deepEqual(clock.waits.slice(-2), [60_000, 60_000]);
});

test("a failed job is an error with its code", async () => {
  const error = { code: "release_unavailable", message: "m", retryable: true };
  const { client } = scripted([status("failed", { error }), status("failed")]);
  const failure = await client.jobs.wait("j").catch((reason: unknown) => reason);
  assert.ok(failure instanceof JobFailedError);
  assert.deepEqual(
    [failure.jobId, failure.code, failure.retryable],
    ["j", "release_unavailable", true],
  );
  await assert.rejects(client.jobs.wait("j"), JobFailedError);
});

test("a job that does not end in time is an error with its status", async () => {
  const { client, requests } = scripted(Array.from({ length: 9 }, () => status("running")));
  const failure = await client.jobs
    .wait("j", { timeoutSeconds: 20 })
    .catch((reason: unknown) => reason);
  assert.ok(failure instanceof JobTimeoutError);
  assert.deepEqual([failure.jobId, failure.status, requests.length], ["j", "running", 3]);
});

test("results wait for the job and arrive one by one", async () => {
  const incomplete = json(202, { ...JOB, status: "running" }, { "retry-after": "5" });
  const document = completed(["a", "b", "c"]);
  for (const size of [1, 7, 100_000]) {
    const { client, clock } = scripted([incomplete, pieces(document, size)]);
    const results = await collect(client.jobs.results("j"));
    assert.deepEqual(
      results.map((result) => result.request_reference),
      ["a", "b", "c"],
    );
    assert.deepEqual(results, JSON.parse(document).result.results);
    assert.equal(clock.waits.length, 1);
    assert.ok((clock.waits[0] ?? 0) >= 5_000);
  }
});

test("the first result is there before the last one arrives", async () => {
  const { client } = scripted([pieces(completed(["a", "b", "c"]), 1, 300)]);
  const first = await client.jobs.results("j").next();
  assert.equal(first.value?.request_reference, "a");
});

test("results go on where they were after a lost connection", async () => {
  const document = completed(["a", "b", "c", "d"]);
  const second = document.indexOf('"b"');
  const fourth = document.indexOf('"d"');
  const { client, requests } = scripted([
    pieces(document, 16, second),
    "lost",
    pieces(document, 16, fourth),
    pieces(document, 16),
  ]);
  const results = await collect(client.jobs.results("j"));
  assert.deepEqual(
    results.map((result) => result.request_reference),
    ["a", "b", "c", "d"],
  );
  assert.equal(requests.length, 4);
});

test("results that are lost without an end are an error that costs nothing", async () => {
  const document = completed(["a", "b"]);
  const answers = Array.from({ length: 9 }, () => pieces(document, 16, document.indexOf('"b"')));
  const { client, requests } = scripted(answers);
  const error = await collect(client.jobs.results("j")).catch((reason: unknown) => reason);
  assert.ok(error instanceof ConnectionError);
  assert.equal(error.mayBeCharged, false);
  // The first attempt yields a result, so that the count begins anew after it.
  assert.equal(requests.length, 5);
});

test("results that end too early are asked for again", async () => {
  const document = completed(["a", "b"]);
  const { client } = scripted([pieces(document.slice(0, -5), 16), pieces(document, 16)]);
  assert.equal((await collect(client.jobs.results("j"))).length, 2);
});

test("results of a failed job are an error with its code", async () => {
  const error = { code: "processing_failed", message: "m", retryable: false };
  const document = JSON.stringify({ api_version: "v3", job_id: "j", status: "failed", error });
  const { client } = scripted([pieces(document, 10)]);
  await assert.rejects(collect(client.jobs.results("j")), { code: "processing_failed" });
});

test("results that are not JSON are an error at once", async () => {
  const { client, requests } = scripted([pieces("<html>", 3)]);
  await assert.rejects(collect(client.jobs.results("j")), ResponseError);
  assert.equal(requests.length, 1);
});

test("a refusal of results is retried and then thrown", async () => {
  const answers = [refusal(503, "overloaded", true), refusal(500, "internal", false)];
  const { client } = scripted(answers);
  await assert.rejects(collect(client.jobs.results("j")), ServiceError);
});

test("a caller that stops early lets the connection go", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode(completed(["a", "b"]).slice(0, 400)));
    },
    cancel() {
      cancelled = true;
    },
  });
  const { client } = scripted([() => new Response(body, { status: 200 })]);
  for await (const _ of client.jobs.results("j")) {
    break;
  }
  assert.ok(cancelled);
});
