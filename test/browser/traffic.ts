import OpenAI, { APIError } from 'openai';

const MODEL = 'sandbox/echo';
/** Long enough to stay below the limits per minute. */
const PAUSE_MS = 100;

/** Sends one small request with the official client. Returns `ok`, or the status and error code. */
export async function ask(origin: string, secret: string): Promise<string> {
  const client = new OpenAI({ apiKey: secret, baseURL: `${origin}/v1`, maxRetries: 0 });
  try {
    await client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4 });
    return 'ok';
  } catch (error) {
    if (error instanceof APIError) return `${error.status} ${String(error.code)}`;
    throw error;
  }
}

/** A program that keeps sending requests, several at a time, until it is stopped. */
export class Traffic {
  /** The secret used for the next requests. */
  secret: string;
  readonly #origin: string;
  readonly #outcomes = new Map<string, number>();
  readonly #workers: Promise<void>[];
  #isOver = false;

  constructor(origin: string, secret: string, atOnce: number) {
    this.#origin = origin;
    this.secret = secret;
    this.#workers = Array.from({ length: atOnce }, () => this.#work());
  }

  /** The number of requests that succeeded. */
  get answered(): number {
    return this.#outcomes.get('ok') ?? 0;
  }

  /** Waits until `count` more requests were answered. */
  async pass(count: number): Promise<void> {
    const enough = this.answered + count;
    while (this.answered < enough) await Bun.sleep(20);
  }

  /** Stops sending and returns every distinct outcome. */
  async stop(): Promise<readonly string[]> {
    this.#isOver = true;
    await Promise.all(this.#workers);
    return [...this.#outcomes.keys()];
  }

  async #work(): Promise<void> {
    while (!this.#isOver) {
      const outcome = await ask(this.#origin, this.secret);
      this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
      await Bun.sleep(PAUSE_MS);
    }
  }
}
