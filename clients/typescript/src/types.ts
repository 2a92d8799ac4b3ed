// Names for the generated types. `schema.ts` is written by `npm run generate`.

import type { components, operations } from "./schema.js";

type Schemas = components["schemas"];

export type BatchResult = Schemas["BatchResult"];
export type Coverage = Schemas["Coverage"];
export type DevelopmentOptions = Schemas["DevelopmentOptions"];
export type DevelopmentRequest = Schemas["DevelopmentRequest"];
export type DevelopmentRow = Schemas["DevelopmentRow"];
export type ExistingRequest = Schemas["ExistingRequest"];
export type ExistingRow = Schemas["ExistingRow"];
export type JobDocument = Schemas["JobDocument"];
export type JobRequest = Schemas["JobRequest"];
export type Options = Schemas["Options"];
export type ReleaseMetadata = Schemas["ReleaseMetadata"];
export type Series = Schemas["Series"];
export type SeriesAreas = Schemas["SeriesAreas"];
export type SeriesCatalogue = Schemas["SeriesCatalogue"];
export type SeriesEnvelope = Schemas["SeriesEnvelope"];
export type SeriesObservation = Schemas["SeriesObservation"];
export type SeriesRelease = Schemas["SeriesRelease"];
export type ValuationResult = Schemas["ValuationResult"];
export type ValuedResult = Schemas["ValuedResult"];

/** The evidence of a valuation: `simple` has none, `development` values a proposed home. */
export type Mode = "simple" | "standard" | "development";

/** The request of a single valuation in this mode. */
export type RequestOf<M extends Mode> = M extends "development"
  ? DevelopmentRequest
  : ExistingRequest;

/** A row of a batch or a job in this mode. */
export type RowOf<M extends Mode> = M extends "development" ? DevelopmentRow : ExistingRow;

/** The options that the rows of a batch or a job share in this mode. */
export type OptionsOf<M extends Mode> = M extends "development" ? DevelopmentOptions : Options;

/** The selectors of a series of markets. Those of its coverage are the same. */
export type MarketsQuery = Omit<Query<"marketsCoverage">, "page_size"> &
  Pick<Query<"marketsSeries">, "page_size">;
/** The selectors of a series of rates. Those of its coverage are the same. */
export type RatesQuery = Omit<Query<"ratesCoverage">, "page_size"> &
  Pick<Query<"ratesSeries">, "page_size">;

type Query<Operation extends keyof operations> = NonNullable<
  operations[Operation]["parameters"]["query"]
>;
