/**
 * The dashboard's files inside the executable: their names, and where the runtime finds them. Undefined when the program
 * runs from its sources; scripts/build.ts puts the real map in this file's place.
 */
export const embeddedFiles: ReadonlyMap<string, string> | undefined = undefined;
