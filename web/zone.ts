import { remember, useRemembered } from './remembered.ts';

/** The zone in which every date of the dashboard is shown: the browser's, until another is chosen. */
export const zoneChoice = remember<string>('zone', { fallback: browserZone, isValid: isZone });

/** The zone in which dates are shown. */
export function useZone(): string {
  return useRemembered(zoneChoice);
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
