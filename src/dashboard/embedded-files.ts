/**
 * The dashboard's files inside the executable, by name, with the path at which the runtime finds them. Undefined when the
 * program runs from its sources: scripts/build.ts replaces this file with the real map.
 */
export const embeddedFiles: ReadonlyMap<string, string> | undefined = undefined;
