/** Time and chance, as arguments, so that a caller can replace them. */
export interface Clock {
  /** Returns milliseconds since 1970-01-01 UTC. */
  now(): number;
  /** Returns a number from 0 up to, not including, 1. */
  random(): number;
  /** Waits this many milliseconds; rejects with the signal's reason once it aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, milliseconds);
      signal?.addEventListener("abort", stop, { once: true });
    }),
};
