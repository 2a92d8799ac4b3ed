// The synchronous routes of valuations, by mode.

import type { CallOptions, Http } from "./http.js";
import { valuation } from "./transport.js";
import type {
  BatchResult,
  DevelopmentOptions,
  DevelopmentRequest,
  DevelopmentRow,
  ExistingRequest,
  ExistingRow,
  Mode,
  Options,
  OptionsOf,
  RequestOf,
  RowOf,
  ValuationResult,
} from "./types.js";

/** A synchronous valuation. */
export interface ValueOptions<M extends Mode> extends CallOptions {
  /** `standard` by default. */
  readonly mode?: M;
  /**
   * Sends the request again after a lost connection. Off by default, because the service may value
   * and charge it twice.
   */
  readonly repeatAfterLoss?: boolean;
}

/** A request with many rows. */
export interface BatchBody<M extends Mode> {
  readonly requests: RowOf<M>[];
  readonly options?: OptionsOf<M>;
}

/** Values one home. */
export function valueOne<M extends Mode>(
  http: Http,
  body: RequestOf<M>,
  options: ValueOptions<M>,
): Promise<ValuationResult> {
  const kind = valuation(options.repeatAfterLoss ?? false);
  return http.call(kind, options, (client, init) => {
    // The mode fixes the type of the body, which the compiler cannot follow into the branches.
    switch (options.mode) {
      case "development":
        return client.POST("/v3/development-value", { ...init, body: body as DevelopmentRequest });
      case "simple":
        return client.POST("/v3/simple-value", { ...init, body: body as ExistingRequest });
      default:
        return client.POST("/v3/value", { ...init, body: body as ExistingRequest });
    }
  });
}

/** Values the rows of one request. */
export function valueBatch<M extends Mode>(
  http: Http,
  body: BatchBody<M>,
  options: ValueOptions<M>,
): Promise<BatchResult> {
  const kind = valuation(options.repeatAfterLoss ?? false);
  return http.call(kind, options, (client, init) => {
    switch (options.mode) {
      case "development": {
        const sites = body as { requests: DevelopmentRow[]; options?: DevelopmentOptions };
        return client.POST("/v3/development-batch-value", { ...init, body: sites });
      }
      case "simple": {
        const homes = body as { requests: ExistingRow[]; options?: Options };
        return client.POST("/v3/simple-batch-value", { ...init, body: homes });
      }
      default: {
        const homes = body as { requests: ExistingRow[]; options?: Options };
        return client.POST("/v3/batch-value", { ...init, body: homes });
      }
    }
  });
}
