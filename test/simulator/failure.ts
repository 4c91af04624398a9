/**
 * Returns the error an attempt fails with. Fails the test if the attempt succeeds. Clients return their own
 * promise-like objects, which `expect().rejects` does not accept.
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
