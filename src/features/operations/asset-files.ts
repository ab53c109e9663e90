import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** One file of the build in the codings it was stored in. */
export interface AssetFile {
  readonly contentType: string;
  /** Its name holds a hash of its content: whoever has it never has to ask again. */
  readonly isImmutable: boolean;
  /** Strong validator of the uncompressed content, without quotes. */
  readonly tag: string;
  readonly content: Buffer;
  readonly brotli: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

const CONTENT_TYPES = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.json', 'application/json'],
  ['.png', 'image/png'],
  ['.svg', 'image/svg+xml'],
  ['.woff2', 'font/woff2'],
]);

/** The files of the build manifest, under their published and their plain names. No other name leads to a file. */
export class AssetFiles {
  /** Published name by plain name. */
  readonly publishedNames: Readonly<Record<string, string>>;
  readonly #files = new Map<string, AssetFile>();

  /** @param read the bytes of a file of the build, undefined when there is none of that name */
  constructor(publishedNames: Readonly<Record<string, string>>, read: (name: string) => Buffer | undefined) {
    this.publishedNames = publishedNames;
    for (const [plain, published] of Object.entries(publishedNames)) {
      const content = read(published);
      if (content === undefined) throw new Error(`the build manifest lists ${published}, which does not exist`);
      const file = {
        contentType: CONTENT_TYPES.get(extname(published)) ?? 'application/octet-stream',
        tag: createHash('sha256').update(content).digest('base64url').slice(0, 22),
        content,
        brotli: read(`${published}.br`),
        gzip: read(`${published}.gz`),
      };
      this.#files.set(plain, { ...file, isImmutable: false });
      if (published !== plain) this.#files.set(published, { ...file, isImmutable: true });
    }
  }

  find(name: string): AssetFile | undefined {
    return this.#files.get(name);
  }
}

/**
 * Reads the files of a build into memory; they are few and small.
 * @param directory with `manifest.json`. Throws when the manifest is missing or lists a file that is.
 */
export function loadAssets(directory: string): AssetFiles {
  const manifest: unknown = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));
  if (!isNameMap(manifest)) throw new Error(`${directory}/manifest.json is no list of names`);
  return new AssetFiles(manifest, (name) => {
    const path = join(directory, name);
    return existsSync(path) ? readFileSync(path) : undefined;
  });
}

function isNameMap(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null && Object.values(value).every((name) => typeof name === 'string');
}
