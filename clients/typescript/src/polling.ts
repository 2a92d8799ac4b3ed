// The waits between two looks at a job. The contract asks for five seconds, and to back off.

import type { Clock } from "./clock.js";
import { JobTimeoutError } from "./errors.js";
import type { CallOptions } from "./http.js";

/** Waits for a job. */
export interface WaitOptions extends CallOptions {
  /** The longest wait, in seconds; an hour by default. */
  readonly timeoutSeconds?: number;
  /** The first wait between two requests, in seconds; five by default, as the contract asks. */
  readonly pollSeconds?: number;
}

const DEFAULT_TIMEOUT_SECONDS = 3600;
const DEFAULT_POLL_SECONDS = 5;
const MAX_POLL_SECONDS = 60;
const GROWTH = 1.5;

/** The waits of one call: each is half as long again as the last one, up to a minute. */
export class Polling {
  readonly #clock: Clock;
  readonly #options: WaitOptions;
  readonly #timeout: number;
  readonly #deadline: number;
  #seconds: number;

  constructor(clock: Clock, options: WaitOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#timeout = options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
    this.#deadline = clock.now() + this.#timeout * 1000;
    this.#seconds = options.pollSeconds ?? DEFAULT_POLL_SECONDS;
  }

  /**
   * Waits before the next request about a job of this status. `asked` is the wait of the response's
   * Retry-After, in seconds, which a caller's own interval replaces.
   *
   * @throws {@link JobTimeoutError} if the wait would end after the timeout.
   */
  async pause(jobId: string, status: string, asked = 0): Promise<void> {
    const least = this.#options.pollSeconds === undefined ? asked : 0;
    const seconds = Math.max(this.#seconds, least);
    const milliseconds = seconds * 1000 * (1 + 0.1 * this.#clock.random());
    if (this.#clock.now() + milliseconds > this.#deadline) {
      throw new JobTimeoutError(jobId, status, this.#timeout);
    }
    await this.#clock.sleep(milliseconds, this.#options.signal);
    this.#seconds = Math.min(this.#seconds * GROWTH, Math.max(MAX_POLL_SECONDS, this.#seconds));
  }
}
