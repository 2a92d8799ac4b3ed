// The waits of retries, which the shared table of cases states only as lower bounds.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AllowanceError,
  ConnectionError,
  LimitError,
  NotFoundError,
  ServiceError,
} from "../src/index.js";
import { home, json, refusal, scripted } from "./support.js";

const RELEASE = json(200, { release_id: "r" });

/** Returns the waits of a query that is refused once with these headers. */
async function waits(headers: Record<string, string>, chance = 0): Promise<number[]> {
  const { client, clock } = scripted([refusal(503, "overloaded", true, headers), RELEASE]);
  clock.random = () => chance;
  await client.release();
  return clock.waits;
}

test("Retry-After in seconds and as a date of each form is waited for", async (context) => {
  // A date is in UTC, though its third form does not say so and this machine may be elsewhere.
  const { TZ } = process.env;
  process.env["TZ"] = "America/New_York";
  context.after(() => {
    if (TZ === undefined) {
      delete process.env["TZ"];
    } else {
      process.env["TZ"] = TZ;
    }
  });
  const date = "Thu, 15 Oct 2026 12:00:00 GMT";
  // Each is ten seconds after `date`; the smallest jitter is a quarter of a second.
  for (const retryAfter of [
    "10",
    "Thu, 15 Oct 2026 12:00:10 GMT",
    "Thursday, 15-Oct-26 12:00:10 GMT",
    "Thu Oct 15 12:00:10 2026",
  ]) {
    assert.deepEqual(await waits({ date, "retry-after": retryAfter }), [10_250], retryAfter);
  }
});

test("a date counts from the response's own, and without one from the clock", async () => {
  const retryAfter = "Thu, 15 Oct 2026 12:00:10 GMT";
  const slow = { date: "Thu, 15 Oct 2026 12:00:04 GMT", "retry-after": retryAfter };
  assert.deepEqual(await waits(slow), [6_250]);
  assert.deepEqual(await waits({ "retry-after": retryAfter }), [10_250]);
  const past = { "retry-after": "Thu, 15 Oct 2026 11:00:00 GMT" };
  assert.deepEqual(await waits(past), [250]);
});

test("a header that is neither seconds nor a date is no wait", async () => {
  for (const retryAfter of [
    "soon",
    "-5",
    "1.5",
    "",
    "Thu, 45 Oct 2026 12:00:10 GMT",
    "2026-10-15",
  ]) {
    assert.deepEqual(await waits({ "retry-after": retryAfter }), [250], retryAfter);
  }
});

test("jitter lengthens a wait and never shortens Retry-After", async () => {
  assert.deepEqual(await waits({ "retry-after": "2" }, 0), [2_250]);
  assert.deepEqual(await waits({ "retry-after": "2" }, 0.999), [2_499.75]);
});

