const ACCOUNTS_MAX = 10_000;

/**
 * Remembers the accounts that sent media with more tokens than their bound, such as a PDF that hides most of its pages. Money is held for a
 * full context when they send media again, or the mistake in the bound could be used as often as there are requests.
 */
export class Overruns {
  readonly #accountIds = new Set<string>();

  note(accountId: string): void {
    if (this.#accountIds.size < ACCOUNTS_MAX) this.#accountIds.add(accountId);
  }

  has(accountId: string): boolean {
    return this.#accountIds.has(accountId);
  }
}
