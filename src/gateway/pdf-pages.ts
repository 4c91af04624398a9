import type { Buffer } from 'node:buffer';
import { inflateSync } from 'node:zlib';

/** How much is unpacked at most to look for pages, over all compressed parts of a file. */
const UNPACKED_BYTES_MAX = 4_000_000;
const PACKED_PARTS_MAX = 2000;

/**
 * Returns an upper bound on the pages of a PDF; undefined where there is none, as for an encrypted file. Nothing is parsed: every page
 * object is counted, and every reference in the page lists, in the plain parts of the file and in the compressed ones. A file that is
 * written as no ordinary program writes it may hide pages, so it has no bound.
 */
export function countPdfPages(bytes: Buffer): number | undefined {
  const plain = toText(bytes);
  const packed = unpackObjects(bytes, plain);
  if (packed === undefined || packed.some(hasBareReference)) return undefined;
  const listed = new Set<number>();
  let described = 0;
  for (const text of [plain, ...packed]) {
    if (isObscured(text) || !readLists(text, listed)) return undefined;
    described += text.match(/\/Type\s*\/Page(?![A-Za-z])/gu)?.length ?? 0;
  }
  const pages = Math.max(described, listed.size);
  return pages === 0 ? undefined : pages;
}

/** Null characters are spaces in a PDF, but not in patterns. */
function toText(bytes: Buffer): string {
  return bytes.toString('latin1').replaceAll('\0', ' ');
}

/** More than any genuine file has. Looking at a million would take a second. */
const ESCAPED_NAMES_MAX = 10_000;
/** The words that pages are found by. */
const WORDS: ReadonlySet<string> = new Set(['/Kids', '/Type', '/Page', '/ObjStm', '/First', '/Encrypt']);

/** True when the file is encrypted, a word is spelled with escapes, or an object is a mere reference, under which a page has another number. */
function isObscured(text: string): boolean {
  if (text.includes('/Encrypt') || /\bobj\s*(?:%|\d+\s+\d+\s+R\b)/u.test(text)) return true;
  let names = 0;
  for (const [name] of text.matchAll(/\/[^\s/<>[\](){}%]*#[\da-f]{2}[^\s/<>[\](){}%]*/giu)) {
    const spelled = name.replaceAll(/#([\da-f]{2})/giu, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
    names += 1;
    if (WORDS.has(spelled) || names > ESCAPED_NAMES_MAX) return true;
  }
  return false;
}

/**
 * Notes the number of each page, and of each group of pages, that a page list names. Returns false for a list with anything else in it, and
 * when a number comes up twice: the pages of a group that is named twice are shown twice, and so on with groups of groups.
 */
function readLists(text: string, listed: Set<number>): boolean {
  for (let at = text.indexOf('/Kids'); at !== -1; at = text.indexOf('/Kids', at)) {
    const start = at + '/Kids'.length;
    at = text.indexOf(']', start);
    const [space, list = ''] = cutInTwo(text.slice(start, at), '[');
    if (at === -1 || space.trim() !== '' || list.replaceAll(REFERENCE, '').trim() !== '') return false;
    for (const [, digits] of list.matchAll(REFERENCE)) {
      const number = Number(digits);
      if (listed.has(number) || listed.size === LISTED_MAX) return false;
      listed.add(number);
    }
  }
  return true;
}

/** Leading zeros are left to `Number`: a pattern that skips them takes minutes for a long row of zeros. */
const REFERENCE = /\b(\d+)\s+\d+\s+R\b/gu;
/** So many pages fit into no context. */
const LISTED_MAX = 10_000;

function cutInTwo(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** True when unpacked objects include a mere reference, or a comment or the like, in which brackets mean nothing. */
function hasBareReference(text: string): boolean {
  let [strings, depth] = [0, 0];
  for (const [token] of text.matchAll(/\\[^]|[()<[\]>%]|\bR\b/gu)) {
    // A string may have others inside.
    if (token === '(') strings += 1;
    else if (strings > 0) strings -= token === ')' ? 1 : 0;
    else if (token === '<' || token === '[') depth += 1;
    else if (token === '>' || token === ']') depth -= 1;
    else if (token !== 'R' || depth <= 0) return true;
  }
  return false;
}

/** How far the content of an object stream may be from the word that marks it, and that word from the beginning of the object. */
const HEAD_CHARACTERS_MAX = 1000;
/** What object streams have, whether or not they are marked as such. In a table of contents, a reference follows the second. */
const MARK = /\/ObjStm|\/First\b(?!\s*\d+\s+\d+\s+R)/gu;

/** Unpacks the object streams, in which most modern files keep their pages. */
function unpackObjects(bytes: Buffer, plain: string): string[] | undefined {
  const texts: string[] = [];
  let remainingBytes = UNPACKED_BYTES_MAX;
  let [start, end] = [0, 0];
  for (const { index: at } of plain.matchAll(MARK)) {
    if (at < start) continue;
    // The stream before has no end of its own, so what looks like its content holds this one.
    if (at < end) return undefined;
    start = plain.indexOf('stream', at);
    if (start === -1 || start - at > HEAD_CHARACTERS_MAX || texts.length === PACKED_PARTS_MAX) return undefined;
    end = plain.indexOf('endstream', start);
    if (end === -1 || !isDeflated(plain.slice(Math.max(0, at - HEAD_CHARACTERS_MAX), start))) return undefined;
    // A line end of one or two characters follows the word.
    const content = start + 'stream'.length + (plain.startsWith('\r\n', start + 'stream'.length) ? 2 : 1);
    const text = unpack(bytes.subarray(content, end), remainingBytes);
    if (text === undefined) return undefined;
    remainingBytes -= text.length;
    texts.push(text);
  }
  return texts;
}

/** Whether the head of a stream names the usual compression, once and without any parameters. Other words may follow it there. */
function isDeflated(text: string): boolean {
  const head = text.split(/\d\s+obj\b/u).at(-1) ?? '';
  return head !== text && !/[#%()]/u.test(head) && head.match(/Decode/gu)?.length === 1 && head.includes('/FlateDecode');
}

function unpack(bytes: Buffer, bytesMax: number): string | undefined {
  if (bytesMax < 1) return undefined;
  try {
    return toText(inflateSync(bytes, { maxOutputLength: bytesMax }));
  } catch {
    // Compressed in another way, not whole, or too large to unpack: the content is unknown.
    return undefined;
  }
}
