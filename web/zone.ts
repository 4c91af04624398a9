import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { createSavedStore, useStore } from './store.ts';
import { readText, type RawSearch } from './search-params.ts';

/** The chosen time zone of all dates in the dashboard; that of the browser by default. */
export const zoneChoice = createSavedStore<string>('zone', { fallback: browserZone, isValid: isZone });

/** Returns the time zone for dates. A zone in the URL comes first, so that a shared link shows the same to everyone. */
export function useZone(): string {
  const remembered = useStore(zoneChoice);
  return useSearch({ strict: false }).zone ?? remembered;
}

/** Returns the time zone and writes it into the URL, for pages whose figures depend on it. */
export function useZoneInUrl(): string {
  const zone = useZone();
  const navigate = useNavigate();
  const isMissing = useSearch({ strict: false }).zone === undefined;
  useEffect(() => {
    if (isMissing) void navigate({ to: '.', search: (old: object) => ({ ...old, zone }), replace: true });
  }, [isMissing, navigate, zone]);
  return zone;
}

/** Returns a function that changes the time zone of this browser, and of the URL if it has one. */
export function useChooseZone(): (zone: string) => void {
  const navigate = useNavigate();
  const isInUrl = useSearch({ strict: false }).zone !== undefined;
  return (zone) => {
    zoneChoice.set(zone);
    if (isInUrl) void navigate({ to: '.', search: (old: object) => ({ ...old, zone }), replace: true });
  };
}

/** Reads the time zone from the URL, if this browser knows it. */
export function readZone(raw: RawSearch): string | undefined {
  const text = readText(raw, 'zone');
  return text !== undefined && isZone(text) ? text : undefined;
}

/** Returns every time zone to choose from, UTC and the browser's own first, and the chosen one even if this browser lists it by another name. */
export function zoneChoices(chosen: string): readonly { readonly value: string; readonly label: string }[] {
  const others = Intl.supportedValuesOf('timeZone').toSorted((one, other) => labelOf(one).localeCompare(labelOf(other)));
  const zones = new Set(['UTC', browserZone(), ...others, chosen]);
  return [...zones].map((value) => ({ value, label: labelOf(value) }));
}

/** Naming four hundred zones takes long enough to notice while typing into a form. */
const labels = new Map<string, string>();

/** Names the city first: a list of choices finds what is typed at the start of a name. */
function labelOf(zone: string): string {
  const known = labels.get(zone);
  if (known !== undefined) return known;
  const [city = zone, ...areas] = zone.replaceAll('_', ' ').split('/').toReversed();
  const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts();
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', 'UTC') ?? '';
  const label = areas.length === 0 ? city : `${city} (${areas.toReversed().join('/')}), ${offset}`;
  labels.set(zone, label);
  return label;
}

function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function isZone(text: string): text is string {
  try {
    Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    // The browser cannot show dates in a time zone it does not know.
    return false;
  }
}
