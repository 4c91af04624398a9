import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A bundler's output: file names within a folder, and their bytes. */
export type BuiltFiles = Map<string, Uint8Array>;

/** Reads the outputs of a build that writes no files itself. */
export async function readOutputs(outputs: readonly Bun.BuildArtifact[]): Promise<BuiltFiles> {
  const files: BuiltFiles = new Map();
  for (const output of outputs) files.set(output.path.replace(/^\.\//u, ''), new Uint8Array(await output.arrayBuffer()));
  return files;
}

/**
 * Makes a folder contain exactly these files. A server may be running from it, so unchanged files are not touched, and changed ones
 * are replaced atomically.
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
  // Another build may be about to rename its new file.
  for (const path of present) if (!wanted.has(path) && !path.endsWith('.new')) await rm(path, { force: true });
}

async function hasBytes(path: string, bytes: Uint8Array): Promise<boolean> {
  const file = Bun.file(path);
  return file.size === bytes.length && Buffer.compare(await file.bytes(), bytes) === 0;
}
