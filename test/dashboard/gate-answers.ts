import { modelSchema } from '../../src/catalog/catalog.ts';
import type { GateQuestion } from '../../src/dashboard/messages.ts';
import { MemoryLimits } from '../../src/limits/memory.ts';

const LIMITS = { requestsPerMinute: 600, tokensPerMinute: 1_000_000, concurrent: 64 };
const MODEL = modelSchema.parse({
  id: 'a/one',
  provider: 'a',
  context_length: 8000,
  max_output_tokens: 1000,
  price: { input: 1, output: 2 },
  routes: [{ provider: 'a', model: 'one' }],
});

/** Answers the dashboard's questions like a gate with one unused model. */
export async function answerForGate(question: GateQuestion): Promise<unknown> {
  if (question.type === 'limits') return new MemoryLimits().stateOf(question.keyId, LIMITS);
  if (question.type === 'catalogue') return [MODEL];
  return question.type === 'webhook' ? undefined : [];
}
