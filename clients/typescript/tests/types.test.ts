// The compiler refuses this file where the type of an answer's word is a closed list. It also
// refuses it where a request may have a member that the service refuses.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Domesday, ErrorItem, JobDocument, Series, SeriesObservation } from "../src/index.js";

const unknownWords: [
  ErrorItem["code"],
  JobDocument["status"],
  Series["basis"],
  SeriesObservation["status"],
] = ["new_code", "new_status", "new_basis", "new_status"];

/** Requests that the compiler must refuse. */
export function refusals(client: Domesday): void {
  // @ts-expect-error A home is no site.
  void client.value({ property: {} }, { mode: "development" });
  // @ts-expect-error A series needs its dataset.
  void client.rates.pages({ from: "2026-01-01" });
  // @ts-expect-error The client makes the idempotency key.
  void client.jobs.submit({ requests: [], idempotency_key: "mine" }, { label: "run" });
  // @ts-expect-error A job needs a label.
  void client.jobs.submit({ requests: [] }, {});
}

test("words that the client does not know have the types of those that it knows", () => {
  assert.equal(unknownWords.length, 4);
});
