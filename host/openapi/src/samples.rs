//! Samples of each route: with curl, and with the clients for Python and TypeScript. Each reads the
//! address and the key of the service from the environment, so it runs unchanged.

use super::route::Route;
use serde_json::{Value, json};
use utoipa::openapi::path::HttpMethod;

/// Samples of one route in the clients' languages. `body` stands for the example of the request.
struct ClientCalls {
    /// The id of the route.
    route: &'static str,
    python: &'static str,
    typescript: &'static str,
}

/// The calls of the clients, a row for each route.
const CALLS: &[ClientCalls] = &[
    calls(
        "value",
        "result = client.value(body)\nprint(result.status)",
        "const result = await client.value(body);\nconsole.log(result.status);",
    ),
    calls(
        "simpleValue",
        "result = client.value(body, mode=\"simple\")\nprint(result.status)",
        "const result = await client.value(body, { mode: \"simple\" });\nconsole.log(result.status);",
    ),
    calls(
        "developmentValue",
        "result = client.value(body, mode=\"development\")\nprint(result.status)",
        "const result = await client.value(body, { mode: \"development\" });\nconsole.log(result.status);",
    ),
    calls(
        "batchValue",
        "for row in client.iter_values(body[\"requests\"], options=body.get(\"options\")):\n    \
         print(row.result.status)",
        "for await (const { index, result } of client.valueMany(body.requests, { options: body.options })) {\n  \
         console.log(index, result.status);\n}",
    ),
    calls(
        "simpleBatchValue",
        "for row in client.iter_values(body[\"requests\"], mode=\"simple\"):\n    print(row.result.status)",
        "for await (const { index, result } of client.valueMany(body.requests, { mode: \"simple\" })) {\n  \
         console.log(index, result.status);\n}",
    ),
    calls(
        "developmentBatchValue",
        "for row in client.iter_values(body[\"requests\"], mode=\"development\"):\n    \
         print(row.result.status)",
        "for await (const { index, result } of client.valueMany(body.requests, { mode: \"development\" })) {\n  \
         console.log(index, result.status);\n}",
    ),
    calls(
        "submitJob",
        "job = client.jobs.submit(body, label=\"2026-10\")\nprint(job.job_id, job.status)",
        "const rows = { ...body, requests: [...body.requests] };\n\
         const job = await client.jobs.submit(rows, { label: \"2026-10\" });\n\
         console.log(job.job_id, job.status);",
    ),
    calls(
        "getJob",
        "job = client.jobs.get(os.environ[\"DOMESDAY_JOB\"])\nprint(job.status)",
        "const job = await client.jobs.get(process.env.DOMESDAY_JOB ?? \"\");\nconsole.log(job.status);",
    ),
    calls(
        "getJobResults",
        "for result in client.jobs.results(os.environ[\"DOMESDAY_JOB\"]):\n    print(result.status)",
        "for await (const result of client.jobs.results(process.env.DOMESDAY_JOB ?? \"\")) {\n  \
         console.log(result.status);\n}",
    ),
    calls(
        "currentRelease",
        "print(client.release().release_id)",
        "console.log((await client.release()).release_id);",
    ),
    calls(
        "coverage",
        "print(client.coverage(\"QA1 1AF\"))",
        "console.log(await client.coverage(\"QA1 1AF\"));",
    ),
    calls(
        "marketsCurrentRelease",
        "print(client.markets.current_release().release_id)",
        "console.log((await client.markets.currentRelease()).release_id);",
    ),
    calls(
        "marketsDatasets",
        "for dataset in client.markets.datasets().datasets:\n    print(dataset.dataset)",
        "for (const { dataset } of (await client.markets.datasets()).datasets) console.log(dataset);",
    ),
    calls(
        "marketsAreas",
        "for area in client.markets.areas().areas:\n    print(area.code, area.name)",
        "for (const { code, name } of (await client.markets.areas()).areas) console.log(code, name);",
    ),
    calls(
        "marketsCoverage",
        "print(client.markets.coverage(\"market_activity\", area=\"E06990001\"))",
        "const query = { dataset: \"market_activity\", area: \"E06990001\" } as const;\n\
         console.log(await client.markets.coverage(query));",
    ),
    calls(
        "marketsSeries",
        "for row in client.markets.series(\"market_activity\", area=\"E06990001\", from_=\"2026-01\"):\n    \
         print(row[\"period\"], row[\"value\"], row[\"status\"])",
        "const query = { dataset: \"market_activity\", area: \"E06990001\", from: \"2026-01\" } as const;\n\
         for await (const { observation } of client.markets.series(query)) {\n  \
         console.log(observation.period, observation.value, observation.status);\n}",
    ),
    calls(
        "ratesCurrentRelease",
        "print(client.rates.current_release().release_id)",
        "console.log((await client.rates.currentRelease()).release_id);",
    ),
    calls(
        "ratesDatasets",
        "for dataset in client.rates.datasets().datasets:\n    print(dataset.dataset)",
        "for (const { dataset } of (await client.rates.datasets()).datasets) console.log(dataset);",
    ),
    calls(
        "ratesCoverage",
        "print(client.rates.coverage(\"bank_rate\"))",
        "console.log(await client.rates.coverage({ dataset: \"bank_rate\" }));",
    ),
    calls(
        "ratesSeries",
        "for row in client.rates.series(\"bank_rate\", from_=\"2026-09-01\"):\n    \
         print(row[\"period\"], row[\"value\"], row[\"status\"])",
        "const query = { dataset: \"bank_rate\", from: \"2026-09-01\" } as const;\n\
         for await (const { observation } of client.rates.series(query)) {\n  \
         console.log(observation.period, observation.value, observation.status);\n}",
    ),
];

