// The fetch wrapper: it waits for the rate limit, bounds each attempt, and retries where the
// contract allows.

import type { Clock } from "./clock.js";
import { parseErrorBody } from "./error_body.js";
import { neverConnected } from "./connection_failure.js";
import { apiError, ConnectionError, type ErrorResponse } from "./errors.js";
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
  /** True if the service may have accepted a call that it refuses as overloaded. */
  readonly unclearOverload: boolean;
}

/** The code of a refusal by a service that has too much to do. */
const OVERLOADED = "overloaded";

/** A query, which costs no units. */
export const QUERY: CallKind = {
  repeatable: true,
  charges: false,
  streamed: false,
  unclearOverload: false,
};
/** A query whose body is read as it arrives. */
export const STREAMED_QUERY: CallKind = { ...QUERY, streamed: true };
/** A job's submission: its idempotency key makes a second one harmless. */
export const SUBMISSION: CallKind = { ...QUERY, charges: true, unclearOverload: true };

/** A synchronous valuation, repeated after a lost connection only if the caller says so. */
export function valuation(repeatAfterLoss: boolean): CallKind {
  return { ...QUERY, repeatable: repeatAfterLoss, charges: true };
}

/**
 * Returns true if the service may have charged an attempt that failed. A proxy in front of it
 * answers 502 and 504 without knowing what the service did.
 */
function mayBeChargedFor(kind: CallKind, failure: Failure): boolean {
  if (!kind.charges || failure.kind !== "refused") {
    return kind.charges && failure.kind === "lost";
  }
  const { status, body } = failure.response;
  return status === 503
    ? kind.unclearOverload && body.first?.code === OVERLOADED
    : status > 500;
}

export interface TransportOptions {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly limits: RetryLimits;
  /** The longest duration of an attempt, in seconds. */
  readonly attemptTimeoutSeconds: number;
}

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
   * @throws `ApiError` for a response of any other status.
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
    let sent = false;
    for (let attempt = 1; ; attempt += 1) {
      budget -= await this.#waitForLimit(budget, signal);
      const outcome = await this.#attempt(url, init, kind);
      if (outcome instanceof Response) {
        return outcome;
      }
      signal.throwIfAborted();
      mayBeCharged ||= mayBeChargedFor(kind, outcome);
      sent ||= outcome.kind !== "unsent";
      const wait = backoff(outcome, attempt, this.limits, () => this.clock.random());
      const ends = attempt >= this.limits.maxAttempts || wait > budget;
      if (ends || !mayRetry(outcome, kind.repeatable)) {
        throw outcome.kind === "refused"
          ? apiError({ ...outcome.response, attempts: attempt, mayBeCharged })
          : new ConnectionError({ mayBeCharged, attempts: attempt, sent, cause: outcome.cause });
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
  ): Promise<Response | Failure> {
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
        : { kind: "refused", response: errorResponse(response, text, now) };
    } catch (cause) {
      return { kind: neverConnected(cause) ? "unsent" : "lost", cause };
    } finally {
      clearTimeout(timer);
    }
  }
}

function errorResponse({ status, headers }: Response, text: string, now: number): ErrorResponse {
  return {
    status,
    requestId: headers.get("x-service-request-id") ?? undefined,
    retryAfterSeconds: retryAfter(headers, now),
    body: parseErrorBody(text),
  };
}
