import { expect } from 'bun:test';
import { ProviderFault } from '../../src/providers/provider.ts';

/** The fault that a piece of work ends in; work that succeeds fails the test. */
export function faultOf(work: () => unknown): ProviderFault {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderFault);
    return error as ProviderFault;
  }
  throw new Error('no fault');
}
