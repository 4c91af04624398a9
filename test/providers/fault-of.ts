import { expect } from 'bun:test';
import { ProviderFault } from '../../src/providers/dialect.ts';

/** Returns the fault that the work throws. Fails the test if the work succeeds. */
export function faultOf(work: () => unknown): ProviderFault {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderFault);
    return error as ProviderFault;
  }
  throw new Error('no fault');
}
