// An answer with words and members that this version does not know, for each type of answer. The
// examples of docs/openapi.json are altered one place at a time: each text is replaced by another
// word, and each object gets a member. No call may throw, and the word or member must be kept. A
// type of answer that the description adds is tested without a line here.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, type Domesday } from "../src/index.js";
import { home, json, scripted, sharedFile, site } from "./support.js";

interface Example {
  readonly value?: unknown;
  readonly $ref?: string;
}
interface Operation {
  readonly responses: Record<string, { content?: Record<string, { examples?: Examples }> }>;
}
type Examples = Record<string, Example>;
interface Description {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly examples: Examples };
}

const NEW = "brand_new";
const DESCRIPTION = sharedFile("../docs/openapi.json") as Description;

type JsonPath = readonly (string | number)[];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Yields the place of each object and each text. Of a list, the first item stands for all. */
function* places(value: unknown, place: JsonPath = []): Generator<JsonPath, void> {
  if (typeof value === "string") {
    yield place;
  } else if (Array.isArray(value) && value.length > 0) {
    yield* places(value[0], [...place, 0]);
  } else if (isObject(value)) {
    yield place;
    for (const [name, member] of Object.entries(value)) {
      yield* places(member, [...place, name]);
    }
  }
}

/** Returns a copy with another word at a place, or with a further member. */
function altered(value: unknown, place: JsonPath): unknown {
  const [step, ...rest] = place;
  if (step === undefined) {
    return isObject(value) ? { ...value, [NEW]: { deep: [1] } } : NEW;
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === step ? altered(item, rest) : item));
  }
  return isObject(value) ? { ...value, [step]: altered(value[step], rest) } : value;
}

interface Answer {
  readonly route: string;
  readonly status: number;
  readonly name: string;
  readonly body: unknown;
}

/** Yields each example of the description. */
function* examples(): Generator<Answer, void> {
  for (const [path, methods] of Object.entries(DESCRIPTION.paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        for (const [name, example] of Object.values(content).flatMap(namedExamples)) {
          const shared = DESCRIPTION.components.examples[example.$ref?.split("/").at(-1) ?? ""];
          const body = (shared ?? example).value;
          yield { route: `${method} ${path}`, status: Number(status), name, body };
        }
      }
    }
  }
}

function namedExamples({ examples: found = {} }: { examples?: Examples }): [string, Example][] {
  return Object.entries(found);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) {
    all.push(item);
  }
  return all;
}

type Call = (client: Domesday, rows: number) => Promise<unknown>;

const homes = (rows: number) => Array.from({ length: rows }, () => home());
const sites = (rows: number) => Array.from({ length: rows }, () => site());
const CALLS: Readonly<Record<string, Call>> = {
  "get /v1/markets/areas": (client) => client.markets.areas(),
  "get /v1/markets/coverage": (client) => client.markets.coverage({ dataset: "market_activity" }),
  "get /v1/markets/datasets": (client) => client.markets.datasets(),
  "get /v1/markets/releases/current": (client) => client.markets.currentRelease(),
  "get /v1/markets/series": (client) =>
    collect(client.markets.pages({ dataset: "market_activity" })),
  "get /v1/rates/coverage": (client) => client.rates.coverage({ dataset: "bank_rate" }),
  "get /v1/rates/datasets": (client) => client.rates.datasets(),
  "get /v1/rates/releases/current": (client) => client.rates.currentRelease(),
  "get /v1/rates/series": (client) => collect(client.rates.pages({ dataset: "bank_rate" })),
  "get /v3/coverage": (client) => client.coverage("QA1 1AF"),
  "get /v3/releases/current": (client) => client.release(),
  "get /v3/valuation-jobs/{job_id}": (client) => client.jobs.get("j"),
  "get /v3/valuation-jobs/{job_id}/results": (client) => collect(client.jobs.results("j")),
  "post /v3/batch-value": (client, rows) => collect(client.valueMany(homes(rows))),
  "post /v3/development-batch-value": (client, rows) =>
    collect(client.valueMany(sites(rows), { mode: "development" })),
  "post /v3/development-value": (client) => client.value(site(), { mode: "development" }),
  "post /v3/simple-batch-value": (client, rows) =>
    collect(client.valueMany(homes(rows), { mode: "simple" })),
  "post /v3/simple-value": (client) => client.value(home(), { mode: "simple" }),
  "post /v3/valuation-jobs": (client) =>
    client.jobs.submit({ requests: [home()] }, { label: "run" }),
  "post /v3/value": (client) => client.value(home()),
};

/** Returns true if a call's outcome has this part of the answer. Rows and results come alone. */
function isHandedOn({ route, status }: Answer, place: JsonPath): boolean {
  if (route.includes("batch")) {
    return place[0] === "results" && place.length > 1;
  }
  if (route.endsWith("/results")) {
    return status === 200 && place[1] === "results" && place.length > 2;
  }
  return true;
}

function numberOfRows(body: unknown): number {
  return isObject(body) && Array.isArray(body["results"]) ? body["results"].length : 1;
}

const LAST = { status: "completed", result: { results: [] }, series: [] };
const REFUSALS = new Map<string, Answer>();

for (const answer of examples()) {
  const { route, status, name, body } = answer;
  const call = CALLS[route];
  assert.ok(call, `${route} has no call`);
  if (status >= 400) {
    // Routes share errors, so each is tried with one of them.
    REFUSALS.set(`${status} ${name}`, answer);
    continue;
  }
  test(`no word or member of ${route} ${status} ${name} throws or is lost`, async () => {
    const all = [...places(body)];
    assert.ok(all.length >= 3);
    for (const place of all) {
      const { client } = scripted([json(status, altered(body, place)), json(200, LAST)]);
      const shown = JSON.stringify(await call(client, numberOfRows(body)));
      assert.ok(shown.includes(NEW) || !isHandedOn(answer, place), place.join("/"));
    }
  });
}

for (const [name, { route, status, body }] of REFUSALS) {
  test(`no word or member of the error ${name} changes its kind`, async () => {
    for (const place of places(body)) {
      const answer = json(status, altered(body, place));
      const { client } = scripted(Array.from({ length: 5 }, () => answer));
      const error = await CALLS[route]?.(client, 1).catch((reason: unknown) =>
        reason instanceof Error && reason.name === "BatchError" ? reason.cause : reason,
      );
      assert.ok(error instanceof ApiError && error.status === status, String(error));
      assert.ok(place.join() !== "error,code" || error.code === NEW);
    }
  });
}
