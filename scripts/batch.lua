-- A batch for wrk. KEY holds the API key, BODY names the file, ROUTE the path.
wrk.method = "POST"
wrk.path = os.getenv("ROUTE")
wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY")
wrk.headers["Content-Type"] = "application/json"
local file = assert(io.open(os.getenv("BODY")))
wrk.body = file:read("*a")
file:close()

function done(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format("p50 %.1f ms  p99 %.1f ms  %.1f batches/s  failed %d\n",
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.requests / summary.duration * 1e6, failed))
end
