// Reads an error body in each of the forms that the contracts allow. A body of no known form, or
// with members of other types, gives what can be read of it and never throws.

/** One error of a request or of a row. */
export interface ErrorItem {
  /** The code that programs branch on. It may be one that this client does not know. */
  readonly code: string;
  readonly message: string;
  /** JSON Pointer (v3) or name of the parameter (v1). */
  readonly pointer: string | undefined;
  /** False if the same request cannot succeed later; undefined if the body does not say. */
  readonly retryable: boolean | undefined;
}

/** An error body: its first error, all errors, and if it allows a retry. */
export interface ErrorSummary {
  readonly first: ErrorItem | undefined;
  readonly all: readonly ErrorItem[];
  /** True if a part of the body says `retryable: false`. */
  readonly refusesRetry: boolean;
}

/** Parses the text of an error body. */
export function parseErrorBody(text: string): ErrorSummary {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const top = [member(body, "error"), member(body, "detail")].map(readItem).filter(isPresent);
  const list = member(body, "errors");
  const errors = (Array.isArray(list) ? list : []).map(readItem).filter(isPresent);
  return {
    first: top[0] ?? errors[0],
    all: errors.length > 0 ? errors : top,
    refusesRetry: [...top, ...errors].some((item) => item.retryable === false),
  };
}

function readItem(value: unknown): ErrorItem | undefined {
  if (typeof value === "string") {
    return { code: value, message: "", pointer: undefined, retryable: undefined };
  }
  const code = member(value, "code");
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  const [message, pointer] = [member(value, "message"), member(value, "field")];
  const retryable = member(value, "retryable");
  return {
    code: typeof code === "string" ? code : "",
    message: typeof message === "string" ? message : "",
    pointer: typeof pointer === "string" ? pointer : undefined,
    retryable: typeof retryable === "boolean" ? retryable : undefined,
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}
