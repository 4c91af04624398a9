import { describe, expect, test } from 'bun:test';
import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';
import { countPdfPages } from '../../src/gateway/pdf-pages.ts';
import { cpuMs } from '../cpu.ts';
import { writePdf } from '../simulator/pdf.ts';

const HEAD = '/Type /ObjStm /Filter /FlateDecode /Length 9';

function packed(content: string | Buffer, head = HEAD, level = 9): Buffer {
  return Buffer.concat([
    Buffer.from(`%PDF-1.5\n1 0 obj<<${head}>>\nstream\n`),
    deflateSync(content, { level }),
    Buffer.from('\nendstream\n'),
  ]);
}

describe('the pages of a PDF', () => {
  test.each([1, 7, 1000])('are counted in plain and compressed files: %p', (pages) => {
    expect(countPdfPages(writePdf(pages))).toBe(pages);
    expect(countPdfPages(writePdf(pages, { isPacked: true }))).toBe(pages);
  });

  test('take hardly a byte each when compressed', () => {
    expect(writePdf(1000, { isPacked: true }).length).toBeLessThan(10_000);
  });

  test('count by their lists as well, with the groups in them', () => {
    expect(countPdfPages(Buffer.from('%PDF-1.4 /Kids [3 0 R 04 0 R\n5 0 R]/Kids [6 0 R] 3 0 obj << /Type  /Page >>'))).toBe(4);
  });

  test('are found in object streams that are not marked as such, but not in a table of contents', () => {
    expect(countPdfPages(packed('1 0 <</Type/Page>>', '/N 1 /First 4 /Filter /FlateDecode'))).toBe(1);
    expect(countPdfPages(Buffer.from('1 0 obj<</Title(a)/First 3 0 R>>endobj 2 0 obj<</Type/Page>>'))).toBe(1);
  });

  test('are found behind strings with brackets, and with null characters for spaces', () => {
    expect(countPdfPages(packed(String.raw`1 0 2 8 (\(<) <</Type/Page/Title(a(b)[)/Parent 2 0 R>>`))).toBe(1);
    expect(countPdfPages(Buffer.from('<</Type\0/Page>><</Type/Page>>'))).toBe(2);
  });

  test('do not include the page list itself, nor names that begin alike', () => {
    expect(countPdfPages(Buffer.from('<</Type/Pages>><</Type/PageLabel>><</Type/Page>>'))).toBe(1);
  });

  test.each<[string, Buffer]>([
    ['there are none', Buffer.from('%PDF-1.4')],
    ['the file is encrypted', Buffer.concat([writePdf(1), Buffer.from('trailer<</Encrypt 7 0 R>>')])],
    ['they are compressed in an unknown way', Buffer.from('<</Type/ObjStm/Filter/LZWDecode>>stream\nwhat\nendstream')],
    ['they unpack to more than the limit', packed(Buffer.alloc(5_000_000, '/Type/Page '))],
    ['all parts together unpack to more than the limit', Buffer.concat([packed(Buffer.alloc(4_000_000, ' ')), packed('/Type/Page')])],
    ['the file is truncated', packed('/Type/Page').subarray(0, -12)],
    ['a compressed part has no content', Buffer.from('/Type/Page /ObjStm')],
    ['a list names one twice', Buffer.from('/Type/Page /Kids [3 0 R 4 0 R] /Kids [003 0 R]')],
    ['a list is kept elsewhere', Buffer.from('/Type/Page /Kids 5 0 R 5 0 obj [3 0 R] endobj')],
    ['a list has a comment', Buffer.from('/Type/Page /Kids [3 0 R % ]\n 4 0 R]')],
    ['a list does not end', Buffer.from('/Type/Page /Kids [3 0 R')],
    ['a word is escaped', Buffer.from('/Type/Page /#4bids [3 0 R 4 0 R]')],
    ['a word of a compressed part is escaped', packed('/Type/Page /K#69ds [3 0 R 4 0 R]')],
    ['the mark of a compressed part is escaped', packed('/Type/Page', '/Type /#4FbjStm /Filter /FlateDecode')],
    ['an object is a reference', Buffer.from('/Type/Page 3 0 obj 4 0 R endobj')],
    ['an object begins with a comment', Buffer.from('/Type/Page 3 0 obj %\n4 0 R endobj')],
    ['a packed object is a reference', packed('1 0 2 8 4 0 R <</Type/Page/Parent 2 0 R>>')],
    ['a packed part has parameters', packed('/Type/Page', '/Type /ObjStm /Filter /FlateDecode /DecodeParms <</Predictor 12>>')],
    ['a packed part has two filters', packed('/Type/Page', '/Type /ObjStm /Filter [/ASCIIHexDecode /FlateDecode]')],
    ['a packed part is longer than it looks', packed('/Type/Page endstream /Type/Page', HEAD, 0)],
    ['a packed part has a comment', packed('1 0 2 8 %<\n4 0 R <</Type/Page>>')],
    ['a packed reference follows a string in a string', packed('1 0 2 8 (a(b)<) 4 0 R <</Type/Page>>')],
    ['a packed reference follows a string that does not begin', packed('1 0 2 8 ) 4 0 R <</Type/Page>>')],
    ['a packed reference follows a string after a backslash', packed(String.raw`1 0 2 8 /a\(<) 4 0 R <</Type/Page>>`)],
    [
      'a packed part is in another that does not end',
      Buffer.concat([packed('/Type/Page').subarray(0, -10), packed('/Type/Page /Type/Page')]),
    ],
    ['an escaped word ends with a null character', Buffer.from('/Type/Page /K#69ds\0[3 0 R 4 0 R]')],
    ['an object is a reference after a null character', Buffer.from('/Type/Page 3 0 obj\x004 0 R endobj')],
    ['there are too many compressed parts', Buffer.concat(Array.from({ length: 2001 }, () => packed('/Type/Page')))],
  ])('have no known bound when %s', (_, bytes) => {
    expect(countPdfPages(bytes)).toBeUndefined();
  });

  test.each([
    '/ObjStm',
    '/First 1',
    '/First 1 0 R',
    '/Kids[',
    '/Kids[]',
    '/Type ',
    '/ObjStm stream endstream',
    '<</Type/Page>>',
    '/#4b',
    'obj ',
    '1 0 R ',
    '(',
  ])('are counted quickly in a file full of %p', (word) => {
    const startedAtMs = cpuMs();
    countPdfPages(Buffer.alloc(15_000_000, word));
    expect(cpuMs() - startedAtMs).toBeLessThan(2000);
  });

  test.each([
    ['a row of zeros', '0'.repeat(100_000)],
    ['many references', Array.from({ length: 1_000_000 }, (_, index) => `${index} 0 R`).join(' ')],
  ])('are counted quickly in a list with %s', (_, list) => {
    const startedAtMs = cpuMs();
    expect(countPdfPages(Buffer.from(`/Type/Page /Kids[${list}]`))).toBeUndefined();
    expect(cpuMs() - startedAtMs).toBeLessThan(2000);
  });
});
