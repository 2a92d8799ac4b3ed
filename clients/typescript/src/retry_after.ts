// The header Retry-After (RFC 9110), in seconds or as a date in one of its three forms.

const SECONDS = /^\d{1,10}$/;
const DATES = [
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * Returns the wait that a response asks for, in seconds, or undefined without a valid header. `now`
 * is in milliseconds.
 * The date counts from the response's own `Date`, so that a wrong local clock does no harm.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (text === undefined) {
    return undefined;
  }
  if (SECONDS.test(text)) {
    return Number(text);
  }
  const until = parseDate(text);
  if (until === undefined) {
    return undefined;
  }
  const sent = parseDate(headers.get("date")?.trim() ?? "") ?? now;
  return Math.max(0, until - sent) / 1000;
}

function parseDate(text: string): number | undefined {
  if (!DATES.some((form) => form.test(text))) {
    return undefined;
  }
  const time = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
