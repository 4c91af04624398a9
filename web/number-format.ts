import { remember, useRemembered } from './remembered.ts';

/** The ways to write numbers that can be chosen, by the language that writes so. */
export const NUMBER_FORMATS = ['en-US', 'de-DE', 'fr-FR', 'de-CH', 'en-IN'] as const;
export type NumberFormat = (typeof NUMBER_FORMATS)[number];

/** How numbers are written: as in American English, until another way is chosen. */
export const numberFormatChoice = remember<NumberFormat>('number-format', { fallback: () => 'en-US', isValid: isNumberFormat });

export function useNumberFormat(): NumberFormat {
  return useRemembered(numberFormatChoice);
}

export function isNumberFormat(text: string): text is NumberFormat {
  return NUMBER_FORMATS.some((format) => format === text);
}

/** A number in a format, to choose it by. */
export function sampleOf(format: NumberFormat): string {
  return new Intl.NumberFormat(format, { minimumFractionDigits: 2 }).format(1_234_567.89);
}
