import { BrowserError } from "./errors.js";

/**
 * Checks that this is no browser: the contract keeps keys out of them. A page has a document, and
 * the workers of every browser name Mozilla as their user agent.
 *
 * @throws {@link BrowserError} in a page or a worker of a browser.
 */
export function requireServer(): void {
  const agent: unknown = globalThis.navigator?.userAgent;
  if ("document" in globalThis || (typeof agent === "string" && agent.startsWith("Mozilla/"))) {
    throw new BrowserError();
  }
}
