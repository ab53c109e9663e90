import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { type ASSET_NAMES, type AssetManifest, parseAssetManifest } from '#config/asset-manifest.ts';

/** The published files that pages refer to. */
export type AssetName =
  | (typeof ASSET_NAMES)[number]
  | `${'account' | 'admin'}-${string}.json`
  | 'brand.css'
  | `${'logo' | 'logo-dark' | 'icon'}.${'svg' | 'png'}`;

/** Paths of the build's files. */
export interface AssetPaths {
  /** Absolute path below the origin, for example `/assets/pages-3f2a91c0.css`. */
  assetPath(name: AssetName): string;
}

/**
 * Returns the paths of published files.
 * @param basePath path of the public base URL, ending in `/`
 * @param manifest published file name by plain name, as written by the build; a missing name is used unchanged
 */
export function assetPaths(basePath: string, manifest: Readonly<Record<string, string>>): AssetPaths {
  return { assetPath: (name) => `${basePath}assets/${manifest[name] ?? name}` };
}

/** One file of the build, in the encodings that it is stored in. */
export interface AssetFile {
  readonly contentType: string;
  /** The name contains a hash of the content, so browsers that have the file never request it a second time. */
  readonly isImmutable: boolean;
  /** Strong validator of the uncompressed content, without quotes. */
  readonly tag: string;
  /** The value for `integrity`: `sha384-` and the hash of the uncompressed content. */
  readonly integrity: string;
  readonly content: () => Buffer;
  readonly brotli: Buffer | undefined;
  readonly gzip: Buffer | undefined;
  /** Published name of the script's source map, if source maps are published. */
  readonly sourceMap: string | undefined;
}

const CONTENT_TYPES = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.json', 'application/json'],
  ['.map', 'application/json'],
  ['.png', 'image/png'],
  ['.svg', 'image/svg+xml'],
  ['.woff2', 'font/woff2'],
]);

const COMPRESSED = new Set(['.css', '.json', '.svg']);

/** Chunks of a script have only published names, which the bundler generates. */
const HASHED = /-[0-9A-Z]{8}\.js$/;

/** Of larger files only the compressed content is kept in memory. Hardly any browser requests the other. */
const MAX_PLAIN_BYTES = 256 * 1024;

function contentOf(content: Buffer, gzip: Buffer | undefined): () => Buffer {
  if (gzip === undefined || content.length <= MAX_PLAIN_BYTES) return () => content;
  let plain: Buffer | undefined;
  return () => {
    plain ??= gunzipSync(gzip);
    return plain;
  };
}

function fileOf(
  published: string,
  content: Buffer,
  read: (name: string) => Buffer | undefined = () => undefined,
): Omit<AssetFile, 'isImmutable'> {
  const gzip = read(`${published}.gz`);
  return {
    contentType: CONTENT_TYPES.get(extname(published)) ?? 'application/octet-stream',
    tag: hash('sha256', content, 'base64url').slice(0, 22),
    integrity: `sha384-${hash('sha384', content, 'base64')}`,
    content: contentOf(content, gzip),
    brotli: read(`${published}.br`),
    gzip,
    sourceMap: undefined,
  };
}

/** The files of the build manifest, under their published and plain names. No other name leads to a file. */
export class AssetFiles {
  /** Published name by plain name. */
  readonly publishedNames: Readonly<Record<string, string>>;
  readonly #files: Map<string, AssetFile>;
  /** Published names of a script's imports, by its plain name. */
  readonly #imports: Map<string, readonly string[]>;

