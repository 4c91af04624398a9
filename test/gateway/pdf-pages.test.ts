import { describe, expect, test } from 'bun:test';
import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';
import { countPdfPages } from '../../src/gateway/pdf-pages.ts';
import { cpuMs } from '../cpu.ts';
import { writePdf } from '../simulator/pdf.ts';

function packed(content: string | Buffer): Buffer {
  return Buffer.concat([
    Buffer.from('%PDF-1.5\n1 0 obj<</Type /ObjStm /Length 9>>\nstream\n'),
    deflateSync(content),
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

  test('count each time that they are referenced', () => {
    expect(countPdfPages(Buffer.from('%PDF-1.4 /Kids [3 0 R 3 0 R\n3 0 R] 3 0 obj << /Type  /Page >>'))).toBe(3);
  });

  test('are not counted for other words with the letter that ends a reference', () => {
    expect(countPdfPages(Buffer.from('%PDF-1.4 /Kids [3 0 R /Rotate 1R R_2 4 0 R]'))).toBe(2);
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
    ['there are too many compressed parts', Buffer.concat(Array.from({ length: 2001 }, () => packed('/Type/Page')))],
  ])('have no known bound when %s', (_, bytes) => {
    expect(countPdfPages(bytes)).toBeUndefined();
  });

  test.each(['/ObjStm', '/Kids[', '/Kids[]', '/Type ', '/ObjStm stream endstream', '<</Type/Page>>'])(
    'are counted quickly in a file full of %p',
    (word) => {
      const startedAtMs = cpuMs();
      countPdfPages(Buffer.alloc(15_000_000, word));
      expect(cpuMs() - startedAtMs).toBeLessThan(2000);
    },
  );
});
