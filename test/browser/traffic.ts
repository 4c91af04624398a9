import OpenAI, { APIError } from 'openai';

const MODEL = 'sandbox/echo';
/** Few enough that no limit of a minute is reached. */
const PAUSE_MS = 100;

/** One small request with the official client; `ok`, or what it is told. */
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

/** A program that asks again and again, several requests at a time, until it is stopped. */
export class Traffic {
  /** With which secret the next requests go out. */
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

  /** How many requests have succeeded. */
  get answered(): number {
    return this.#outcomes.get('ok') ?? 0;
  }

  /** Waits until so many more were answered. */
  async pass(count: number): Promise<void> {
    const enough = this.answered + count;
    while (this.answered < enough) await Bun.sleep(20);
  }

  /** Every outcome that there was. */
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
