// openapi-fetch with the types of the description and the transport of this client.

import createClient, { type Client } from "openapi-fetch";
import { ResponseError } from "./errors.js";
import type { paths } from "./schema.js";
import type { CallKind, Transport } from "./transport.js";

/** What a caller may say about a single call. */
export interface CallOptions {
  /** Aborts the call, its waits included. */
  readonly signal?: AbortSignal;
}

/** The members of a call of openapi-fetch beside its parameters and its body. */
export type CallInit = {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly signal: AbortSignal | null;
};

/** The outcome of a call of openapi-fetch. */
interface Outcome<T> {
  readonly data?: T;
  readonly response: Response;
}

/** Typed calls of the service's routes. */
export class Http {
  readonly client: Client<paths>;
  readonly transport: Transport;

  constructor(baseUrl: string, apiKey: string, transport: Transport) {
    const headers = { Authorization: `Bearer ${apiKey}`, Accept: "application/json" };
    this.client = createClient<paths>({ baseUrl, headers });
    this.transport = transport;
  }

  /**
   * Makes a call of this kind and returns its data. The transport throws for every status but
   * success.
   *
   * @throws {@link ResponseError} if the body is empty or not JSON.
   */
  async call<T>(
    kind: CallKind,
    options: CallOptions,
    send: (client: Client<paths>, init: CallInit) => Promise<Outcome<T>>,
  ): Promise<T> {
    return (await this.callWithResponse(kind, options, send)).data;
  }

  /** Makes a call as `call` does and returns its response too, for the status and the headers. */
  async callWithResponse<T>(
    kind: CallKind,
    options: CallOptions,
    send: (client: Client<paths>, init: CallInit) => Promise<Outcome<T>>,
  ): Promise<{ data: T; response: Response }> {
    let received: Response | undefined;
    const fetch = async (request: Request): Promise<Response> => {
      received = await this.transport.send(request, kind);
      return received;
    };
    try {
      const { data, response } = await send(this.client, { fetch, signal: options.signal ?? null });
      if (data !== undefined && data !== null) {
        return { data, response };
      }
    } catch (error) {
      // The only syntax error is that of the body: everything else has a class of this client.
      throw error instanceof SyntaxError && received ? new ResponseError(received, error) : error;
    }
    throw new ResponseError(received);
  }
}
