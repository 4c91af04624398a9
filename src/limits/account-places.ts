/** Counts the open requests of each account, over all its keys. Each process counts its own: the limit protects the process. */
export class AccountPlaces {
  readonly #open = new Map<string, number>();

  /** Takes a place. Returns false if the account already has this many open requests. */
  take(accountId: string, max: number): boolean {
    const open = this.#open.get(accountId) ?? 0;
    if (open >= max) return false;
    this.#open.set(accountId, open + 1);
    return true;
  }

  /** Frees a place that was taken. */
  free(accountId: string): void {
    const open = this.#open.get(accountId) ?? 0;
    if (open > 1) this.#open.set(accountId, open - 1);
    else this.#open.delete(accountId);
  }
}
