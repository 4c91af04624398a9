import { afterEach, expect, test } from 'bun:test';
import { buildCommandLine } from '../../src/commands/command-line.ts';
import { readDuration, readSettingsOptions } from '../../src/commands/key-options.ts';
import { readCount, readMoment, readUsd } from '../../src/commands/options.ts';

const zone = process.env['TZ'];
afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

test.each(['UTC', 'America/New_York', 'Asia/Kathmandu'])('a time without a zone is in UTC on a machine in %s', (name) => {
  process.env['TZ'] = name;
  const noon = Date.UTC(2027, 0, 31, 12);
  expect(readMoment('2027-01-31')).toBe(Date.UTC(2027, 0, 31));
  for (const text of [
    '2027-01-31T12:00',
    '2027-01-31 12:00:00',
    '2027-01-31T12:00:00.000Z',
    '2027-01-31T12:00:00.000000+00:00',
    '2027-01-31T17:45+05:45',
  ])
    expect(readMoment(text)).toBe(noon);
});

test.each(['5', 'someday', '2027-13-01', '31.1.2027', '2027-01-31T25:00', '2027-02-30'])('%p is not a valid time', (text) => {
  expect(() => readMoment(text)).toThrow('is not a time such as');
});

test.each([
  ['0', 0],
  ['90s', 90_000],
  ['24h', 86_400_000],
])('%p is a duration', (text, ms) => {
  expect(readDuration(text)).toBe(ms);
});

test.each(['24', '1.5h', '-1h', '24H', ''])('%p is not a duration: the unit could be any', (text) => {
  expect(() => readDuration(text)).toThrow('is not a duration such as');
});

test.each(['0', '-1', '1.5', 'many', ''])('%p is not a count', (text) => {
  expect(() => readCount(text)).toThrow('is not a whole number above zero');
});

test('a number or an amount that is too large is refused as such', () => {
  expect(() => readCount('99999999999999999999')).toThrow('is too large');
  expect(() => readUsd('1000000000')).toThrow('below a billion');
});

test.each([
  [{ addresses: '192.0.2.1,192.0.2.0/40' }, '--addresses: "192.0.2.0/40" is neither an address nor a block'],
  [{ tag: ['team=a', 'b,c'] }, '--tag: "b,c" must be a word or name=value'],
  [{ limitZone: 'Mars/Base' }, '--limit-zone: "Mars/Base" is not the name of a time zone'],
  [{ name: ' ' }, '--name: give the key a name.'],
])('%o names the value at fault', (options, message) => {
  expect(() => readSettingsOptions(options)).toThrow(message);
});

test.each<string[]>([
  ['account', 'credit', '--email', 'a@example.com', '--usd', '1'],
  ['account', 'suspend', '--email', 'a@example.com'],
  ['account', 'resume', '--email', 'a@example.com'],
  ['payments', 'refuse', 'TG-1'],
])('%s %s refuses an empty reason', async (...words: string[]) => {
  const program = await buildCommandLine(undefined, words[0]);
  await expect(program.parseAsync([...words, '--reason', ' '], { from: 'user' })).rejects.toThrow('The reason must not be empty');
});