  /**
   * @param read returns the content of a file of the build, or undefined if it does not exist
   * @param others additional published files; a file with the same plain name is replaced
   * @param hasSourceMaps also publishes the scripts' source maps
   */
  constructor(
    publishedNames: Readonly<Record<string, string>>,
    read: (name: string) => Buffer | undefined,
    others?: AssetFiles,
    hasSourceMaps = false,
  ) {
    this.publishedNames = { ...others?.publishedNames, ...publishedNames };
    this.#files = new Map(others === undefined ? [] : others.#files);
    this.#imports = new Map(others === undefined ? [] : others.#imports);
    for (const [plain, published] of Object.entries(publishedNames)) {
      const content = read(published);
      if (content === undefined) throw new Error(`the build manifest lists ${published}, which does not exist`);
      const map = hasSourceMaps ? read(`${published}.map`) : undefined;
      const sourceMap = map === undefined ? undefined : `${published}.map`;
      if (map !== undefined)
        this.#files.set(`${published}.map`, { ...fileOf(`${published}.map`, map), isImmutable: true });
      const file = { ...fileOf(published, content, read), sourceMap };
      this.#files.set(plain, { ...file, isImmutable: false });
      if (published !== plain || HASHED.test(plain)) this.#files.set(published, { ...file, isImmutable: true });
      if (!plain.endsWith('.js')) continue;
      const imports = read(plain.replace(/\.js$/, '.imports.json'));
      this.#imports.set(plain, imports === undefined ? [] : parseImports(plain, imports));
    }
  }

  find(name: string): AssetFile | undefined {
    return this.#files.get(name);
  }

  /**
   * Returns the published names of the scripts that this one imports at startup. The build lists them for scripts with
   * chunks.
   */
  importsOf(name: AssetName): readonly string[] {
    return this.#imports.get(name) ?? [];
  }

  /** Returns these and additional files, compressed and with a content hash in their names, as in the build. */
  with(more: readonly { readonly name: string; readonly content: Buffer }[]): AssetFiles {
    const names: Record<string, string> = {};
    const contents = new Map<string, Buffer>();
    for (const { name, content } of more) {
      const extension = extname(name);
      const digest = hash('sha256', content).slice(0, 8);
      const published = `${name.slice(0, -extension.length)}-${digest}${extension}`;
      names[name] = published;
      contents.set(published, content);
      if (!COMPRESSED.has(extension)) continue;
      contents.set(`${published}.br`, brotliCompressSync(content));
      contents.set(`${published}.gz`, gzipSync(content, { level: 9 }));
    }
    return new AssetFiles(names, (name) => contents.get(name), this);
  }
}

/**
 * Reads the files of a build into memory; they are few and small. Files of the previous build are published too,
 * because a page that was opened before an upgrade still requests them.
 * @param directory contains `manifest.json`. Throws if the manifest or a listed file is missing.
 * @param manifest path of a manifest to read instead
 */
export function loadAssets(directory: string, hasSourceMaps = false, manifest?: string): AssetFiles {
  const read = (name: string): Buffer | undefined => {
    const path = join(directory, name);
    return existsSync(path) ? readFileSync(path) : undefined;
  };
  const listed = Object.entries(readManifest(directory, 'manifest.before.json')).filter(([, name]) =>
    existsSync(join(directory, name)),
  );
  const before = new AssetFiles(Object.fromEntries(listed), read, undefined, hasSourceMaps);
  const names = manifest === undefined ? readManifest(directory, 'manifest.json') : readOwnManifest(manifest);
  return new AssetFiles(names, read, before, hasSourceMaps);
}

function readOwnManifest(path: string): AssetManifest {
  const names = parseAssetManifest(readFileSync(path, 'utf8'));
  if (typeof names === 'string') throw new Error(`${path} ${names}`);
  return names;
}

function readManifest(directory: string, name: string): Record<string, string> {
  const path = join(directory, name);
  if (name !== 'manifest.json' && !existsSync(path)) return {};
  const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isNameMap(manifest)) throw new Error(`${path} is not a map of names`);
  return manifest;
}

function parseImports(script: string, content: Buffer): string[] {
  const names: unknown = JSON.parse(content.toString());
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
    throw new Error(`the imports of ${script} must be a list of names`);
  }
  return names;
}

function isNameMap(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null && Object.values(value).every((name) => typeof name === 'string');
}
