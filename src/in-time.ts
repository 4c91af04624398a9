/** Somebody did not answer within the time that we had. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * What somebody answers, if that is in time: who hangs must not make others hang. An answer that lies there when the time is over is
 * in time, for perhaps it was we who were busy.
 */
export function inTime<Answer>(who: string, answer: Promise<Answer>, ms: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(reject, new LateError(`${who} did not answer within ${ms} ms`)), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
