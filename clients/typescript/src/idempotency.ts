// The idempotency key of a job: clients/README.md has the rule, which all clients share.

import canonicalize from "canonicalize";
import type { JobRequest } from "./types.js";

const LABEL = /^[A-Za-z0-9._:-]{1,35}$/;

/**
 * Returns `LABEL:DIGEST`, where the digest is the SHA-256 of the body's canonical JSON (RFC 8785)
 * in lower-case hexadecimal. The body's own `idempotency_key` does not count.
 *
 * @throws RangeError for a label that is not 1 to 35 characters of A-Z a-z 0-9 . _ : -
 */
export async function idempotencyKey(body: JobRequest, label: string): Promise<string> {
  if (!LABEL.test(label)) {
    throw new RangeError(`label ${JSON.stringify(label)} is not 1 to 35 of A-Z a-z 0-9 . _ : -`);
  }
  const { idempotency_key: _, ...content } = body;
  const canonical = canonicalize(content) ?? "";
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical));
  const bytes = Array.from(new Uint8Array(digest));
  return `${label}:${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
