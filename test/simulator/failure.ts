/**
 * What an attempt fails with; an attempt that succeeds fails the test. Clients hand out promise-like objects
 * of their own, which `expect().rejects` does not take.
 */
export async function failureOf(attempt: PromiseLike<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await attempt;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
}
