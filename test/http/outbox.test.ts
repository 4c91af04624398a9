import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Outbox } from '../../src/http/outbox.ts';

const anyPart = fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array(), fc.uint8Array({ minLength: 200, maxLength: 1000 }));

test('an outbox holds what was added since it was cleared, in order', () => {
  const out = new Outbox();
  fc.assert(
    fc.property(fc.array(anyPart), (parts) => {
      out.clear();
      for (const part of parts) {
        if (typeof part === 'string') out.addText(part);
        else out.addBytes(Buffer.from([0, ...part, 0]), 1, part.length + 1);
      }
      const expected = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
      expect(Buffer.compare(out.bytes.subarray(0, out.length), expected)).toBe(0);
      expect(out.read()).toBe(expected.toString());
    }),
  );
});

test('an outbox keeps its buffer', () => {
  const out = new Outbox();
  expect([out.length, out.read()]).toEqual([0, '']);
  out.addText('x'.repeat(1000));
  const { bytes } = out;
  out.clear();
  out.addText('y'.repeat(1000));
  expect(out.bytes).toBe(bytes);
});

test('half a character is replaced, as in any other text', () => {
  const out = new Outbox();
  out.addText('a\ud83d');
  expect(out.read()).toBe('a\ufffd');
});
