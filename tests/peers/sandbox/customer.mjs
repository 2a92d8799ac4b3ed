import { AllowanceError, ConnectionError, Domesday, JobFailedError } from "domesday-client";

const { DOMESDAY_URL: url, DOMESDAY_KEY: apiKey } = process.env;
const client = (fault) => new Domesday({ baseUrl: `${url}/sandbox/${fault}`, apiKey });
const fails = async (call, kind) => {
  const error = await call.then(() => undefined, (error) => error);
  if (!(error instanceof kind)) throw new Error(`${error} is no ${kind.name}`);
  return error;
};
const home = {
  property: {
    valuation_date: "2026-10-15", postcode: "QA1 1AF", building_number_or_name: "15",
    street: "Badger Yard Gardens", type: "S", subtype: "house_semi_detached",
    title_tenure: "freehold",
  },
  occupancy: { status: "owner_occupied" },
  size: { floor_area_m2: 104.5, bedrooms: 3 },
};

for (const fault of ["rate_limited", "overloaded", "internal", "capacity_occupied;form=date"]) {
  const result = await client(`${fault};times=2;run=typescript`).value(home);
  if (result.status !== "valued") throw new Error(fault);
}
await fails(client("monthly_valuation_quota_exceeded").value(home), AllowanceError);
for (const fault of ["lost_before", "lost_after"]) {
  await fails(client(`${fault};times=1;run=typescript`).value(home), ConnectionError);
}
const body = { mode: "simple", requests: [home] };
const paused = client("job_admission_paused;times=1;run=typescript").jobs;
const job = await paused.submit(body, { label: "paused" });
await paused.wait(job.job_id, { pollSeconds: 0.1 });
const jobs = client("job_failed").jobs;
const failing = await jobs.submit(body, { label: "failing" });
const error = await fails(jobs.wait(failing.job_id, { pollSeconds: 0.1 }), JobFailedError);
console.log(error.message);
