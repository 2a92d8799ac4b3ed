import type { components } from "./schema.js";

type Schemas = components["schemas"];
export type BatchResult = Schemas["BatchResult"];
export type ErrorBody = Schemas["ErrorBody"];
export type ExistingRequest = Schemas["ExistingRequest"];
export type ExistingRow = Schemas["ExistingRow"];
export type Options = Schemas["Options"];
export type ValuationResult = Schemas["ValuationResult"];
export type ValuedResult = Schemas["ValuedResult"];
