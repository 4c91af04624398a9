import type { Speech, SpokenTokens } from '../../simulator/speech/speech.ts';
import type { Question } from '../conversation.ts';

/** One row of the table: the request, the model's answer, and what the provider must have received. */
export interface Scene {
  readonly asked: Omit<Partial<Question>, 'model'>;
  readonly speech: Speech;
  readonly seen?: Partial<Seen>;
  /** What goes wrong instead of the answer. */
  readonly fault?: 'throttled' | 'refused' | 'broken';
}

/** A request as a provider reads it, independent of the dialect. */
export interface Seen {
  /** Media as `type;base64`. */
  readonly media: readonly string[];
  readonly limit: number | undefined;
  readonly stops: readonly string[];
  readonly tools: readonly string[];
  readonly isJson: boolean;
}

const TEXT = 'Hello, naïve ☕ world: 漢字.';
const JSON_TEXT = '{"city":"Zürich ☂","days":7}';
const TOKENS: SpokenTokens = { input: 11, cacheRead: 0, cacheWrite: 0, output: 7, reasoning: 0 };
const SAYS_TEXT: Speech = { text: TEXT, end: 'stop', tokens: TOKENS };
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = btoa('%PDF-1.4\n%%EOF');
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const WEATHER = { type: 'function' as const, function: { name: 'weather', description: 'Tells the weather.', parameters: SCHEMA } };
const CLOCK = { type: 'function' as const, function: { name: 'clock' } };
const calls = (...named: (readonly [name: string, args: Record<string, unknown>])[]): Speech => ({
  calls: named.map(([name, args], index) => ({ id: `call0000${index}`, name, args })),
  end: 'tool_calls',
  tokens: TOKENS,
});

/** The rows by name. */
export const SCENES = {
  text: { asked: {}, speech: SAYS_TEXT },
  image: {
    asked: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
          ],
        },
      ],
    },
    speech: SAYS_TEXT,
    seen: { media: [`image/png;${PNG}`] },
  },
  PDF: {
    asked: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Sum it up.' },
            { type: 'file', file: { filename: 'report.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
          ],
        },
      ],
    },
    speech: SAYS_TEXT,
    seen: { media: [`application/pdf;${PDF}`] },
  },
  'one tool': { asked: { tools: [WEATHER] }, speech: calls(['weather', { city: 'Zürich ☂', days: 7 }]), seen: { tools: ['weather'] } },
  'parallel tools': {
    asked: { tools: [WEATHER, CLOCK] },
    speech: calls(['weather', { city: 'Rome', days: 1 }], ['clock', {}], ['weather', { city: 'Oslo', days: 2 }]),
    seen: { tools: ['weather', 'clock'] },
  },
  'tool without arguments': { asked: { tools: [CLOCK] }, speech: calls(['clock', {}]), seen: { tools: ['clock'] } },
  json_schema: {
    asked: { response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema: SCHEMA } } },
    speech: { ...SAYS_TEXT, text: JSON_TEXT },
    seen: { isJson: true },
  },
  reasoning: {
    asked: { reasoning_effort: 'high' },
    speech: { ...SAYS_TEXT, reasoning: 'Hm, naïve or ☕?', tokens: { ...TOKENS, output: 12, reasoning: 5 } },
  },
  refusal: { asked: {}, speech: { end: 'refusal', tokens: TOKENS } },
  'length stop': {
    asked: { max_completion_tokens: 7 },
    speech: { ...SAYS_TEXT, text: 'Hello, naïve', end: 'length' },
    seen: { limit: 7 },
  },
  'stop sequence': {
    asked: { stop: ['END'] },
    speech: { ...SAYS_TEXT, text: 'Hello', end: 'stop_sequence' },
    seen: { stops: ['END'] },
  },
  'n = 3': { asked: { n: 3 }, speech: { ...SAYS_TEXT, choices: 3 } },
  'cache hit': { asked: {}, speech: { ...SAYS_TEXT, tokens: { ...TOKENS, cacheRead: 100, cacheWrite: 40 } } },
  'error before: throttled': { asked: {}, speech: SAYS_TEXT, fault: 'throttled' },
  'error before: refused': { asked: {}, speech: SAYS_TEXT, fault: 'refused' },
  'error in the middle': { asked: {}, speech: SAYS_TEXT, fault: 'broken' },
} as const satisfies Record<string, Scene>;

/** The name of a row. */
export type SceneName = keyof typeof SCENES;
