import { afterAll, afterEach, beforeAll } from 'bun:test';
import OpenAI from 'openai';
import { startGate, type Gate, type GateOptions, type KeyOptions, type TestKey } from '../simulator/gate.ts';
import { startOpenAiSimulator, type OpenAiSimulator } from '../simulator/openai.ts';

const START_MS = 60_000;

/** A minimal request. */
export const CHAT = { model: 'mock/gpt', messages: [{ role: 'user' as const, content: 'Hi' }] };

/** A gate with a key, the official client in front of it and a simulator behind it. All are ready when the tests of the suite begin. */
export class OpenAiStage {
  simulator!: OpenAiSimulator;
  gate!: Gate;
  key!: TestKey;
  client!: OpenAI;

  /** Registers the setup and the teardown with the suite that calls it. */
  constructor({ key = {}, ...options }: Omit<GateOptions, 'simulator'> & { readonly key?: KeyOptions } = {}) {
    beforeAll(async () => {
      this.simulator = await startOpenAiSimulator();
      this.gate = await startGate({ simulator: this.simulator, ...options });
      this.key = await this.gate.makeKey(key);
      this.client = this.#connect(this.key);
    }, START_MS);
    afterEach(() => this.simulator.reset());
    afterAll(async () => {
      await this.gate.stop();
      await this.simulator.stop();
    }, START_MS);
  }

  /** Returns a client with a key of its own and without retries. */
  async connect(options: KeyOptions = {}): Promise<OpenAI> {
    return this.#connect(await this.gate.makeKey(options));
  }

  #connect({ secret }: TestKey): OpenAI {
    return new OpenAI({ baseURL: this.gate.baseUrl, apiKey: secret, maxRetries: 0 });
  }
}
