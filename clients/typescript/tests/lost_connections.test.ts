// Connections that a server really cuts, since each runtime reports them in another way.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { ConnectionError, Domesday } from "../src/index.js";
import { home, InstantClock } from "./support.js";

const BODY = '{"release_id":"r"}';
const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
const COMPLETE = `${HEAD}Content-Length: ${BODY.length}\r\nConnection: close\r\n\r\n${BODY}`;

/** What the server writes before it cuts the connection. */
const CUTS: ReadonlyMap<string, string> = new Map([
  ["before the head", ""],
  ["within the head", HEAD],
  ["before the body", `${HEAD}Content-Length: ${BODY.length}\r\n\r\n`],
  ["within the body", `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 5)}`],
  ["within a chunk", `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n${BODY.slice(0, 5)}\r\n`],
]);

/**
 * Runs `use` with a client of a server that cuts the first connections, and then answers in full.
 * Returns how many requests the server received.
 */
async function withCuts(
  cuts: string[],
  use: (client: Domesday, baseUrl: string) => Promise<void>,
  attemptTimeoutSeconds = 30,
): Promise<number> {
  let received = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => {
      const text = cuts[received] ?? COMPLETE;
      received += 1;
      if (text === "never") {
        return;
      }
      socket.end(text);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const baseUrl = `http://127.0.0.1:${address.port}`;
  const clock = new InstantClock();
  try {
    await use(new Domesday({ baseUrl, apiKey: "k", clock, attemptTimeoutSeconds }), baseUrl);
  } finally {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  }
  return received;
}

for (const [place, text] of CUTS) {
  test(`a query is repeated after a cut ${place}`, async () => {
    const received = await withCuts([text, text], async (client) => {
      assert.equal((await client.release()).release_id, "r");
    });
    assert.equal(received, 3);
  });

  test(`a value is sent once and may be charged after a cut ${place}`, async () => {
    const received = await withCuts([text], async (client) => {
      const error = await client.value(home()).catch((reason: unknown) => reason);
      assert.ok(error instanceof ConnectionError, String(error));
      assert.equal(error.mayBeCharged, true);
    });
    assert.equal(received, 1);
  });
}

/** Returns an address where nothing listens. */
async function freeAddress(): Promise<string> {
  let baseUrl = "";
  await withCuts([], async (_, address) => {
    baseUrl = address;
  });
  return baseUrl;
}

for (const [name, address] of [
  ["refuses", freeAddress],
  ["has no address for", async () => "http://domesday.invalid"],
] as const) {
  test(`a value that the machine ${name} is sent again, and charges nothing`, async () => {
    const clock = new InstantClock();
    const client = new Domesday({ baseUrl: await address(), apiKey: "k", clock });
    const error = await client.value(home()).catch((reason: unknown) => reason);
    assert.ok(error instanceof ConnectionError, String(error));
    assert.deepEqual([error.mayBeCharged, error.attempts], [false, 5]);
    assert.match(error.message, /nothing was sent/);
  });
}

test("a value whose response does not come in time may be charged", async () => {
  const use = async (client: Domesday): Promise<void> => {
    await assert.rejects(client.value(home()), { name: "ConnectionError", mayBeCharged: true });
  };
  assert.equal(await withCuts(["never"], use, 0.2), 1);
});

test("results whose body is cut are asked for again", async () => {
  const document = '{"status":"completed","result":{"results":[{"status":"valued"}]}}';
  const head = `${HEAD}Content-Length: ${document.length}\r\nConnection: close\r\n\r\n`;
  const received = await withCuts(
    [head + document.slice(0, 30), head + document],
    async (client) => {
      const results: unknown[] = [];
      for await (const result of client.jobs.results("j")) {
        results.push(result);
      }
      assert.deepEqual(results, [{ status: "valued" }]);
    },
  );
  assert.equal(received, 2);
});
