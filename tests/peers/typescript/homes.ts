// What both clients in TypeScript send. It is typed by the client that is compiled with it.
import type { ExistingRequest, ExistingRow, Options } from "./names.js";

/** Options of a batch, which a row without its own inherits. */
export const shared: Options = { include_comparables: true, comparables_limit: 2 };

/** A house of the demo, at a building of the street. */
export function home(building: string): ExistingRequest {
  return {
    property: {
      valuation_date: "2026-10-15",
      postcode: "QA1 1AF",
      building_number_or_name: building,
      street: "Badger Yard Gardens",
      type: "S",
      subtype: "house_semi_detached",
      title_tenure: "freehold",
    },
    occupancy: { status: "owner_occupied" },
    size: { floor_area_m2: 104.5, bedrooms: 3, living_rooms: 2 },
  };
}

/** Rows with and without their own options. */
export function rows(): ExistingRow[] {
  return [
    { ...home("15"), request_reference: "inherits" },
    { ...home("15"), options: { include_comparables: false } },
    { ...home("15"), options: null },
  ];
}
