import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { remember, useRemembered } from './remembered.ts';
import { readText, type RawSearch } from './search-params.ts';

/** The zone in which every date of the dashboard is shown: the browser's, until another is chosen. */
export const zoneChoice = remember<string>('zone', { fallback: browserZone, isValid: isZone });

/** The zone in which dates are shown: that of the address where it has one, so that whoever gets it sees the same. */
export function useZone(): string {
  const remembered = useRemembered(zoneChoice);
  return useSearch({ strict: false }).zone ?? remembered;
}

/** For pages whose numbers depend on the zone: writes it into their address. */
export function useZoneOfAddress(): string {
  const zone = useZone();
  const navigate = useNavigate();
  const isMissing = useSearch({ strict: false }).zone === undefined;
  useEffect(() => {
    if (isMissing) void navigate({ to: '.', search: (old) => ({ ...old, zone }), replace: true });
  }, [isMissing, navigate, zone]);
  return zone;
}

/** Chooses the zone of this browser, and that of the address where it has one. */
export function useChooseZone(): (zone: string) => void {
  const navigate = useNavigate();
  const isThere = useSearch({ strict: false }).zone !== undefined;
  return (zone) => {
    zoneChoice.set(zone);
    if (isThere) void navigate({ to: '.', search: (old) => ({ ...old, zone }), replace: true });
  };
}

/** The zone of an address, if it names one that this browser knows. */
export function readZone(raw: RawSearch): string | undefined {
  const text = readText(raw, 'zone');
  return text !== undefined && isZone(text) ? text : undefined;
}

/** Every zone that this browser knows, UTC and its own first. */
export function allZones(): readonly string[] {
  return [...new Set(['UTC', browserZone(), ...Intl.supportedValuesOf('timeZone')])];
}

function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function isZone(text: string): text is string {
  try {
    Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    // A zone that the browser does not know is not one that it can show.
    return false;
  }
}
