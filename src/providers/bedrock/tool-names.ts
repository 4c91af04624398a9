import { legalName } from '../legal-name.ts';

/** Encodes a tool's name, or the id of a call, for Converse. */
export const encodeToolName = legalName({ characters: 'A-Za-z0-9_-', charactersMax: 64 });
