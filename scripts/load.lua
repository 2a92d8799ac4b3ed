-- A request for wrk: one home of the demo, valued with POST. KEY holds the API key.
wrk.method = "POST"
wrk.path = "/v3/simple-value"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY")
wrk.headers["Content-Type"] = "application/json"
wrk.body = [[{"property":{"valuation_date":"2026-10-15","postcode":"QA1 1AF","building_number_or_name":"15","street":"Badger Yard Gardens","type":"S","subtype":"house_semi_detached","title_tenure":"freehold","build_status":"existing"},"occupancy":{"status":"owner_occupied"},"size":{"floor_area_m2":96,"bedrooms":3,"living_rooms":1,"storeys":2}}]]

function done(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format("p50 %.3f ms  p99 %.3f ms  %.0f requests/s  failed %d\n",
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.requests / summary.duration * 1e6, failed))
end
