import { Outbox } from '../http/outbox.ts';
import { isObject, objectsOf, type JsonObject } from '../openai/types.ts';

/** A short string takes many times its length in memory, so pieces are joined once this many have come in. */
const PIECES_MAX = 32;

/** Output beyond this length is measured but not kept. The token count of the beginning is extrapolated to the rest. */
const CHARACTERS_MAX = 64 * 1024;

/** The output of a stream, collected piece by piece. */
export class OutputText {
  #length = 0;
  #mediaTokens = 0;
  #joined = '';
  readonly #pieces: string[] = [];
  /** The last pieces, as long as they are ASCII. They follow those that are strings. */
  readonly #ascii = new Outbox();

  add(piece: string): void {
    if (piece === '') return;
    const room = CHARACTERS_MAX - this.#length;
    this.#length += piece.length;
    if (room <= 0) return;
    this.#readAscii();
    this.#keep(piece.length <= room ? piece : piece.slice(0, room));
  }

  /** Adds a piece that is ASCII, without making it a string. */
  addAscii(bytes: Buffer, start: number, end: number): void {
    const room = CHARACTERS_MAX - this.#length;
    this.#length += end - start;
    if (room > 0) this.#ascii.addBytes(bytes, start, Math.min(end, start + room));
  }

  /** Adds audio and images, counted in tokens. Fractions of a token add up. */
  addMedia(tokens: number): void {
    if (tokens === 0) return;
    const before = Math.ceil(this.#mediaTokens);
    this.#mediaTokens += tokens;
    this.add(writeMedia(Math.ceil(this.#mediaTokens) - before));
  }

  /** The full length of the output. */
  get length(): number {
    return this.#length;
  }

  /** Returns the part of the output that was kept. */
  read(): string {
    this.#readAscii();
    return this.#joined + this.#pieces.join('');
  }

  #readAscii(): void {
    if (this.#ascii.length === 0) return;
    this.#keep(this.#ascii.read());
    this.#ascii.clear();
  }

  #keep(piece: string): void {
    if (this.#pieces.push(piece) < PIECES_MAX) return;
    this.#joined += this.#pieces.join('');
    this.#pieces.length = 0;
  }
}

/** Returns everything a message or delta says: text, refusal, reasoning under its various names, audio transcript, tool calls. */
export function readOutput(message: unknown): string {
  if (!isObject(message)) return '';
  let output = '';
  for (const name of ['content', 'refusal', 'reasoning_content', 'reasoning'] as const) {
    const text = message[name];
    // The same reasoning under both names counts once.
    if (name === 'reasoning' && text === message['reasoning_content']) continue;
    if (typeof text === 'string') output += text;
  }
  const { audio } = message;
  if (isObject(audio) && typeof audio['transcript'] === 'string') output += audio['transcript'];
  return output + readCalls(message);
}

/** Returns what the model wrote for its calls. The JSON around them does not count: it may be many times longer than what is inside. */
export function readCalls(message: JsonObject): string {
  let output = '';
  for (const call of objectsOf(message['tool_calls'])) output += readCalled(call['function']) + readCalled(call['custom']);
  return output + readCalled(message['function_call']);
}

function readCalled(called: unknown): string {
  if (!isObject(called)) return '';
  const { name, arguments: given, input } = called;
  return [name, given, input].filter((text) => typeof text === 'string').join('');
}

/** A second of speech is twenty tokens. As OpenAI streams it, it has 24 000 samples of two bytes, in base64. Other formats are shorter. */
const AUDIO_CHARACTERS_PER_TOKEN = 3200;
/** Roughly the token count of the smallest image. */
const IMAGE_TOKENS = 256;

/**
 * Estimates the tokens of audio and images in a message or delta. The estimate errs low, because only the provider
 * knows the real count.
 */
export function countMedia(message: unknown): number {
  if (!isObject(message)) return 0;
  const { audio, images } = message;
  const characters = isObject(audio) && typeof audio['data'] === 'string' ? audio['data'].length : 0;
  return characters / AUDIO_CHARACTERS_PER_TOKEN + (Array.isArray(images) ? images.length * IMAGE_TOKENS : 0);
}

/** Returns a placeholder for audio and images in text that is counted: a character that is one token. */
export function writeMedia(tokens: number): string {
  return ' …'.repeat(Math.ceil(tokens));
}
