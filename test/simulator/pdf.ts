import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';

/** Returns a minimal PDF of empty pages: plain, or compressed as modern programs write it. */
export function writePdf(pages: number, { isPacked = false } = {}): Buffer {
  const numbers = Array.from({ length: pages }, (_, index) => index + 3);
  const tree = `<</Type/Pages/Kids[${numbers.map((number) => `${number} 0 R`).join(' ')}]/Count ${pages}>>`;
  const page = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>';
  const catalog = '<</Type/Catalog/Pages 2 0 R>>';
  const objects = [catalog, tree, ...numbers.map(() => page)];
  const head = Buffer.from('%PDF-1.5\n');
  const end = Buffer.from('trailer<</Root 1 0 R>>\n%%EOF\n');
  if (!isPacked) return Buffer.concat([head, ...objects.map((object, index) => Buffer.from(`${index + 1} 0 obj${object}endobj\n`)), end]);
  const packed = deflateSync(objects.join(' '));
  const first = `9 0 obj<</Type/ObjStm/N ${objects.length}/Filter/FlateDecode/Length ${packed.length}>>stream\r\n`;
  return Buffer.concat([head, Buffer.from(first), packed, Buffer.from('\nendstream endobj\n'), end]);
}
