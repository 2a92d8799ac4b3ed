// Draws the home and its comparables over the operator's tiles. The drawing beside it stays where
// this script or WebGL does not run, and on paper.

import * as maplibre from "/assets/maplibre-gl-6.17.0.mjs";
import { styleOf } from "/assets/tile-style.js";

// The other script of the page, which reads tiles by ranges of the file.
const { PMTiles, Protocol } = window.pmtiles;

const figure = document.querySelector("figure.tiles");
const drawing = document.querySelector("svg.map");
const status = figure.querySelector("[role=status]");
const places = JSON.parse(figure.dataset.places);

function styleSheet() {
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = "/assets/maplibre-gl-6.17.0.css";
    link.onload = resolve;
    link.onerror = reject;
    document.head.append(link);
  });
}

// The home, or links to the rows of the comparables at one place.
function marker(place, show) {
  const group = document.createElement("div");
  group.className = "marker";
  for (const home of place.homes) {
    const at = document.createElement(home.number ? "a" : "span");
    if (home.number) {
      at.href = `#comparable-${home.number}`;
      at.textContent = home.number;
      at.setAttribute("aria-label", `Comparable ${home.number}: ${home.words}`);
      at.addEventListener("click", (event) => {
        event.preventDefault();
        const row = document.getElementById(`comparable-${home.number}`);
        location.replace(at.href);
        row.focus();
      });
    } else {
      at.className = "home";
      at.textContent = "⌂";
      at.tabIndex = 0;
      at.setAttribute("role", "img");
      at.setAttribute("aria-label", `The home: ${home.words}`);
    }
    for (const seen of ["focus", "mouseenter"]) {
      at.addEventListener(seen, () => show(place, at.getAttribute("aria-label")));
    }
    group.append(at);
  }
  return group;
}

async function draw() {
  const address = figure.dataset.tiles;
  const archive = new PMTiles(address);
  const [header, metadata] = await Promise.all([
    archive.getHeader(),
    archive.getMetadata(),
    styleSheet(),
  ]);
  const protocol = new Protocol();
  protocol.add(archive);
  maplibre.addProtocol("pmtiles", protocol.tile);
  maplibre.setWorkerUrl("/assets/maplibre-gl-worker-6.17.0.mjs");

  const bounds = new maplibre.LngLatBounds();
  for (const place of places) bounds.extend([place.longitude, place.latitude]);
  const fit = { padding: 48, maxZoom: Math.min(16, header.maxZoom + 3) };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const style = () => styleOf(`pmtiles://${address}`, header, metadata, dark.matches);

  figure.hidden = false;
  const map = new maplibre.Map({
    container: figure.querySelector(".canvas"),
    style: style(),
    bounds,
    fitBoundsOptions: fit,
    attributionControl: false,
    cooperativeGestures: true,
    dragRotate: false,
    locale: { "Map.Title": "Map of the home and its comparables. Arrow keys move it." },
  });
  drawing.classList.add("replaced");
  map.addControl(new maplibre.ScaleControl({ maxWidth: 120 }));
  map.on("error", (event) => {
    status.textContent = `A part of the map cannot be read: ${event.error.message}`;
  });
  map.on("idle", () => figure.setAttribute("data-drawn", ""));
  dark.addEventListener("change", () => map.setStyle(style()));

  const popup = new maplibre.Popup({ closeButton: false, offset: 18, focusAfterOpen: false });
  const show = (place, words) =>
    popup.setLngLat([place.longitude, place.latitude]).setText(words).addTo(map);
  for (const place of places) {
    new maplibre.Marker({ element: marker(place, show) })
      .setLngLat([place.longitude, place.latitude])
      .addTo(map);
  }
  figure.querySelector("[data-zoom=in]").addEventListener("click", () => map.zoomIn());
  figure.querySelector("[data-zoom=out]").addEventListener("click", () => map.zoomOut());
  figure.querySelector("[data-zoom=all]").addEventListener("click", () => map.fitBounds(bounds, fit));
}

draw().catch((error) => {
  figure.hidden = true;
  drawing.classList.remove("replaced");
  console.warn(`The plain map stays: ${error.message}`);
});
