// The fetch wrapper: it waits for the rate limit, bounds each attempt, and retries where the
// contract allows.

import type { Clock } from "./clock.js";
import { parseErrorBody } from "./error_body.js";
import { type ApiError, apiError, ConnectionError } from "./errors.js";
import { RateLimitGate } from "./rate_limit.js";
import { retryAfter } from "./retry_after.js";
import { backoff, type Failure, mayRetry, type RetryLimits } from "./retry_policy.js";

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** What a call does to the service, which decides if it may be sent again. */
export interface CallKind {
  /** True if a second request of a call whose connection was lost does no harm. */
  readonly repeatable: boolean;
  /** True if the service charges units for the call. */
  readonly charges: boolean;
  /** True if the caller reads a successful body itself, as it arrives. */
  readonly streamed: boolean;
}

/** A query, which costs no units. */
export const QUERY: CallKind = { repeatable: true, charges: false, streamed: false };
/** A query whose body is read as it arrives. */
export const STREAMED_QUERY: CallKind = { ...QUERY, streamed: true };
/** A job's submission: its idempotency key makes a second one harmless. */
export const SUBMISSION: CallKind = { repeatable: true, charges: true, streamed: false };

/** A synchronous valuation, repeated after a lost connection only if the caller says so. */
export function valuation(repeatAfterLoss: boolean): CallKind {
  return { repeatable: repeatAfterLoss, charges: true, streamed: false };
}

export interface TransportOptions {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly limits: RetryLimits;
  /** The longest duration of an attempt, in seconds. */
  readonly attemptTimeoutSeconds: number;
}

type Attempt = Response | { readonly failure: Failure; readonly error: unknown };

export class Transport {
  readonly clock: Clock;
  readonly attemptTimeoutSeconds: number;
  readonly limits: RetryLimits;
  readonly #fetch: Fetch;
  readonly #gate = new RateLimitGate();

  constructor(options: TransportOptions) {
    this.clock = options.clock;
    this.limits = options.limits;
    this.attemptTimeoutSeconds = options.attemptTimeoutSeconds;
    this.#fetch = options.fetch;
  }

  /**
   * Sends a request, again where the contract allows it, and returns a successful response.
   *
   * @throws {@link ApiError} for a response of any other status.
   * @throws {@link ConnectionError} without a complete response.
   * @throws the reason of the request's signal once that aborts.
   */
  async send(request: Request, kind: CallKind): Promise<Response> {
    const { signal, url } = request;
    // The text is kept, because a body that is a stream can be sent once only.
    const body = request.body === null ? null : await request.text();
    const init = { method: request.method, headers: request.headers, body, signal };
    let budget = this.limits.maxWaitSeconds * 1000;
    let mayBeCharged = false;
    for (let attempt = 1; ; attempt += 1) {
      budget -= await this.#waitForLimit(budget, signal);
      const outcome = await this.#attempt(url, init, kind, attempt);
      if (outcome instanceof Response) {
        return outcome;
      }
      signal.throwIfAborted();
      const { failure, error } = outcome;
      mayBeCharged ||= kind.charges && failure.kind === "lost";
      const wait = backoff(failure, attempt, this.limits, () => this.clock.random());
      const ends = attempt >= this.limits.maxAttempts || wait > budget;
      if (ends || !mayRetry(failure, kind.repeatable)) {
        throw failure.kind === "lost" ? new ConnectionError(mayBeCharged, attempt, error) : error;
      }
      budget -= wait;
      await this.clock.sleep(wait, signal);
    }
  }

  /** Waits for the rate limit, if the budget allows it, and returns the milliseconds waited. */
  async #waitForLimit(budget: number, signal: AbortSignal): Promise<number> {
    const delay = this.#gate.delay(this.clock.now());
    if (delay === 0 || delay > budget) {
      return 0;
    }
    await this.clock.sleep(delay, signal);
    return delay;
  }

  async #attempt(
    url: string,
    init: RequestInit & { signal: AbortSignal },
    kind: CallKind,
    attempt: number,
  ): Promise<Attempt> {
    const deadline = new AbortController();
    const timer = setTimeout(() => {
      deadline.abort(new Error(`no response within ${this.attemptTimeoutSeconds} seconds`));
    }, this.attemptTimeoutSeconds * 1000);
    const signal = AbortSignal.any([init.signal, deadline.signal]);
    try {
      // A redirected valuation could be charged twice, so redirects are errors.
      const response = await this.#fetch(url, { ...init, signal, redirect: "manual" });
      const now = this.clock.now();
      this.#gate.update(response.headers, now);
      if (response.status === 200 && kind.streamed) {
        return response;
      }
      const text = await response.text();
      return response.ok
        ? new Response(text === "" ? null : text, response)
        : this.#refusal(response, text, attempt, now);
    } catch (error) {
      return { failure: { kind: "lost" }, error };
    } finally {
      clearTimeout(timer);
    }
  }

  #refusal(response: Response, text: string, attempts: number, now: number): Attempt {
    const { status, headers } = response;
    const body = parseErrorBody(text);
    const wait = retryAfter(headers, now);
    const error: ApiError = apiError({
      status,
      requestId: headers.get("x-service-request-id") ?? undefined,
      attempts,
      retryAfterSeconds: wait === undefined ? undefined : wait / 1000,
      body,
    });
    return { failure: { kind: "refused", status, body, retryAfter: wait }, error };
  }
}
