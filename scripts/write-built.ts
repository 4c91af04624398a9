import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What a bundler made: file names inside a folder, and their bytes. */
export type BuiltFiles = Map<string, Uint8Array>;

/** Takes what a build without a folder gives. */
export async function readOutputs(outputs: readonly Bun.BuildArtifact[]): Promise<BuiltFiles> {
  const files: BuiltFiles = new Map();
  for (const output of outputs) files.set(output.path.replace(/^\.\//u, ''), new Uint8Array(await output.arrayBuffer()));
  return files;
}

/**
 * Leaves exactly these files in a folder. A server may be running from it, so a file that stays as it is is not touched,
 * and one that changes does so at once.
 */
export async function writeBuilt(folder: string, files: BuiltFiles): Promise<void> {
  for (const [name, bytes] of files) {
    const path = join(folder, name);
    if (await hasBytes(path, bytes)) continue;
    await mkdir(dirname(path), { recursive: true });
    const fresh = `${path}.${process.pid}.new`;
    await Bun.write(fresh, bytes);
    await rename(fresh, path);
  }
  const wanted = new Set([...files.keys()].map((name) => join(folder, name)));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const present = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  // Another build may be just about to put a fresh file in its place.
  for (const path of present) if (!wanted.has(path) && !path.endsWith('.new')) await rm(path, { force: true });
}

async function hasBytes(path: string, bytes: Uint8Array): Promise<boolean> {
  const file = Bun.file(path);
  return file.size === bytes.length && Buffer.compare(await file.bytes(), bytes) === 0;
}
