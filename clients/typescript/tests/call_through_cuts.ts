// Makes calls on connections that something cuts, and prints the outcome of each:
//
//   node call_through_cuts.js SEED STOP
//
// The environment names the service. The calls end once the file STOP exists. A submission without
// an answer is made again, as by a program that crashed. Each line of the output is a JSON object.
// The program for Python prints the same (clients/python/tests/call_through_cuts.py).

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { BatchError, ConnectionError, Domesday } from "../src/index.js";
import { demoServer, home } from "./support.js";

const WORKERS = 4;
const MAX_CALLS = 20_000;
const MAX_SUBMISSIONS = 50;

const [seed = "", stop = ""] = process.argv.slice(2);
const retries = { maxAttempts: 3, firstBackoffSeconds: 0.01, maxBackoffSeconds: 0.02 };
const client = new Domesday({ ...demoServer(), retries, attemptTimeoutSeconds: 10 });

type Facts = Record<string, unknown>;

/** Returns what a lost call tells. Any other error ends the program. */
function describe_loss(error: unknown): Facts {
  assert.ok(error instanceof ConnectionError, String(error));
  return { outcome: "lost", may_be_charged: error.mayBeCharged };
}

/** Returns homes whose references name the call. */
function rowsOf(call: string, count: number) {
  return Array.from({ length: count }, (_, row) => ({
    ...home(),
    request_reference: `${call}/${row}`,
  }));
}

async function value(call: string): Promise<Facts> {
  try {
    const [row = home()] = rowsOf(call, 1);
    const { request_reference: reference } = await client.value(row);
    return { outcome: "answered", results: [reference] };
  } catch (error) {
    return describe_loss(error);
  }
}

async function batch(call: string, count: number): Promise<Facts> {
  const results: unknown[] = [];
  try {
    for await (const { result } of client.valueMany(rowsOf(call, count))) {
      results.push(result.request_reference);
    }
    return { outcome: "answered", results };
  } catch (error) {
    return describe_loss(error instanceof BatchError ? error.cause : error);
  }
}

/** Submits a job until its document arrives, and returns its id. */
async function submit(call: string, count: number): Promise<string> {
  for (let attempt = 1; attempt <= MAX_SUBMISSIONS; attempt += 1) {
    try {
      const body = { requests: rowsOf(call, count) };
      return (await client.jobs.submit(body, { label: call })).job_id;
    } catch (error) {
      describe_loss(error);
    }
  }
  throw new Error(`${call} was lost ${MAX_SUBMISSIONS} times`);
}

async function job(call: string, count: number): Promise<Facts> {
  const facts = { outcome: "answered", job_id: await submit(call, count) };
  const results: unknown[] = [];
  try {
    for await (const result of client.jobs.results(facts.job_id, { pollSeconds: 0.02 })) {
      results.push(result.request_reference);
    }
    return { ...facts, results };
  } catch (error) {
    return { ...facts, results_lost: describe_loss(error) };
  }
}

/** Returns numbers from 0 up to, not including, 1, the same for each seed (Mulberry32). */
function chancesOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function work(worker: number): Promise<void> {
  const chance = chancesOf(Number(seed) * WORKERS + worker);
  for (let number = 0; number < MAX_CALLS && !existsSync(stop); number += 1) {
    const call = `w${worker}-${number}`;
    const kind = ["value", "value", "batch", "job", "job"][Math.floor(chance() * 5)];
    const rows = kind === "value" ? 1 : 1 + Math.floor(chance() * 5);
    const facts =
      kind === "value"
        ? await value(call)
        : await (kind === "batch" ? batch(call, rows) : job(call, rows));
    process.stdout.write(`${JSON.stringify({ call, kind, rows, ...facts })}\n`);
  }
}

await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
