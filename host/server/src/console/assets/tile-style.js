// The style of the tiles. Vector tiles are drawn by the names of their layers, as Protomaps and
// OpenMapTiles have them, without labels: those would need fonts that a file of tiles has not.

const PALETTES = {
  light: {
    ground: "#f4f2ec",
    land: "#f4f2ec",
    use: "#e9e7de",
    green: "#dbe8cf",
    water: "#b9d6e8",
    building: "#dcd6ca",
    road: "#ffffff",
    casing: "#c9c3b6",
    main: "#f3d9a4",
    border: "#8c8593",
    other: "#a9a49a",
  },
  dark: {
    ground: "#1c2024",
    land: "#1c2024",
    use: "#22272b",
    green: "#22302a",
    water: "#1d3444",
    building: "#30353a",
    road: "#4a5159",
    casing: "#14171a",
    main: "#6b5a37",
    border: "#8b8594",
    other: "#565f68",
  },
};

// Each layer by its name in Protomaps' or OpenMapTiles' tiles, in the order of drawing.
const DRAWN = [
  ["earth", "land"],
  ["landcover", "use"],
  ["landuse", "use"],
  ["park", "green"],
  ["water", "water"],
  ["waterway", "stream"],
  ["aeroway", "other"],
  ["building", "building"],
  ["buildings", "building"],
  ["transportation", "road"],
  ["roads", "road"],
  ["transit", "other"],
  ["boundary", "border"],
  ["boundaries", "border"],
];
// Names of places and the like, which are labels alone.
const LABELS = [
  "aerodrome_label", "housenumber", "mountain_peak", "place", "places", "poi", "pois",
  "transportation_name", "water_name",
];
const GREEN = [
  "allotments", "cemetery", "farmland", "forest", "garden", "golf_course", "grass", "grassland",
  "meadow", "nature_reserve", "orchard", "park", "pitch", "recreation_ground", "scrub",
  "village_green", "wood",
];
const MAIN = ["highway", "major_road", "motorway", "primary", "secondary", "trunk"];

const KIND = ["coalesce", ["get", "kind"], ["get", "class"], ""];
const isA = (names) => ["match", KIND, names, true, false];
const width = (low, high) =>
  ["interpolate", ["exponential", 1.6], ["zoom"], 8, low, 13, 4 * low, 18, high];

// The layers of the style for one layer of the tiles.
function layersOf(name, role, colours) {
  const fill = (id, colour, filter) => ({
    id: `${name}-${id}`,
    type: "fill",
    source: "tiles",
    "source-layer": name,
    filter: ["all", ["==", ["geometry-type"], "Polygon"], filter ?? true],
    paint: { "fill-color": colour },
  });
  const line = (id, colour, of, filter) => ({
    id: `${name}-${id}`,
    type: "line",
    source: "tiles",
    "source-layer": name,
    filter: filter ?? ["!=", ["geometry-type"], "Point"],
    layout: { "line-cap": "round", "line-join": "round" },
    paint: { "line-color": colour, "line-width": of },
  });
  const lines = ["==", ["geometry-type"], "LineString"];
  switch (role) {
    case "land":
    case "green":
    case "building":
      return [fill("fill", colours[role])];
    case "use":
      return [
        fill("fill", colours.use, ["!", isA(GREEN)]),
        fill("green", colours.green, isA(GREEN)),
      ];
    case "water":
      return [fill("fill", colours.water), line("line", colours.water, width(0.5, 6), lines)];
    case "stream":
      return [line("line", colours.water, width(0.5, 6), lines)];
    case "road":
      return [
        line("casing", colours.casing, width(0.6, 18), lines),
        line("small", colours.road, width(0.4, 15), ["all", lines, ["!", isA(MAIN)]]),
        line("main", colours.main, width(0.8, 20), ["all", lines, isA(MAIN)]),
      ];
    case "border":
      return [{ ...line("line", colours.border, 1.2), paint: { "line-color": colours.border, "line-width": 1.2, "line-dasharray": [3, 2] } }];
    default:
      return [line("line", colours.other, 1)];
  }
}

// Returns the style for a file of tiles.
export function styleOf(address, header, metadata, dark) {
  const colours = PALETTES[dark ? "dark" : "light"];
  const vector = header.tileType === 1;
  const source = {
    type: vector ? "vector" : "raster",
    tiles: [`${address}/{z}/{x}/{y}`],
    minzoom: header.minZoom,
    maxzoom: header.maxZoom,
    bounds: [header.minLon, header.minLat, header.maxLon, header.maxLat],
  };
  if (!vector) source.tileSize = 256;
  const background = { id: "ground", type: "background", paint: { "background-color": colours.ground } };
  const named = (metadata.vector_layers ?? []).map((layer) => layer.id);
  const known = DRAWN.filter(([name]) => named.includes(name));
  const unknown = named
    .filter((name) => !LABELS.includes(name) && !DRAWN.some(([other]) => other === name))
    .map((name) => [name, "other"]);
  const layers = vector
    ? [...known, ...unknown].flatMap(([name, role]) => layersOf(name, role, colours))
    : [{ id: "tiles", type: "raster", source: "tiles" }];
  return { version: 8, sources: { tiles: source }, layers: [background, ...layers] };
}
