#!/usr/bin/env bash
# Values one home, then two in a batch, and reads one series, with curl alone.
#
#   DOMESDAY_KEY=KEY examples/curl/value.sh [BASE_URL]     by default http://127.0.0.1:8080
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit
fi
base=${1:-http://127.0.0.1:8080}
: "${DOMESDAY_KEY:?set it to an API key, such as the content of domesday-data/demo.key}"

# --fail-with-body: an error's body says what is wrong. A valuation is not repeated by itself: after a
# timeout nobody knows whether it was charged. For a read, --retry follows Retry-After.
call() { # METHOD PATH [BODY]
  local retry=()
  [ "$1" != GET ] || retry=(--retry 3 --retry-max-time 60)
  curl --silent --show-error --fail-with-body --max-time 60 "${retry[@]}" \
    --request "$1" "$base$2" \
    --header "Authorization: Bearer $DOMESDAY_KEY" \
    ${3:+--header "Content-Type: application/json" --data "$3"}
  echo
}

home() { # REFERENCE POSTCODE NUMBER STREET
  printf '{
    "request_reference": "%s",
    "property": {
      "valuation_date": "2026-10-15", "postcode": "%s", "building_number_or_name": "%s",
      "street": "%s", "type": "S", "subtype": "house_semi_detached", "title_tenure": "freehold"
    },
    "occupancy": {"status": "owner_occupied"},
    "size": {"floor_area_m2": 104, "bedrooms": 3}
  }' "$@"
}

echo "# One home"
call POST /v3/value "$(home first "QA1 1AF" 15 "Badger Yard Gardens")"

echo "# A batch: every row has its own status, and 200 does not say that each was valued"
call POST /v3/simple-batch-value "{\"requests\": [
  $(home known "QA1 1AF" 15 "Badger Yard Gardens"),
  $(home unknown "QA1 1AF" 4711 "Badger Yard Gardens")
]}"

echo "# The latest Bank Rate"
call GET "/v1/rates/series?dataset=bank_rate"
