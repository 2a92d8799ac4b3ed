export type {
  BatchResult,
  ErrorBody,
  ExistingRequest,
  ExistingRow,
  Options,
  ValuationResult,
  ValuedResult,
} from "./client/types.gen.js";
