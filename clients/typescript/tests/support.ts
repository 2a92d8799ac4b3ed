// What the tests share: a scripted service, and a clock that does not wait.

import { readFileSync } from "node:fs";
import {
  type DevelopmentRequest,
  Domesday,
  type DomesdayOptions,
  type ExistingRequest,
} from "../src/index.js";

/** A clock whose sleeps take no time. It keeps the waits, in milliseconds. */
export class InstantClock {
  time = Date.parse("2026-10-15T12:00:00Z");
  readonly waits: number[] = [];
  readonly #chance: number;

  constructor(chance = 0.5) {
    this.#chance = chance;
  }

  now(): number {
    return this.time;
  }

  random(): number {
    return this.#chance;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.waits.push(milliseconds);
    this.time += milliseconds;
  }
}

/** A request that the scripted service received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A reply of the scripted service: a response, or a connection that was lost or refused. */
export type ScriptedReply = (() => Response) | "lost" | "refused";

/** Returns a client of a service that gives these replies in turn, and the requests that it got. */
export function scripted(answers: ScriptedReply[], options: Partial<DomesdayOptions> = {}) {
  const requests: ReceivedRequest[] = [];
  const clock = new InstantClock();
  const client = new Domesday({
    baseUrl: "http://service.invalid",
    apiKey: "secret",
    clock,
    fetch: async (input, init) => {
      const { pathname, search } = new URL(input);
      const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
      const headers = new Headers(init.headers);
      requests.push({ method: init.method ?? "GET", path: pathname + search, headers, body });
      const answer = answers[requests.length - 1];
      if (answer === undefined) {
        throw new Error(`no answer for request ${requests.length}`);
      }
      if (answer === "lost") {
        throw new TypeError("fetch failed");
      }
      if (answer === "refused") {
        // As Node.js says it. lost_connections.test.ts has a real one for each runtime.
        const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
        throw new TypeError("fetch failed", { cause });
      }
      return answer();
    },
    ...options,
  });
  return { client, clock, requests };
}

/** Returns an answer of this status and body. */
export function json(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): ScriptedReply {
  return () => new Response(JSON.stringify(body), { status, headers });
}

/** Returns a refusal of v3. */
export function refusal(
  status: number,
  code: string,
  retryable: boolean,
  headers: Record<string, string> = {},
): ScriptedReply {
  return json(status, { error: { code, message: "no", retryable } }, headers);
}

/** A home of the demo, at a building of its street. */
export function home(building = "15"): ExistingRequest {
  return {
    property: {
      valuation_date: "2026-10-15",
      postcode: "QA1 1AF",
      building_number_or_name: building,
      street: "Badger Yard Gardens",
      type: "S",
      subtype: "house_semi_detached",
      title_tenure: "freehold",
    },
    occupancy: { status: "owner_occupied" },
    size: { floor_area_m2: 104.5, bedrooms: 3 },
  };
}

/** A site of the demo on which a house is to be built. */
export function site(): DevelopmentRequest {
  return {
    property: {
      valuation_date: "2026-10-15",
      postcode: "QA1 1AF",
      site_latitude: 55.60702,
      site_longitude: -2.21319,
      type: "D",
      subtype: "house_detached",
      title_tenure: "freehold",
    },
    occupancy: { status: "vacant" },
    size: { floor_area_m2: 128, bedrooms: 4, living_rooms: 2, storeys: 2 },
  };
}

/** Parses a file that all clients share. */
export function sharedFile(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8"));
}

/** Returns the address and the key of the demo server. */
export function demoServer(): { baseUrl: string; apiKey: string } {
  const { DOMESDAY_URL: baseUrl, DOMESDAY_KEY: apiKey } = process.env;
  if (!baseUrl || !apiKey) {
    throw new Error("DOMESDAY_URL and DOMESDAY_KEY name no server");
  }
  return { baseUrl, apiKey };
}
