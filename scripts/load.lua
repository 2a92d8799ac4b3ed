-- A request for wrk: one home of the demo, valued with POST. KEY holds the API key, or several with
-- spaces between them, which take turns. With ROWS above 1 it is a batch of as many homes.
local keys = {}
for key in os.getenv("KEY"):gmatch("%S+") do
  keys[#keys + 1] = "Bearer " .. key
end
local rows = tonumber(os.getenv("ROWS") or "1")
local home = [[{"property":{"valuation_date":"2026-10-15","postcode":"QA1 1AF","building_number_or_name":"15","street":"Badger Yard Gardens","type":"S","subtype":"house_semi_detached","title_tenure":"freehold","build_status":"existing"},"occupancy":{"status":"owner_occupied"},"size":{"floor_area_m2":96,"bedrooms":3,"living_rooms":1,"storeys":2}}]]
wrk.method = "POST"
wrk.path = rows > 1 and "/v3/simple-batch-value" or "/v3/simple-value"
wrk.headers["Authorization"] = keys[1]
wrk.headers["Content-Type"] = "application/json"
wrk.body = rows > 1 and '{"requests":[' .. string.rep(home, rows, ",") .. "]}" or home

-- One request is made once, and not for each time it is sent.
if #keys > 1 then
  local turn = 0
  function request()
    turn = turn % #keys + 1
    wrk.headers["Authorization"] = keys[turn]
    return wrk.format()
  end
end

function done(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format("p50 %.3f ms  p99 %.3f ms  %.0f requests/s  failed %d\n",
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.requests / summary.duration * 1e6, failed))
end
