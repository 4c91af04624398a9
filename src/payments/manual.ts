import { hash } from 'node:crypto';
import type { DriverAnswer, PaymentDriver, PaymentOrder } from './payments.ts';

const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const REFERENCE_LENGTH = 10;

/** Bank transfers: the payer puts a reference on the transfer, and the operator confirms when the money has arrived. */
export class ManualDriver implements PaymentDriver {
  readonly name = 'manual' as const;

  async begin(order: PaymentOrder): Promise<DriverAnswer> {
    return { type: 'open', providerRef: referenceOf(order.paymentId) };
  }
}

/** Derives the reference from the payment id: always the same, and short enough for a transfer. */
function referenceOf(paymentId: string): string {
  const bytes = hash('sha256', `reference:${paymentId}`, 'buffer');
  const letters = [...bytes.subarray(0, REFERENCE_LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return `TG-${letters.slice(0, 5)}-${letters.slice(5)}`;
}
