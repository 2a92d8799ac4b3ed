// Jobs: rows that the service values in the background.

import { JobFailedError } from "./errors.js";
import type { CallOptions, Http } from "./http.js";
import { idempotencyKey } from "./idempotency.js";
import { readResults } from "./job_results.js";
import { Polling, type WaitOptions } from "./polling.js";
import { QUERY, SUBMISSION } from "./transport.js";
import type { JobDocument, JobRequest, ValuationResult } from "./types.js";

/** A job to submit. */
export interface Submission extends CallOptions {
  /**
   * Names the run, in 1 to 35 characters of A-Z a-z 0-9 . _ : -. The same label with the same body
   * finds the job that exists; another label makes a new one, which is charged anew.
   */
  readonly label: string;
}

/** The rows, their mode and their shared options. The client adds the idempotency key. */
export type JobBody = JobRequest extends infer R
  ? R extends unknown
    ? Omit<R, "idempotency_key">
    : never
  : never;

export class Jobs {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Submits a job and returns its document. A program that crashed after a submission calls this
   * again with the same arguments, and gets the job that it submitted.
   *
   * @throws RangeError for an unsound label.
   */
  async submit(body: JobBody, submission: Submission): Promise<JobDocument> {
    const key = await idempotencyKey(body, submission.label);
    return this.#http.call(SUBMISSION, submission, (client, init) =>
      client.POST("/v3/valuation-jobs", { ...init, body: { ...body, idempotency_key: key } }),
    );
  }

  /** Returns the document of a job. */
  async get(jobId: string, options: CallOptions = {}): Promise<JobDocument> {
    const params = { path: { job_id: jobId } };
    return this.#http.call(QUERY, options, (client, init) =>
      client.GET("/v3/valuation-jobs/{job_id}", { ...init, params }),
    );
  }

  /**
   * Waits until a job is completed and returns its document.
   *
   * @throws {@link JobFailedError} if it failed, and `JobTimeoutError` at the timeout. The job goes
   *   on at the service.
   */
  async wait(jobId: string, options: WaitOptions = {}): Promise<JobDocument> {
    const polling = new Polling(this.#http.transport.clock, options);
    for (;;) {
      const job = await this.get(jobId, options);
      if (job.status === "completed") {
        return job;
      }
      if (job.status === "failed") {
        throw new JobFailedError(jobId, job.error);
      }
      await polling.pause(jobId, job.status);
    }
  }

  /**
   * Yields the results of a job in the order of its rows, as they arrive. It waits as `wait` does
   * until the job ends. After a lost connection it asks again and goes on where it was.
   */
  results(jobId: string, options: WaitOptions = {}): AsyncGenerator<ValuationResult, void> {
    return readResults(this.#http, jobId, options);
  }
}
