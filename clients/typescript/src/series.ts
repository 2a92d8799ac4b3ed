// Market statistics and rates: two families with the same routes.

import type { CallInit, CallOptions, Http } from "./http.js";
import { QUERY } from "./transport.js";
import type {
  MarketsQuery,
  RatesQuery,
  Series,
  SeriesAreas,
  SeriesCatalogue,
  SeriesEnvelope,
  SeriesObservation,
  SeriesRelease,
} from "./types.js";

/** A series without its observations: basis, metric, unit, dimensions and availability. */
export type SeriesHead = Omit<Series, "observations">;

/** An observation with its series and the release that answered. Its status stays with it. */
export interface SeriesRow {
  readonly releaseId: string;
  readonly dataset: string;
  readonly series: SeriesHead;
  readonly observation: SeriesObservation;
}

/** The routes of a family, as the typed client calls them. */
interface Routes<Q> {
  series(http: Http, query: Q | { cursor: string }, options: CallOptions): Promise<SeriesEnvelope>;
  coverage(http: Http, query: Q, options: CallOptions): Promise<SeriesEnvelope>;
  datasets(http: Http, query: Release, options: CallOptions): Promise<SeriesCatalogue>;
  current(http: Http, options: CallOptions): Promise<SeriesRelease>;
}

/** The release that answers; the current one if absent. */
interface Release {
  readonly release_id?: string;
}

/** Queries of a family. A pinned one names its release in each query. */
export class Family<Q extends object> {
  /** The pinned release. */
  readonly releaseId: string | undefined;
  protected readonly http: Http;
  readonly #routes: Routes<Q>;

  constructor(http: Http, routes: Routes<Q>, releaseId?: string) {
    this.http = http;
    this.#routes = routes;
    this.releaseId = releaseId;
  }

  /**
   * Yields the observations of a selection, over all pages. A series without observations is not
   * among them: `pages` has it, with its availability and the notice of the answer.
   */
  async *series(query: Q, options: CallOptions = {}): AsyncGenerator<SeriesRow, void> {
    for await (const page of this.pages(query, options)) {
      const { release_id: releaseId, dataset } = page;
      for (const { observations, ...series } of page.series) {
        for (const observation of observations ?? []) {
          yield { releaseId, dataset, series, observation };
        }
      }
    }
  }

  /** Yields the pages of a selection. The cursor keeps the selection and the release. */
  async *pages(query: Q, options: CallOptions = {}): AsyncGenerator<SeriesEnvelope, void> {
    let next: Q | { cursor: string } = this.#pin(query);
    for (;;) {
      const page: SeriesEnvelope = await this.#routes.series(this.http, next, options);
      yield page;
      if (!page.next_cursor) {
        return;
      }
      next = { cursor: page.next_cursor };
    }
  }

  /** Returns the series of a selection with their availability, without observations. */
  async coverage(query: Q, options: CallOptions = {}): Promise<SeriesEnvelope> {
    return this.#routes.coverage(this.http, this.#pin(query), options);
  }

  /** Returns the datasets that this key may use. */
  async datasets(options: CallOptions = {}): Promise<SeriesCatalogue> {
    return this.#routes.datasets(this.http, this.#pin({}), options);
  }

  /** Returns the current release of the family, whatever this session is pinned to. */
  async currentRelease(options: CallOptions = {}): Promise<SeriesRelease> {
    return this.#routes.current(this.http, options);
  }

  #pin<T extends object>(query: T): T {
    return this.releaseId === undefined ? query : { release_id: this.releaseId, ...query };
  }
}

/** Market statistics by local authority. */
export class Markets extends Family<MarketsQuery> {
  constructor(http: Http, releaseId?: string) {
    super(http, MARKETS, releaseId);
  }

  /** Returns a session on one release: the given one, else the one that is current now. */
  async pin(releaseId?: string, options: CallOptions = {}): Promise<Markets> {
    return new Markets(this.http, releaseId ?? (await this.currentRelease(options)).release_id);
  }

  /** Returns the local authorities of the release. */
  async areas(options: CallOptions = {}): Promise<SeriesAreas> {
    const params = { query: this.releaseId === undefined ? {} : { release_id: this.releaseId } };
    return this.http.call(QUERY, options, (client, init) =>
      client.GET("/v1/markets/areas", { ...init, params }),
    );
  }
}

/** Sterling rates and financing references. */
export class Rates extends Family<RatesQuery> {
  constructor(http: Http, releaseId?: string) {
    super(http, RATES, releaseId);
  }

  /** Returns a session on one release: the given one, else the one that is current now. */
  async pin(releaseId?: string, options: CallOptions = {}): Promise<Rates> {
    return new Rates(this.http, releaseId ?? (await this.currentRelease(options)).release_id);
  }
}

const MARKETS: Routes<MarketsQuery> = {
  series: (http, query, options) =>
    http.call(QUERY, options, (client, init) =>
      client.GET("/v1/markets/series", withQuery(init, query)),
    ),
  coverage: (http, query, options) =>
    http.call(QUERY, options, (client, init) =>
      client.GET("/v1/markets/coverage", withQuery(init, query)),
    ),
  datasets: (http, query, options) =>
    http.call(QUERY, options, (client, init) =>
      client.GET("/v1/markets/datasets", withQuery(init, query)),
    ),
  current: (http, options) =>
    http.call(QUERY, options, (client, init) => client.GET("/v1/markets/releases/current", init)),
};

const RATES: Routes<RatesQuery> = {
  series: (http, query, options) =>
    http.call(QUERY, options, (client, init) =>
      client.GET("/v1/rates/series", withQuery(init, query)),
    ),
  coverage: (http, query, options) =>
    http.call(QUERY, options, (client, init) =>
      client.GET("/v1/rates/coverage", withQuery(init, query)),
    ),
  datasets: (http, query, options) =>
    http.call(QUERY, options, (client, init) =>
      client.GET("/v1/rates/datasets", withQuery(init, query)),
    ),
  current: (http, options) =>
    http.call(QUERY, options, (client, init) => client.GET("/v1/rates/releases/current", init)),
};

function withQuery<Q>(init: CallInit, query: Q): CallInit & { params: { query: Q } } {
  return { ...init, params: { query } };
}
