import { type Clock, systemClock } from "./clock.js";
import { type CallOptions, Http } from "./http.js";
import { Jobs } from "./jobs.js";
import { DEFAULT_LIMITS, type RetryLimits } from "./retry_policy.js";
import { Markets, Rates } from "./series.js";
import { requireServer } from "./server_side.js";
import { type Fetch, QUERY, Transport } from "./transport.js";
import type {
  Coverage,
  Mode,
  ReleaseMetadata,
  RequestOf,
  RowOf,
  ValuationResult,
} from "./types.js";
import { type RowResult, valueMany, type ValueManyOptions } from "./value_many.js";
import { valueOne, type ValueOptions } from "./valuations.js";

/** Settings of a client. */
export interface DomesdayOptions {
  /** Address of the service, such as `https://values.example`. */
  readonly baseUrl: string;
  /** The API key. It must stay on a server. */
  readonly apiKey: string;
  /** Bounds of retries that differ from the defaults. */
  readonly retries?: Partial<RetryLimits>;
  /** The longest duration of an attempt, in seconds; 60 by default. */
  readonly attemptTimeoutSeconds?: number;
  /** Replaces the global fetch, for example to use a proxy. */
  readonly fetch?: Fetch;
  /** Replaces the machine's clock and random numbers. */
  readonly clock?: Clock;
}

// A value may take ten seconds to send and 25 to process; the rest is for the network.
const ATTEMPT_TIMEOUT_SECONDS = 60;

/** A client of the valuation service (v3), and of market statistics and rates (v1). */
export class Domesday {
  /** Jobs: rows that the service values in the background. */
  readonly jobs: Jobs;
  /** Market statistics by local authority. */
  readonly markets: Markets;
  /** Sterling rates and financing references. */
  readonly rates: Rates;
  readonly #http: Http;

  /** @throws `BrowserError` in a browser, where a key would be public. */
  constructor(options: DomesdayOptions) {
    requireServer();
    const transport = new Transport({
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      clock: options.clock ?? systemClock,
      limits: { ...DEFAULT_LIMITS, ...options.retries },
      attemptTimeoutSeconds: options.attemptTimeoutSeconds ?? ATTEMPT_TIMEOUT_SECONDS,
    });
    this.#http = new Http(options.baseUrl, options.apiKey, transport);
    this.jobs = new Jobs(this.#http);
    this.markets = new Markets(this.#http);
    this.rates = new Rates(this.#http);
  }

  /**
   * Values one home. A home outside the automated market is no error: its result is `referred`.
   *
   * @throws `ApiError` for a refusal, and `ConnectionError` without a complete response. Reconcile
   *   after the latter, because the service may have charged the valuation.
   */
  async value<M extends Mode = "standard">(
    request: RequestOf<M>,
    options: ValueOptions<M> = {},
  ): Promise<ValuationResult> {
    return valueOne(this.#http, request, options);
  }

  /**
   * Values any number of homes and yields each row with its result, in the order of the rows. It
   * sends at most 2,500 rows and 9,500,000 bytes at once, one request after the other.
   *
   * @throws `BatchError` with the first row without a result. Results that were yielded stay good.
   */
  valueMany<M extends Mode = "standard">(
    rows: Iterable<RowOf<M>> | AsyncIterable<RowOf<M>>,
    options: ValueManyOptions<M> = {},
  ): AsyncGenerator<RowResult<RowOf<M>>, void> {
    return valueMany(this.#http, rows, options);
  }

  /** Returns the active release: its dates, its limits and the routes that this key may use. */
  async release(options: CallOptions = {}): Promise<ReleaseMetadata> {
    return this.#http.call(QUERY, options, (client, init) =>
      client.GET("/v3/releases/current", init),
    );
  }

  /** Returns if a postcode, and a UPRN, are in the active release. It values nothing. */
  async coverage(postcode: string, uprn?: string, options: CallOptions = {}): Promise<Coverage> {
    const params = { query: uprn === undefined ? { postcode } : { postcode, uprn } };
    return this.#http.call(QUERY, options, (client, init) =>
      client.GET("/v3/coverage", { ...init, params }),
    );
  }
}
