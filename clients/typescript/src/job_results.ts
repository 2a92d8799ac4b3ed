// Reads a job's results while they arrive: a response has no length limit.

import { JSONParser } from "@streamparser/json";
import { ConnectionError, DomesdayError, JobFailedError, ResponseError } from "./errors.js";
import type { Http } from "./http.js";
import { Polling, type WaitOptions } from "./polling.js";
import { retryAfter } from "./retry_after.js";
import { backoff } from "./retry_policy.js";
import { STREAMED_QUERY } from "./transport.js";
import type { JobDocument, ValuationResult } from "./types.js";

/** Yields the results of a job, once it ends. */
export async function* readResults(
  http: Http,
  jobId: string,
  options: WaitOptions,
): AsyncGenerator<ValuationResult, void> {
  const { clock, limits } = http.transport;
  const polling = new Polling(clock, options);
  let yielded = 0;
  for (let attempt = 1; ;) {
    const { body, response } = await request(http, jobId, options);
    if (response.status === 202) {
      const status = await statusOf(body);
      await polling.pause(jobId, status, retryAfter(response.headers, clock.now()));
      continue;
    }
    let skipped = yielded;
    try {
      for await (const result of parse(chunks(body, http.transport.attemptTimeoutSeconds), jobId)) {
        if (skipped > 0) {
          skipped -= 1;
          continue;
        }
        yielded += 1;
        attempt = 1;
        yield result;
      }
      return;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof DomesdayError) {
        throw error;
      }
      if (attempt >= limits.maxAttempts) {
        const facts = { mayBeCharged: false, sent: true, cause: error };
        throw new ConnectionError({ ...facts, attempts: attempt });
      }
      const wait = backoff({ kind: "lost", cause: error }, attempt, limits, () => clock.random());
      await clock.sleep(wait, options.signal);
      attempt += 1;
    }
  }
}

/** Returns the status of a job that goes on, or nothing if its document does not say. */
async function statusOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const text = await new Response(body).text();
  try {
    const document = JSON.parse(text) as Partial<JobDocument> | null;
    return String(document?.status ?? "");
  } catch {
    return "";
  }
}

/** Returns the body of the results, which nothing has read yet. */
async function request(
  http: Http,
  jobId: string,
  options: WaitOptions,
): Promise<{ body: ReadableStream<Uint8Array>; response: Response }> {
  const params = { path: { job_id: jobId } };
  const { data, response } = await http.callWithResponse(STREAMED_QUERY, options, (client, init) =>
    client.GET("/v3/valuation-jobs/{job_id}/results", { ...init, params, parseAs: "stream" }),
  );
  if (data === null) {
    throw new ResponseError(response);
  }
  return { body: data, response };
}

/** Yields the chunks of a body. Each has to arrive within the given time. */
async function* chunks(
  body: ReadableStream<Uint8Array>,
  timeoutSeconds: number,
): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), timeoutSeconds);
      if (done) {
        return;
      }
      yield value;
    }
  } finally {
    // A caller that stops early, and a body that stalls, give the connection back.
    await reader.cancel().catch(() => undefined);
  }
}

async function within<T>(promise: Promise<T>, seconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no data within ${seconds} seconds`)),
      seconds * 1000,
    );
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Yields the results of a document, each as soon as it is complete. */
async function* parse(
  body: AsyncIterable<Uint8Array>,
  jobId: string,
): AsyncGenerator<ValuationResult, void> {
  const paths = ["$.result.results.*", "$.status", "$.error"];
  const parser = new JSONParser({ paths, keepStack: false });
  const ready: ValuationResult[] = [];
  let status: unknown;
  let error: JobDocument["error"];
  let failure: Error | undefined;
  parser.onValue = ({ value, key }) => {
    if (typeof key === "number") {
      ready.push(value as unknown as ValuationResult);
    } else if (key === "status") {
      status = value;
    } else {
      error = value as unknown as JobDocument["error"];
    }
  };
  parser.onError = (reason) => {
    failure = reason;
  };
  for await (const chunk of body) {
    parser.write(chunk);
    if (failure) {
      throw new ResponseError(undefined, failure);
    }
    yield* ready.splice(0);
  }
  if (!parser.isEnded) {
    throw new Error("the results end too early");
  }
  if (status === "failed") {
    throw new JobFailedError(jobId, error);
  }
}
