// The table of retry cases, which all clients share. Each case says what the service answers in
// turn, before it answers with success. It says what the client must do: how often it sends the
// request, and how long it waits at least between two of them. It also says how the call ends, and
// if units may have been charged.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, BatchError, ConnectionError, type Domesday } from "../src/index.js";
import { home, json, scripted, type ScriptedReply, sharedFile } from "./support.js";

type Call = "release" | "job" | "results" | "series" | "submit" | "value" | "batch";

/** An answer of the table: a response, or a connection that was lost or refused. */
interface CaseAnswer {
  readonly lost?: true;
  readonly refused?: true;
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

interface Case {
  readonly name: string;
  readonly call: Call;
  /** True if the caller allows a repetition after a lost connection. */
  readonly repeat_after_loss?: boolean;
  readonly answers: CaseAnswer[];
  readonly attempts: number;
  /** Seconds. */
  readonly waits_at_least: number[];
  /** `success`, or the class of the error. */
  readonly outcome: string;
  readonly code?: string;
  readonly may_be_charged: boolean;
}

// The longest jitter of any wait, in seconds. A client may not wait much longer than it must.
const MAX_JITTER_SECONDS = 8;

const VALUED = { status: "valued" };
const SUCCESS: Record<Call, ScriptedReply> = {
  release: json(200, { release_id: "r" }),
  job: json(200, { job_id: "j", status: "running" }),
  results: json(200, { status: "completed", result: { results: [VALUED] } }),
  series: json(200, { series: [], next_cursor: null }),
  submit: json(202, { job_id: "j", status: "queued" }),
  value: json(200, VALUED),
  batch: json(200, { status: "completed", results: [VALUED] }),
};

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const item of items) {
    assert.ok(item);
  }
}

/** Makes the call of a case, to its end. */
async function make(client: Domesday, { call, repeat_after_loss }: Case): Promise<unknown> {
  const options = repeat_after_loss === undefined ? {} : { repeatAfterLoss: repeat_after_loss };
  switch (call) {
    case "release":
      return client.release();
    case "job":
      return client.jobs.get("j");
    case "results":
      return drain(client.jobs.results("j"));
    case "series":
      return drain(client.rates.series({ dataset: "bank_rate" }));
    case "submit":
      return client.jobs.submit({ requests: [home()] }, { label: "run" });
    case "value":
      return client.value(home(), options);
    case "batch":
      return drain(client.valueMany([home()], options));
  }
}

function scriptedAnswer(answer: CaseAnswer): ScriptedReply {
  const { lost, refused, status = 0, headers = {}, body } = answer;
  if (lost || refused) {
    return lost ? "lost" : "refused";
  }
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return () => new Response(text, { status, headers });
}

const CASES = sharedFile("retry-cases.json") as Case[];

for (const entry of CASES) {
  test(entry.name, async () => {
    const answers = [...entry.answers.map(scriptedAnswer), SUCCESS[entry.call]];
    const { client, clock, requests } = scripted(answers);
    let error: unknown;
    try {
      await make(client, entry);
    } catch (reason) {
      // A batch wraps the error of its request, to name the rows.
      error = reason instanceof BatchError ? reason.cause : reason;
    }
    assert.equal(error instanceof Error ? error.name : "success", entry.outcome, String(error));
    assert.equal(requests.length, entry.attempts);
    for (const request of requests) {
      assert.deepEqual(request.body, requests[0]?.body);
    }
    assert.equal(clock.waits.length, entry.waits_at_least.length);
    for (const [index, seconds] of entry.waits_at_least.entries()) {
      const wait = (clock.waits[index] ?? 0) / 1000;
      assert.ok(wait > seconds && wait <= seconds + MAX_JITTER_SECONDS, `waited ${wait} s`);
    }
    if (error instanceof ApiError) {
      assert.equal(error.code, entry.code);
    }
    if (error instanceof ApiError || error instanceof ConnectionError) {
      assert.equal(error.mayBeCharged, entry.may_be_charged);
      assert.equal(error.attempts, entry.attempts);
    }
  });
}

test("the table has at least 40 cases, and each another name", () => {
  assert.ok(CASES.length >= 40);
  assert.equal(new Set(CASES.map(({ name }) => name)).size, CASES.length);
});
