import type { Buffer } from 'node:buffer';
import { constants, inflateSync } from 'node:zlib';

/** What is unpacked at most to look for pages, over all packed parts of a file. */
const UNPACKED_BYTES_MAX = 4_000_000;
const PACKED_PARTS_MAX = 2000;

/**
 * How many pages a PDF has at most; undefined where that cannot be told, as of one that is encrypted. Nothing is parsed: every
 * description of a page is counted, and every mention of one in the lists of pages, in the plain parts of the file and in the packed ones.
 */
export function countPdfPages(bytes: Buffer): number | undefined {
  const plain = bytes.toString('latin1');
  const packed = unpackObjects(bytes, plain);
  if (packed === undefined || plain.includes('/Encrypt')) return undefined;
  const texts = [plain, ...packed];
  const described = sum(texts, (text) => text.match(/\/Type\s*\/Page(?![A-Za-z])/gu)?.length ?? 0);
  const mentioned = sum(texts, countMentions);
  const pages = Math.max(described, mentioned);
  return pages === 0 ? undefined : pages;
}

/** One page may be mentioned, and shown, many times. Searched without patterns, which a hostile file could make slow. */
function countMentions(text: string): number {
  let mentions = 0;
  for (let at = text.indexOf('/Kids'); at !== -1; at = text.indexOf('/Kids', at)) {
    const end = text.indexOf(']', at);
    if (end === -1) break;
    mentions += text.slice(at, end).match(/\bR\b/gu)?.length ?? 0;
    at = end;
  }
  return mentions;
}

/** How far its content is from the word that says what an object stream is. */
const HEAD_CHARACTERS_MAX = 1000;

/** The contents of object streams, in which most files of today keep their pages. */
function unpackObjects(bytes: Buffer, plain: string): string[] | undefined {
  const texts: string[] = [];
  let room = UNPACKED_BYTES_MAX;
  for (let at = plain.indexOf('/ObjStm'); at !== -1; at = plain.indexOf('/ObjStm', at)) {
    const start = plain.indexOf('stream', at);
    if (start === -1 || start - at > HEAD_CHARACTERS_MAX || texts.length === PACKED_PARTS_MAX) return undefined;
    const end = plain.indexOf('endstream', start);
    if (end === -1) return undefined;
    // A line ends behind the word, as one character or as two.
    const content = start + 'stream'.length + (plain.startsWith('\r\n', start + 'stream'.length) ? 2 : 1);
    const text = unpack(bytes.subarray(content, end), room);
    if (text === undefined) return undefined;
    room -= text.length;
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
    // Packed in another way, or larger than we care to look at: nobody knows what is in it.
    return undefined;
  }
}

function sum<Item>(items: readonly Item[], count: (item: Item) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
