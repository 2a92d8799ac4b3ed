// Splits rows into requests that the contract accepts.

/** Most rows of a request. */
export const MAX_ROWS = 2500;
/** Most bytes of a request's body. */
export const MAX_BYTES = 9_500_000;

/** Bounds of a request. A caller may lower `rows` while rows are being split. */
export interface BatchLimits {
  rows: number;
  readonly bytes: number;
}

/**
 * Yields the rows in their order, as many together as the limits allow. `envelope` is the request
 * without rows. A row that is too large alone is yielded alone, for the service to refuse.
 */
export async function* split<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  envelope: object,
  limits: BatchLimits,
): AsyncGenerator<Row[], void> {
  const overhead = byteLength({ ...envelope, requests: [] });
  let batch: Row[] = [];
  let bytes = overhead;
  for await (const row of rows) {
    const size = byteLength(row);
    // A comma stands before every row but the first.
    const added = batch.length > 0 ? size + 1 : size;
    if (batch.length >= limits.rows || (batch.length > 0 && bytes + added > limits.bytes)) {
      yield batch;
      batch = [row];
      bytes = overhead + size;
    } else {
      batch.push(row);
      bytes += added;
    }
  }
  if (batch.length > 0) {
    yield batch;
  }
}

function byteLength(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
