import { hash } from 'node:crypto';
import { PLAIN_LETTERS, withoutSeparators } from '../accounts/promo-code-text.ts';
import type { DriverAnswer, PaymentDriver, PaymentOrder } from './payments.ts';

const REFERENCE_LENGTH = 10;

/** Bank transfers: the payer puts a reference on the transfer, and the operator confirms when the money has arrived. */
export class ManualDriver implements PaymentDriver {
  readonly name = 'manual' as const;

  /** Derives the reference from the payment id: always the same, and short enough for a transfer. */
  referenceOf(paymentId: string): string {
    const bytes = hash('sha256', `reference:${paymentId}`, 'buffer');
    const letters = [...bytes.subarray(0, REFERENCE_LENGTH)].map((byte) => PLAIN_LETTERS.charAt(byte % PLAIN_LETTERS.length)).join('');
    return `TG-${letters.slice(0, 5)}-${letters.slice(5)}`;
  }

  async begin(order: PaymentOrder): Promise<DriverAnswer> {
    return { type: 'open', providerRef: this.referenceOf(order.paymentId) };
  }
}

/** Reads a reference as a bank prints it, with or without its hyphens. */
export function readReference(text: string): string {
  return withoutSeparators(text).replace(/^TG(.{5})(.{5})$/u, 'TG-$1-$2');
}
