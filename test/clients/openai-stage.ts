import { afterAll, afterEach, beforeAll } from 'bun:test';
import OpenAI from 'openai';
import { startGate, type Gate, type GateOptions, type KeyOptions } from '../simulator/gate.ts';
import { startOpenAiSimulator, type OpenAiSimulator } from '../simulator/openai.ts';

const START_MS = 60_000;

export const CHAT = { model: 'mock/gpt', messages: [{ role: 'user' as const, content: 'Hi' }] };

/** The official client in front of a gate and the simulator behind it; all of it is there once the tests of the suite begin. */
export class OpenAiStage {
  simulator!: OpenAiSimulator;
  gate!: Gate;
  client!: OpenAI;

  /** Sets the stage for the suite that calls this, and clears it afterwards. */
  constructor(options: Omit<GateOptions, 'simulator'> = {}) {
    beforeAll(async () => {
      this.simulator = await startOpenAiSimulator();
      this.gate = await startGate({ simulator: this.simulator, ...options });
      this.client = await this.connect();
    }, START_MS);
    afterEach(() => this.simulator.reset());
    afterAll(async () => {
      await this.gate.stop();
      await this.simulator.stop();
    }, START_MS);
  }

  /** A client with a key of its own, which tries each request once. */
  async connect(options: KeyOptions = {}): Promise<OpenAI> {
    const { secret } = await this.gate.makeKey(options);
    return new OpenAI({ baseURL: this.gate.baseUrl, apiKey: secret, maxRetries: 0 });
  }
}
