// Error bodies of all forms, and answers with words that the client does not know.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, BrowserError, Domesday, ResponseError } from "../src/index.js";
import { home, json, scripted } from "./support.js";

/** Returns the error of a value that is refused with this body. */
async function refused(status: number, text: string): Promise<ApiError> {
  const headers = { "x-service-request-id": "id-1" };
  const { client } = scripted([() => new Response(text, { status, headers })]);
  const error = await client.value(home()).catch((reason: unknown) => reason);
  assert.ok(error instanceof ApiError);
  assert.equal(error.requestId, "id-1");
  assert.equal(error.status, status);
  return error;
}

test("an error has the code, the pointer and every error of the request", async () => {
  const first = { code: "missing_field", message: "m", retryable: false, field: "/size" };
  const second = { ...first, field: "/property" };
  const error = await refused(422, JSON.stringify({ error: first, errors: [first, second] }));
  assert.deepEqual(
    [error.name, error.code, error.pointer, error.retryable],
    ["InvalidRequestError", "missing_field", "/size", false],
  );
  assert.deepEqual(
    error.errors.map(({ pointer }) => pointer),
    ["/size", "/property"],
  );
  assert.match(error.message, /^HTTP 422 missing_field at \/size: m \(request id-1\)$/);
});

test("a detail of either form is read", async () => {
  assert.equal((await refused(403, '{"detail": "access_disabled"}')).code, "access_disabled");
  const error = await refused(401, '{"detail": {"code": "new_code", "retryable": false}}');
  assert.deepEqual([error.name, error.code], ["AuthenticationError", "new_code"]);
});

test("a list alone gives its first error", async () => {
  assert.equal((await refused(422, '{"errors": ["odd", {"code": "a"}]}')).code, "odd");
});

test("a body of no known form gives an error without a code", async () => {
  for (const text of ["", "<html>", "null", "[]", "7", '{"error": 7}', '{"error": {"code": 7}}']) {
    const error = await refused(418, text);
    assert.deepEqual([error.name, error.code, error.pointer], ["ApiError", "", undefined], text);
  }
});

test("an answer with unknown words and fields is passed on", async () => {
  const answer = { status: "deferred", api_version: "v9", extra: { deep: [1] } };
  const { client } = scripted([json(200, answer)]);
  assert.deepEqual(await client.value(home()), answer);
});

test("a success that is not JSON is an error with its request id", async () => {
  for (const text of ["", "<html>ok</html>", '{"status": "val', "null"]) {
    const headers = { "x-service-request-id": "id-2" };
    const { client, requests } = scripted([() => new Response(text, { status: 200, headers })]);
    const error = await client.value(home()).catch((reason: unknown) => reason);
    assert.ok(error instanceof ResponseError, text);
    assert.deepEqual([error.status, error.requestId, requests.length], [200, "id-2", 1]);
  }
});

test("the key goes into the header and not into an error", async () => {
  const { client, requests } = scripted([json(401, { error: { code: "invalid_credential" } })]);
  const error = await client.release().catch((reason: unknown) => reason);
  assert.equal(requests[0]?.headers.get("authorization"), "Bearer secret");
  assert.ok(error instanceof ApiError && !JSON.stringify(error).includes("secret"));
});

test("a browser's page and its workers are refused", () => {
  const options = { baseUrl: "http://service.invalid", apiKey: "secret" };
  const globals: [string, unknown][] = [
    ["document", {}],
    ["navigator", { userAgent: "Mozilla/5.0 (X11; Linux x86_64)" }],
  ];
  for (const [name, value] of globals) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true });
    try {
      assert.throws(() => new Domesday(options), BrowserError, name);
    } finally {
      Reflect.deleteProperty(globalThis, name);
      if (before) {
        Object.defineProperty(globalThis, name, before);
      }
    }
  }
  assert.ok(new Domesday(options));
});
