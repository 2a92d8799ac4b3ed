// What both clients in TypeScript must read.
import assert from "node:assert/strict";
import type { BatchResult, ErrorBody, ValuationResult, ValuedResult } from "./names.js";

// The compiler refuses these where the type of a code or a reason is a closed list.
const unknownCode: ErrorBody["error"]["code"] = "misspelt";
const unknownReason: NonNullable<
  ValuedResult["input_resolution"]["derived_inputs"][number]["reason"]
> = "misspelt";

/** Returns the result of a home that is valued. */
export function valued(result: ValuationResult | undefined): ValuedResult {
  if (result?.status !== "valued") {
    assert.fail(JSON.stringify(result));
  }
  assert.ok(result.valuation.estimated_value_gbp > 0);
  assert.equal(result.property.uprn, "999082968959");
  return result;
}

/** Checks the results of the rows: the second has its own option. */
export function checkRows(batch: BatchResult | undefined): void {
  assert.equal(batch?.summary.valued, 3);
  const results = batch?.results.map(valued) ?? [];
  const counts = results.map((result) => result.comparables?.length);
  assert.deepEqual(counts, [2, undefined, 2]);
  assert.equal(results[0]?.request_reference, "inherits");
  const type: string | undefined = results[0]?.comparables?.[0]?.property_type;
  assert.equal(type, "S");
}

/** Checks an error whose code the client does not know. */
export function checkUnknownCode(error: ErrorBody | undefined): void {
  assert.ok(error);
  const { code, field, retryable } = error.error;
  assert.deepEqual([code, field, retryable], [unknownCode, "/property", false]);
  assert.equal(error.errors?.[0]?.code, unknownCode);
}

/** Checks a result with a reason that the client does not know. */
export function checkUnknownReason(result: ValuationResult | undefined): void {
  assert.equal(valued(result).input_resolution.derived_inputs[0]?.reason, unknownReason);
}
