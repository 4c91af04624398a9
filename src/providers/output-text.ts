import { isObject } from '../openai/types.ts';
import { hasToolCalls } from './mend-chunks.ts';

/** A token by itself takes many times its length in memory. So many are kept before they are joined. */
const PIECES_MAX = 32;

/** More than this is not kept, only measured: the count of the beginning stands for the rest. */
const CHARACTERS_MAX = 64 * 1024;

/** What a stream has said so far, gathered piece by piece. */
export class OutputText {
  #length = 0;
  #mediaTokens = 0;
  #joined = '';
  readonly #pieces: string[] = [];

  add(piece: string): void {
    if (piece === '') return;
    const room = CHARACTERS_MAX - this.#length;
    this.#length += piece.length;
    if (room <= 0 || this.#pieces.push(piece.length <= room ? piece : piece.slice(0, room)) < PIECES_MAX) return;
    this.#joined += this.#pieces.join('');
    this.#pieces.length = 0;
  }

  /** Adds sound and pictures, so many tokens of them. Pieces of less than a token add up. */
  addMedia(tokens: number): void {
    if (tokens === 0) return;
    const before = Math.ceil(this.#mediaTokens);
    this.#mediaTokens += tokens;
    this.add(writeMedia(Math.ceil(this.#mediaTokens) - before));
  }

  /** How much was said. */
  get length(): number {
    return this.#length;
  }

  /** As much of it as was kept. */
  read(): string {
    return this.#joined + this.#pieces.join('');
  }
}

/** Everything that a message or delta says: text, refusal, reasoning under its several names, what a voice says, tool calls. */
export function readOutput(message: unknown): string {
  if (!isObject(message)) return '';
  let output = '';
  for (const name of ['content', 'refusal', 'reasoning_content', 'reasoning'] as const) {
    const text = message[name];
    // The same reasoning under both of its names was said once.
    if (name === 'reasoning' && text === message['reasoning_content']) continue;
    if (typeof text === 'string') output += text;
  }
  const { audio } = message;
  if (isObject(audio) && typeof audio['transcript'] === 'string') output += audio['transcript'];
  if (hasToolCalls(message)) output += JSON.stringify(message['tool_calls']);
  if (isObject(message['function_call'])) output += JSON.stringify(message['function_call']);
  return output;
}

/** Twenty tokens of speech take a second, which as OpenAI streams it has 24 000 samples of two bytes, in base64. Other formats are shorter. */
const AUDIO_CHARACTERS_PER_TOKEN = 3200;
/** About what the smallest picture is counted as. */
const IMAGE_TOKENS = 256;

/** How many tokens of sound and pictures are in a message or delta: rather too few than too many, for no one but the provider knows. */
export function countMedia(message: unknown): number {
  if (!isObject(message)) return 0;
  const { audio, images } = message;
  const characters = isObject(audio) && typeof audio['data'] === 'string' ? audio['data'].length : 0;
  return characters / AUDIO_CHARACTERS_PER_TOKEN + (Array.isArray(images) ? images.length * IMAGE_TOKENS : 0);
}

/** What stands for sound and pictures where text is counted: a sign that is one token. */
export function writeMedia(tokens: number): string {
  return ' …'.repeat(Math.ceil(tokens));
}
