// The errors that the client throws. Each is a class with the facts in it.

import type { ErrorItem, ErrorSummary } from "./error_body.js";
import type { JobDocument } from "./types.js";

/** The base of every error that this client throws. */
export class DomesdayError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The facts of a response that is an error. */
export interface ErrorResponse {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly body: ErrorSummary;
}

/** An error response that ended a call. */
export interface Refusal extends ErrorResponse {
  readonly attempts: number;
  readonly mayBeCharged: boolean;
}

/** A response that is an error. `code` may be one that this client does not know. */
export class ApiError extends DomesdayError {
  /** HTTP status. */
  readonly status: number;
  /** The code that programs branch on; empty if the body has none. */
  readonly code: string;
  /** JSON Pointer (v3) or name of the parameter (v1) of the first error. */
  readonly pointer: string | undefined;
  /** `X-Service-Request-Id`, which the service logs too. */
  readonly requestId: string | undefined;
  /** False if the same request cannot succeed later; undefined if the body does not say. */
  readonly retryable: boolean | undefined;
  /** Every error of the request, the first one included. */
  readonly errors: readonly ErrorItem[];
  /**
   * True if the service may have charged an attempt. It lost its connection, or a proxy ended it
   * (502, 504), or it was a submission that ended as overloaded. Reconcile before you repeat it.
   */
  readonly mayBeCharged: boolean;
  /** Number of requests that the client sent. */
  readonly attempts: number;
  /** The wait that the response asks for, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(refusal: Refusal) {
    const { status, body, requestId } = refusal;
    const { code = "", message = "", pointer } = body.first ?? {};
    const where = pointer ? ` at ${pointer}` : "";
    const id = requestId ? ` (request ${requestId})` : "";
    super(`HTTP ${status} ${code || "without a code"}${where}: ${message}${id}`);
    this.status = status;
    this.code = code;
    this.pointer = pointer;
    this.requestId = requestId;
    this.retryable = body.refusesRetry ? false : body.first?.retryable;
    this.errors = body.all;
    this.mayBeCharged = refusal.mayBeCharged;
    this.attempts = refusal.attempts;
    this.retryAfterSeconds = refusal.retryAfterSeconds;
  }
}

/** 400, 413, 415 or 422: the request is wrong, and wrong again if repeated. */
export class InvalidRequestError extends ApiError {}
/** 401: the key is missing or unknown. */
export class AuthenticationError extends ApiError {}
/** 403: the key or the plan does not allow the request. */
export class AccessError extends ApiError {}
/** 404: the job, the release or the route does not exist. */
export class NotFoundError extends ApiError {}
/** 409: the idempotency key belongs to another body, or its time is over. */
export class ConflictError extends ApiError {}
/** 429: a limit of requests or of capacity, after the last attempt. */
export class LimitError extends ApiError {}
/** 429 `monthly_valuation_quota_exceeded`: the allowance of the month is used up. */
export class AllowanceError extends LimitError {}
/** 5xx: the service failed, after the last attempt. */
export class ServiceError extends ApiError {}

export const EXHAUSTED_ALLOWANCE = "monthly_valuation_quota_exceeded";

const CLASSES: ReadonlyMap<number, new (refusal: Refusal) => ApiError> = new Map([
  [400, InvalidRequestError],
  [401, AuthenticationError],
  [403, AccessError],
  [404, NotFoundError],
  [409, ConflictError],
  [413, InvalidRequestError],
  [415, InvalidRequestError],
  [422, InvalidRequestError],
]);

/** Returns the error of the class of this status and code. */
export function apiError(refusal: Refusal): ApiError {
  const { status } = refusal;
  if (refusal.body.first?.code === EXHAUSTED_ALLOWANCE) {
    return new AllowanceError(refusal);
  }
  const fallback = status >= 500 ? ServiceError : status === 429 ? LimitError : ApiError;
  return new (CLASSES.get(status) ?? fallback)(refusal);
}

/** The facts of a call without a complete response. */
export interface LostCall {
  readonly mayBeCharged: boolean;
  readonly attempts: number;
  /** False if no attempt had a connection, so that the service received nothing. */
  readonly sent: boolean;
  readonly cause: unknown;
}

/** No complete response arrived: the connection failed, or an attempt took too long. */
export class ConnectionError extends DomesdayError {
  /**
   * True if the service may have valued and charged the request all the same. Reconcile before you
   * repeat it. False if no attempt had a connection.
   */
  readonly mayBeCharged: boolean;
  /** Number of requests that the client sent. */
  readonly attempts: number;

  constructor({ mayBeCharged, attempts, sent, cause }: LostCall) {
    const charge = mayBeCharged ? " The service may have charged it: reconcile first." : "";
    const message = sent
      ? `no complete response after ${attempts} attempt(s).${charge}`
      : `no connection in ${attempts} attempt(s): nothing was sent, and nothing is charged`;
    super(message, { cause });
    this.mayBeCharged = mayBeCharged;
    this.attempts = attempts;
  }
}

/** A success whose body is not the expected JSON, as of a proxy in between. It is charged. */
export class ResponseError extends DomesdayError {
  readonly status: number | undefined;
  readonly requestId: string | undefined;

  constructor(response: Response | undefined, cause?: unknown) {
    super(`HTTP ${response?.status}: the body is not the expected JSON`, { cause });
    this.status = response?.status;
    this.requestId = response?.headers.get("x-service-request-id") ?? undefined;
  }
}

/** Part of `valueMany` that failed. The rows before it have their results. */
export class BatchError extends DomesdayError {
  /** Index of the first row without a result. */
  readonly firstRow: number;
  /** Number of rows in the failed request. */
  readonly rowCount: number;

  constructor(firstRow: number, rowCount: number, cause: unknown) {
    super(`rows ${firstRow} to ${firstRow + rowCount - 1} have no results: ${String(cause)}`, {
      cause,
    });
    this.firstRow = firstRow;
    this.rowCount = rowCount;
  }
}

/** A job that ended as failed. A new job needs another label, so that it has another key. */
export class JobFailedError extends DomesdayError {
  readonly jobId: string;
  readonly code: string;
  /** True if a new job of the same rows may succeed. */
  readonly retryable: boolean;

  constructor(jobId: string, error: JobDocument["error"]) {
    const { code = "", message = "", retryable = false } = error ?? {};
    super(`job ${jobId} failed: ${code}: ${message}`);
    this.jobId = jobId;
    this.code = code;
    this.retryable = retryable;
  }
}

/** A job that did not end within the given time. It goes on at the service. */
export class JobTimeoutError extends DomesdayError {
  readonly jobId: string;
  /** The last known status. */
  readonly status: string;

  constructor(jobId: string, status: string, timeoutSeconds: number) {
    super(`job ${jobId} is ${status} after ${timeoutSeconds} seconds. Call wait again later.`);
    this.jobId = jobId;
    this.status = status;
  }
}

/** The client was started in a browser, where a key would be public. */
export class BrowserError extends DomesdayError {
  constructor() {
    super("this client does not run in a browser, because a key must stay on a server");
  }
}
