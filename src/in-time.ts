/** Somebody did not answer within the time that we had. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * What somebody answers, or a LateError after this time: who hangs must not make others hang. An answer that has arrived by then and
 * was not looked at yet still counts, for this process may have been the one that was busy.
 */
export function inTime<Answer>(who: string, answer: Promise<Answer>, ms: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(reject, new LateError(`${who} did not answer within ${ms} ms`)), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
