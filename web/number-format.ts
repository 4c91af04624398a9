import { createSavedStore, useStore } from './store.ts';

/** Number formats to choose from, as locales. */
export const NUMBER_FORMATS = ['en-US', 'de-DE', 'fr-FR', 'de-CH', 'en-IN'] as const;
export type NumberFormat = (typeof NUMBER_FORMATS)[number];

/** The chosen number format; American English by default. */
export const numberFormatChoice = createSavedStore<NumberFormat>('number-format', { fallback: () => 'en-US', isValid: isNumberFormat });

export function useNumberFormat(): NumberFormat {
  return useStore(numberFormatChoice);
}

export function isNumberFormat(text: string): text is NumberFormat {
  return NUMBER_FORMATS.some((format) => format === text);
}

/** Returns a sample number in a format, for the list of choices. */
export function sampleOf(format: NumberFormat): string {
  return new Intl.NumberFormat(format, { minimumFractionDigits: 2 }).format(1_234_567.89);
}
