// Draws the reference from the document of this service. Requests are not tried here, because a key
// must stay on a server. So Scalar gets the document without the scheme of keys, for which it would
// draw a field. Nothing is loaded from elsewhere. The plain list stays until Scalar has drawn.

const scalarPath = document.currentScript.dataset.scalar;

// Waits for the first paint. A page in the background has none for now.
function paint() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, 1000);
  });
}

// Loads Scalar, whose script keeps a browser busy.
function loadScalar() {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = scalarPath;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
}

// Returns a schema without what Scalar's own check of a document does not know. It is shown to
// people alone: conditions and null are stated in the descriptions.
function simplify(schema) {
  if (Array.isArray(schema)) return schema.map(simplify);
  if (schema === null || typeof schema !== "object") return schema;
  const known = Object.entries(schema).filter(([name]) => !["if", "then", "else"].includes(name));
  const simple = Object.fromEntries(known.map(([name, value]) => [name, simplify(value)]));
  if (Array.isArray(simple.allOf)) {
    simple.allOf = simple.allOf.filter((part) => Object.keys(part).length > 0);
    if (simple.allOf.length === 0) delete simple.allOf;
  }
  const choices = Array.isArray(simple.oneOf) ? simple.oneOf : [];
  if (choices.some(({ type }) => type === "null")) {
    const words = [simple.description, choices[0].description, "May be null."];
    return { ...choices[0], description: words.filter(Boolean).join(" ") };
  }
  if (choices.length > 0) simple.type ??= "object";
  return simple;
}

// Returns the document as Scalar draws it.
function prepare(document) {
  const { securitySchemes, schemas, ...others } = document.components;
  const paths = structuredClone(document.paths);
  for (const item of Object.values(paths)) {
    for (const operation of Object.values(item)) delete operation.security;
  }
  const description = [
    document.info.description,
    "## Keys",
    securitySchemes.bearer.description,
    "[The whole description](/openapi.json) is an OpenAPI document.",
  ].join("\n\n");
  return {
    ...document,
    info: { ...document.info, description },
    components: { ...others, schemas: simplify(schemas) },
    paths,
  };
}

const described = fetch("/openapi.json").then((response) => response.json());
paint()
  .then(loadScalar)
  .then(() => described)
  .then((description) => {
    Scalar.createApiReference("#reference", {
      content: prepare(description),
      hideTestRequestButton: true,
      hideClientButton: true,
      hiddenClients: true,
      documentDownloadType: "none",
      withDefaultFonts: false,
      telemetry: false,
      showDeveloperTools: "never",
      agent: { disabled: true },
      mcp: { disabled: true },
      persistAuth: false,
    });
    document.getElementById("plain").remove();
  });
