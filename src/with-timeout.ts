/** No answer arrived in time. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * Returns the answer, or throws a LateError after this time, so that a hanging service does not make us hang. An answer that has arrived
 * by then but was not processed yet still counts, because this process may have been the busy one.
 */
export function withTimeout<Answer>(who: string, answer: Promise<Answer>, ms: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(reject, new LateError(`${who} did not answer within ${ms} ms`)), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