test("waits double up to the bound, and attempts are bounded", async () => {
  const answers = Array.from({ length: 8 }, () => refusal(503, "overloaded", true));
  const retries = { maxAttempts: 8 };
  const { client, clock, requests } = scripted(answers, { retries });
  clock.random = () => 0;
  await assert.rejects(client.release(), ServiceError);
  assert.equal(requests.length, 8);
  assert.deepEqual(clock.waits, [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
});

test("a wait that the time for waits does not allow ends the call at once", async () => {
  const { client, clock, requests } = scripted([
    refusal(429, "rate_limited", true, { "retry-after": "40" }),
    refusal(429, "rate_limited", true, { "retry-after": "30" }),
  ]);
  const error = await client.release().catch((reason: unknown) => reason);
  assert.ok(error instanceof LimitError);
  assert.deepEqual([error.attempts, error.retryAfterSeconds], [2, 30]);
  assert.equal(clock.waits.length, 1);
  assert.equal(requests.length, 2);
});

test("an exhausted allowance is not retried, whatever the body says of retries", async () => {
  for (const body of [
    { error: { code: "monthly_valuation_quota_exceeded", message: "no" } },
    { detail: "monthly_valuation_quota_exceeded" },
    { detail: { code: "monthly_valuation_quota_exceeded", retryable: true } },
  ]) {
    const { client, requests } = scripted([json(429, body, { "retry-after": "1" })]);
    await assert.rejects(client.value(home()), AllowanceError);
    assert.equal(requests.length, 1);
  }
});

test("`retryable: false` in any part of the body ends the call", async () => {
  for (const body of [
    { error: { code: "a", retryable: false } },
    { detail: { code: "a", retryable: false } },
    {
      errors: [
        { code: "a", retryable: true },
        { code: "b", retryable: false },
      ],
    },
  ]) {
    const { client, requests } = scripted([json(503, body)]);
    const error = await client.release().catch((reason: unknown) => reason);
    assert.ok(error instanceof ServiceError);
    assert.equal(error.retryable, false);
    assert.equal(requests.length, 1);
  }
});

test("a request waits while RateLimit says that none is left", async () => {
  const limit = { ratelimit: '"requests";r=0;t=7' };
  const { client, clock } = scripted([json(200, {}, limit), RELEASE, RELEASE]);
  await client.release();
  await client.release();
  await client.release();
  assert.deepEqual(clock.waits, [7_000]);
});

test("other limits and unknown parameters of RateLimit are no reason to wait", async () => {
  for (const ratelimit of [
    '"requests";r=3;t=7',
    "r=0, t=7",
    '"requests";t=7',
    '"a b";r=1;pk=:x:;t=9',
  ]) {
    const { client, clock } = scripted([json(200, {}, { ratelimit }), RELEASE]);
    await client.release();
    await client.release();
    assert.deepEqual(clock.waits, [], ratelimit);
  }
  const two = { ratelimit: '"day";r=5;t=60, "requests";pk=:aGk=:;r=0;t=2' };
  const { client, clock } = scripted([json(200, {}, two), RELEASE]);
  await client.release();
  await client.release();
  assert.deepEqual(clock.waits, [2_000]);
});

test("a value whose connection was lost is repeated only if the caller says so", async () => {
  const answers = ["lost" as const, json(200, { status: "valued" })];
  const once = scripted(answers);
  const error = await once.client.value(home()).catch((reason: unknown) => reason);
  assert.ok(error instanceof ConnectionError);
  assert.deepEqual([error.mayBeCharged, error.attempts], [true, 1]);
  const again = scripted(answers);
  await again.client.value(home(), { repeatAfterLoss: true });
  assert.equal(again.requests.length, 2);
});

test("a query whose connection stays lost costs nothing", async () => {
  const { client, requests } = scripted(Array.from({ length: 5 }, () => "lost" as const));
  const error = await client.release().catch((reason: unknown) => reason);
  assert.ok(error instanceof ConnectionError);
  assert.deepEqual([error.mayBeCharged, error.attempts, requests.length], [false, 5, 5]);
});

test("a caller's signal ends the waits with its own reason", async () => {
  const control = new AbortController();
  const reason = new Error("enough");
  const { client, clock, requests } = scripted([refusal(503, "overloaded", true), RELEASE]);
  clock.sleep = async () => {
    control.abort(reason);
    throw reason;
  };
  await assert.rejects(client.release({ signal: control.signal }), (error) => error === reason);
  assert.equal(requests.length, 1);
});

test("a caller's signal ends a running attempt, which is not repeated", async () => {
  const control = new AbortController();
  const reason = new Error("enough");
  let sent = 0;
  const { client } = scripted([], {
    fetch: async () => {
      sent += 1;
      control.abort(reason);
      throw new TypeError("terminated");
    },
  });
  await assert.rejects(
    client.value(home(), { signal: control.signal }),
    (error) => error === reason,
  );
  assert.equal(sent, 1);
});

test("a limit that is beyond the time for waits is left to the service", async () => {
  const limit = { ratelimit: '"requests";r=0;t=61' };
  const { client, clock, requests } = scripted([json(200, {}, limit), RELEASE]);
  await client.release();
  await client.release();
  assert.deepEqual([clock.waits, requests.length], [[], 2]);
});

test("an attempt without a response ends at its timeout", async () => {
  const { client } = scripted([], {
    attemptTimeoutSeconds: 0.01,
    fetch: (_, init) =>
      new Promise((_resolve, reject) => {
        init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      }),
  });
  await assert.rejects(client.value(home()), ConnectionError);
});

test("a redirect is an error, because a second service might charge too", async () => {
  let redirect: RequestInit["redirect"];
  const { client } = scripted([], {
    fetch: async (_, init) => {
      redirect = init.redirect;
      return new Response(null, { status: 307, headers: { location: "http://other.invalid" } });
    },
  });
  await assert.rejects(client.value(home()), { name: "ApiError", status: 307 });
  assert.equal(redirect, "manual");
});

test("other statuses are not retried", async () => {
  const { client, requests } = scripted([
    refusal(404, "job_not_found", true, { "retry-after": "0" }),
  ]);
  await assert.rejects(client.jobs.get("x"), NotFoundError);
  assert.equal(requests.length, 1);
});
