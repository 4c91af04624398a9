import { expect, test } from 'bun:test';
import { zoneChoices } from '../../web/zone.ts';

test('time zones are listed by city, each with its distance from UTC, and the chosen one is among them', () => {
  const choices = zoneChoices('Asia/Calcutta');
  const labelOf = (zone: string): string | undefined => choices.find(({ value }) => value === zone)?.label;
  expect(choices[0]).toEqual({ value: 'UTC', label: 'UTC' });
  expect(labelOf('Asia/Calcutta')).toBe('Calcutta (Asia), UTC+05:30');
  expect(labelOf('America/Argentina/Ushuaia')).toBe('Ushuaia (America/Argentina), UTC-03:00');
  const cities = choices.slice(3, -1).map(({ label }) => label);
  expect(cities).toEqual(cities.toSorted((one, other) => one.localeCompare(other)));
});
