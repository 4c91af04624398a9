import type { Buffer } from 'node:buffer';
import { constants, inflateSync } from 'node:zlib';

/** How much is unpacked at most to look for pages, over all compressed parts of a file. */
const UNPACKED_BYTES_MAX = 4_000_000;
const PACKED_PARTS_MAX = 2000;

/**
 * Returns an upper bound on the pages of a PDF; undefined where there is none, as for an encrypted file. Nothing is parsed: every page
 * object is counted, and every reference in the page lists, in the plain parts of the file and in the compressed ones.
 */
export function countPdfPages(bytes: Buffer): number | undefined {
  const plain = bytes.toString('latin1');
  const packed = unpackObjects(bytes, plain);
  if (packed === undefined || plain.includes('/Encrypt')) return undefined;
  const texts = [plain, ...packed];
  const described = sum(texts, (text) => text.match(/\/Type\s*\/Page(?![A-Za-z])/gu)?.length ?? 0);
  const referenced = sum(texts, countReferences);
  const pages = Math.max(described, referenced);
  return pages === 0 ? undefined : pages;
}

/** Counts page references; one page may be referenced, and shown, many times. No patterns: a hostile file could make them slow. */
function countReferences(text: string): number {
  let references = 0;
  for (let at = text.indexOf('/Kids'); at !== -1; at = text.indexOf('/Kids', at)) {
    const end = text.indexOf(']', at);
    if (end === -1) break;
    for (let index = at; index < end; index += 1) {
      if (text.charCodeAt(index) === REFERENCE && !isWord(text.charCodeAt(index - 1)) && !isWord(text.charCodeAt(index + 1)))
        references += 1;
    }
    at = end;
  }
  return references;
}

/** The letter R, which ends a reference such as `3 0 R`. */
const REFERENCE = 0x52;

/** Whether a character code is a letter, a digit or `_`. */
function isWord(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a);
}

/** How far the content of an object stream may be from the word that marks it. */
const HEAD_CHARACTERS_MAX = 1000;

/** Unpacks the object streams, in which most modern files keep their pages. */
function unpackObjects(bytes: Buffer, plain: string): string[] | undefined {
  const texts: string[] = [];
  let remainingBytes = UNPACKED_BYTES_MAX;
  for (let at = plain.indexOf('/ObjStm'); at !== -1; at = plain.indexOf('/ObjStm', at)) {
    const start = plain.indexOf('stream', at);
    if (start === -1 || start - at > HEAD_CHARACTERS_MAX || texts.length === PACKED_PARTS_MAX) return undefined;
    const end = plain.indexOf('endstream', start);
    if (end === -1) return undefined;
    // A line end of one or two characters follows the word.
    const content = start + 'stream'.length + (plain.startsWith('\r\n', start + 'stream'.length) ? 2 : 1);
    const text = unpack(bytes.subarray(content, end), remainingBytes);
    if (text === undefined) return undefined;
    remainingBytes -= text.length;
    texts.push(text);
    at = end;
  }
  return texts;
}

function unpack(bytes: Buffer, bytesMax: number): string | undefined {
  if (bytesMax < 1) return undefined;
  try {
    return inflateSync(bytes, { maxOutputLength: bytesMax, finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1');
  } catch {
    // Compressed in another way, or too large to unpack: the content is unknown.
    return undefined;
  }
}

function sum<Item>(items: readonly Item[], count: (item: Item) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
