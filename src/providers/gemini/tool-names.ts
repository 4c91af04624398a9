import { legalName } from '../legal-name.ts';

/** Encodes a function's name for Google: it starts with a letter or an underscore. */
export const encodeToolName = legalName({ characters: 'A-Za-z0-9_.:-', first: 'A-Za-z_', charactersMax: 128 });
