-- Requests for wrk. KEY holds the API key, or several with spaces between them, which take turns.
-- A request values one home of the demo with POST, or a batch of as many as ROWS says. With BODY it
-- sends the lines of that file in turn, to the path ROUTE.
local keys = {}
for key in (os.getenv("KEY") or ""):gmatch("%S+") do
  keys[#keys + 1] = "Bearer " .. key
end
local rows = tonumber(os.getenv("ROWS") or "1")
local home = [[{"property":{"valuation_date":"2026-10-15","postcode":"QA1 1AF","building_number_or_name":"15","street":"Badger Yard Gardens","type":"S","subtype":"house_semi_detached","title_tenure":"freehold","build_status":"existing"},"occupancy":{"status":"owner_occupied"},"size":{"floor_area_m2":96,"bedrooms":3,"living_rooms":1,"storeys":2}}]]
local bodies = { rows > 1 and '{"requests":[' .. string.rep(home, rows, ",") .. "]}" or home }
local file = os.getenv("BODY")
if file then
  bodies = {}
  for line in io.lines(file) do
    bodies[#bodies + 1] = line
  end
end
wrk.method = "POST"
wrk.path = os.getenv("ROUTE") or (rows > 1 and "/v3/simple-batch-value" or "/v3/simple-value")
wrk.headers["Authorization"] = keys[1]
wrk.headers["Content-Type"] = "application/json"
wrk.body = bodies[1]

-- A request is made once, and not for each time it is sent.
local requests = {}
if #keys > 1 or #bodies > 1 then
  function init()
    for number = 0, math.max(#keys, #bodies) - 1 do
      wrk.headers["Authorization"] = keys[number % math.max(#keys, 1) + 1]
      requests[#requests + 1] = wrk.format(nil, nil, nil, bodies[number % #bodies + 1])
    end
  end

  local turn = 0
  function request()
    turn = turn % #requests + 1
    return requests[turn]
  end
end

function done(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format("p50 %.3f ms  p99 %.3f ms  %.0f requests/s  failed %d\n",
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.requests / summary.duration * 1e6, failed))
end
