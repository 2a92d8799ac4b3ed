export { Domesday, type DomesdayOptions } from "./client.js";
export type { Clock } from "./clock.js";
export type { ErrorItem } from "./error_body.js";
export {
  AccessError,
  AllowanceError,
  ApiError,
  AuthenticationError,
  BatchError,
  BrowserError,
  ConflictError,
  ConnectionError,
  DomesdayError,
  InvalidRequestError,
  JobFailedError,
  JobTimeoutError,
  LimitError,
  NotFoundError,
  ResponseError,
  ServiceError,
} from "./errors.js";
export type { CallOptions } from "./http.js";
export { idempotencyKey } from "./idempotency.js";
export type { JobBody, Jobs, Submission } from "./jobs.js";
export type { WaitOptions } from "./polling.js";
export type { RetryLimits } from "./retry_policy.js";
export type { components, operations, paths } from "./schema.js";
export type { Markets, Rates, SeriesHead, SeriesRow } from "./series.js";
export type { Fetch } from "./transport.js";
export type * from "./types.js";
export type { RowResult, ValueManyOptions } from "./value_many.js";
export type { ValueOptions } from "./valuations.js";
