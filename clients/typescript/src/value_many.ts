// Values any number of rows, in as many requests as the contract's limits need.

import { type BatchLimits, MAX_BYTES, MAX_ROWS, split } from "./batches.js";
import { BatchError, DomesdayError, InvalidRequestError } from "./errors.js";
import type { Http } from "./http.js";
import type { Mode, OptionsOf, RowOf, ValuationResult } from "./types.js";
import { type BatchBody, valueBatch, type ValueOptions } from "./valuations.js";

/** Options of `valueMany`. */
export interface ValueManyOptions<M extends Mode> extends ValueOptions<M> {
  /** Options of every row that does not have its own. */
  readonly options?: OptionsOf<M>;
  /** Most rows of a request: 2,500 by default, and never more. */
  readonly rowsPerRequest?: number;
}

/** A row of the caller with its result. */
export interface RowResult<Row> {
  readonly index: number;
  readonly row: Row;
  readonly result: ValuationResult;
}

/**
 * Yields each row with its result, in the order of the rows. Results that were yielded stay good if
 * a later request fails.
 *
 * @throws {@link BatchError} with the first row without a result. Its cause is the error.
 */
export async function* valueMany<M extends Mode>(
  http: Http,
  rows: Iterable<RowOf<M>> | AsyncIterable<RowOf<M>>,
  options: ValueManyOptions<M>,
): AsyncGenerator<RowResult<RowOf<M>>, void> {
  const shared = options.options === undefined ? {} : { options: options.options };
  const asked = Math.min(options.rowsPerRequest ?? MAX_ROWS, MAX_ROWS);
  const limits: BatchLimits = { rows: Math.max(1, asked), bytes: MAX_BYTES };
  let first = 0;
  for await (const batch of split(rows, shared, limits)) {
    let rest = batch;
    while (rest.length > 0) {
      const part = rest.slice(0, limits.rows);
      const results = await valuePart(http, { ...shared, requests: part }, options, first);
      if (results === TOO_LARGE) {
        limits.rows = Math.ceil(part.length / 2);
        continue;
      }
      for (const [offset, row] of part.entries()) {
        yield { index: first + offset, row, result: results[offset] as ValuationResult };
      }
      first += part.length;
      rest = rest.slice(part.length);
    }
  }
}

const TOO_LARGE = Symbol("too large");

/** Returns a result for each row, or {@link TOO_LARGE} if fewer rows may be accepted. */
async function valuePart<M extends Mode>(
  http: Http,
  body: BatchBody<M>,
  options: ValueOptions<M>,
  first: number,
): Promise<ValuationResult[] | typeof TOO_LARGE> {
  const count = body.requests.length;
  try {
    const { results } = await valueBatch(http, body, options);
    if (results?.length !== count) {
      throw new DomesdayError(`the response has ${results?.length} results for ${count} rows`);
    }
    return results;
  } catch (error) {
    options.signal?.throwIfAborted();
    // The service refuses such a request before it charges a unit.
    if (error instanceof InvalidRequestError && error.status === 413 && count > 1) {
      return TOO_LARGE;
    }
    throw new BatchError(first, count, error);
  }
}
