// Node.js wants the names of modules in full.
export default {
  input: "openapi.json",
  output: { path: "client", module: { extension: ".js" } },
};
