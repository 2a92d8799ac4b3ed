// When a request is sent again. The contract allows it after 429, 500 and 503 alone, never where
// `retryable` is false, and no sooner than Retry-After says. A request that was never sent may
// always be.

import { type ErrorResponse, EXHAUSTED_ALLOWANCE } from "./errors.js";

/** The bounds of retries. */
export interface RetryLimits {
  /** Most requests for one call, the first included. */
  readonly maxAttempts: number;
  /** The longest sum of the waits of one call, in seconds. */
  readonly maxWaitSeconds: number;
  /** Upper end of the first random wait, in seconds; each further one is twice as long. */
  readonly firstBackoffSeconds: number;
  /** The longest random wait, in seconds. */
  readonly maxBackoffSeconds: number;
}

export const DEFAULT_LIMITS: RetryLimits = {
  maxAttempts: 5,
  maxWaitSeconds: 60,
  firstBackoffSeconds: 0.5,
  maxBackoffSeconds: 8,
};

/** How an attempt ended without success. */
export type Failure =
  | { readonly kind: "unsent"; readonly cause: unknown }
  | { readonly kind: "lost"; readonly cause: unknown }
  | { readonly kind: "refused"; readonly response: ErrorResponse };

const RETRIED = new Set([429, 500, 503]);

/** Returns true if the request may be sent again. `repeatable` says so for a lost connection. */
export function mayRetry(failure: Failure, repeatable: boolean): boolean {
  if (failure.kind === "unsent") {
    return true;
  }
  if (failure.kind === "lost") {
    return repeatable;
  }
  const { status, body } = failure.response;
  const exhausted = body.all
    .concat(body.first ?? [])
    .some(({ code }) => code === EXHAUSTED_ALLOWANCE);
  return RETRIED.has(status) && !body.refusesRetry && !exhausted;
}

/**
 * Returns the wait before the next attempt in milliseconds. It is random, so that clients that
 * failed together do not return together, and it is added to Retry-After, so never earlier.
 */
export function backoff(
  failure: Failure,
  attempt: number,
  limits: RetryLimits,
  random: () => number,
): number {
  const ceiling = Math.min(
    limits.firstBackoffSeconds * 2 ** (attempt - 1),
    limits.maxBackoffSeconds,
  );
  const asked = failure.kind === "refused" ? (failure.response.retryAfterSeconds ?? 0) : 0;
  return (asked + ceiling * (0.5 + 0.5 * random())) * 1000;
}
