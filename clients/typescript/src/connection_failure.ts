// Tells a connection that was never established from one that was lost.

// Errors of Node.js before a connection exists.
const CODES: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "EAI_AGAIN",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);
// Deno says it in the text alone. An address in it has no blank, so it cannot be mistaken.
const TEXT = "): client error (Connect): ";

/**
 * Returns true if an error of fetch says that no connection was established, so that no byte of the
 * request was sent. Any doubt gives false.
 */
export function neverConnected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) {
    return false;
  }
  // One failure for each address of the host, if it has several.
  const failures: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return failures.length > 0 && failures.every(precedesConnection);
}

function precedesConnection(failure: unknown): boolean {
  return (
    failure instanceof Error &&
    (("code" in failure && CODES.has(failure.code)) || failure.message.includes(TEXT))
  );
}