/// Queries of curl, by route. Other routes need none.
const QUERIES: &[(&str, &str)] = &[
    ("coverage", "?postcode=QA1%201AF"),
    ("marketsCoverage", "?dataset=market_activity&area=E06990001"),
    (
        "marketsSeries",
        "?dataset=market_activity&area=E06990001&from=2026-01",
    ),
    ("ratesCoverage", "?dataset=bank_rate"),
    ("ratesSeries", "?dataset=bank_rate&from=2026-09-01"),
];

const fn calls(route: &'static str, python: &'static str, typescript: &'static str) -> ClientCalls {
    ClientCalls {
        route,
        python,
        typescript,
    }
}

/// Returns the samples of a route, as `x-codeSamples` has them. The first is curl.
pub fn of_route(route: &Route) -> Value {
    let sample = |lang: &str, label: &str, source: String| json!({"lang": lang, "label": label, "source": source});
    let mut samples = vec![sample("shell", "curl", curl(route))];
    if let Some(calls) = CALLS.iter().find(|calls| calls.route == route.id) {
        samples.push(sample("python", "Python client", python(route, calls)));
        samples.push(sample(
            "typescript",
            "TypeScript client",
            typescript(route, calls),
        ));
    }
    Value::Array(samples)
}

/// Returns the body of a route's example. A client derives the key of a job itself.
fn body(route: &Route, is_of_client: bool) -> Option<Value> {
    let (_, examples) = route.body.as_ref()?;
    let mut body: Value = serde_json::from_str(examples.first()?.text).ok()?;
    if let (true, Value::Object(members)) = (is_of_client, &mut body) {
        members.remove("idempotency_key");
    }
    Some(body)
}

fn curl(route: &Route) -> String {
    let query = QUERIES.iter().find(|(id, _)| *id == route.id);
    let query = query.map_or("", |(_, query)| query);
    let path = route.path.replace("{job_id}", "$DOMESDAY_JOB");
    let mut text = format!(
        "curl -s \"$DOMESDAY_URL{path}{query}\" \\\n  -H \"Authorization: Bearer $DOMESDAY_KEY\""
    );
    if let (HttpMethod::Post, Some(body)) = (&route.method, body(route, false)) {
        let body = serde_json::to_string_pretty(&body).unwrap_or_default();
        text += &format!(" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{body}'");
    }
    text
}

fn python(route: &Route, calls: &ClientCalls) -> String {
    let mut text = "import os\n\nfrom domesday_client import Client\n\n\
         client = Client(os.environ[\"DOMESDAY_URL\"], os.environ[\"DOMESDAY_KEY\"])\n"
        .to_owned();
    if let Some(body) = body(route, true) {
        text += &format!("body = {}\n", python_literal(&body, 0));
    }
    text + calls.python
}

fn typescript(route: &Route, calls: &ClientCalls) -> String {
    let mut text = "import { Domesday } from \"domesday-client\";\n\n\
         const baseUrl = process.env.DOMESDAY_URL ?? \"\";\n\
         const client = new Domesday({ baseUrl, apiKey: process.env.DOMESDAY_KEY ?? \"\" });\n"
        .to_owned();
    if let Some(body) = body(route, true) {
        let body = serde_json::to_string_pretty(&body).unwrap_or_default();
        text += &format!("const body = {body} as const;\n");
    }
    text + calls.typescript
}

/// Returns a value of JSON as Python writes it.
fn python_literal(value: &Value, depth: usize) -> String {
    let indent = "    ".repeat(depth + 1);
    let end = "    ".repeat(depth);
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) => {
            let items = items.iter();
            let items = items.map(|item| format!("{indent}{},\n", python_literal(item, depth + 1)));
            format!("[\n{}{end}]", items.collect::<String>())
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let value = python_literal(value, depth + 1);
                format!("{indent}\"{name}\": {value},\n")
            });
            format!("{{\n{}{end}}}", members.collect::<String>())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::routes;

    #[test]
    fn each_route_has_a_sample_in_three_languages() {
        for route in routes() {
            let samples = of_route(route);
            let of = |at: usize| {
                samples[at]["source"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            assert_eq!(samples.as_array().unwrap().len(), 3, "{}", route.id);
            assert!(of(0).starts_with("curl"), "{}", of(0));
            assert!(of(1).contains("domesday_client"), "{}", of(1));
            assert!(of(2).contains("domesday-client"), "{}", of(2));
        }
        let known: Vec<&str> = routes().map(|route| route.id).collect();
        assert!(CALLS.iter().all(|calls| known.contains(&calls.route)));
        assert!(QUERIES.iter().all(|(id, _)| known.contains(id)));
    }

    #[test]
    fn a_value_of_json_becomes_one_of_python() {
        let value = json!({"a": [true, null], "b": "x\"y"});
        let literal =
            "{\n    \"a\": [\n        True,\n        None,\n    ],\n    \"b\": \"x\\\"y\",\n}";
        assert_eq!(python_literal(&value, 0), literal);
    }
}
