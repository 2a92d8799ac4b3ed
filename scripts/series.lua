-- Requests for market statistics and rates, for wrk. KEY holds the API key; PATHS names a file of
-- paths, one a line, which are asked in turn.
wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY")
local requests, at = {}, 0
for path in io.lines(os.getenv("PATHS")) do
  requests[#requests + 1] = path
end

function init()
  for number, path in ipairs(requests) do
    requests[number] = wrk.format("GET", path)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format("p50 %.3f ms  p99 %.3f ms  %.0f requests/s  %.0f MB/s  failed %d\n",
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.requests / summary.duration * 1e6, summary.bytes / summary.duration, failed))
end
