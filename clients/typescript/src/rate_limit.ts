// The header RateLimit: `"requests";r=0;t=2` says that none more may come for two seconds.

const ITEM = /"[^"]*"((?:;[a-z*][a-z0-9_.*-]*=[^;,]*)*)/g;

/** The moment before which no request should be sent, as the last responses tell it. */
export class RateLimitGate {
  #opensAt = 0;

  /** Notes the limits of a response that arrived now, in milliseconds. */
  update(headers: Headers, now: number): void {
    for (const [, parameters = ""] of headers.get("ratelimit")?.matchAll(ITEM) ?? []) {
      const remaining = parameter(parameters, "r");
      const seconds = parameter(parameters, "t");
      if (remaining === 0 && seconds !== undefined) {
        this.#opensAt = Math.max(this.#opensAt, now + seconds * 1000);
      }
    }
  }

  /** Returns the milliseconds until the next request may be sent. */
  delay(now: number): number {
    return Math.max(0, this.#opensAt - now);
  }
}

function parameter(text: string, name: string): number | undefined {
  const found = new RegExp(`;${name}=(\\d{1,10})(?:;|$)`).exec(text);
  return found ? Number(found[1]) : undefined;
}
