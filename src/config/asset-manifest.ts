/** Maps asset names to published file names. Reads the manifest of our build and the manifest format of Vite. */
import { isObject } from '#platform/base/objects.ts';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';

/** The files that pages reference. Every manifest must contain all of them, and the English message catalogs. */
export const ASSET_NAMES = [
  'account.css',
  'account.js',
  'admin.css',
  'admin.js',
  'api-callback.js',
  'api-reference.css',
  'api-reference.js',
  'favicon.svg',
  'pages.css',
  'pages.js',
  'add-passkey.js',
  'passkey.js',
  'playground.js',
  'strength-estimator.js',
  'strength.js',
] as const;

/** Published name by plain name. */
export type AssetManifest = Readonly<Record<string, string>>;

const NEEDED: readonly string[] = [...ASSET_NAMES, 'account-en.json', 'admin-en.json'];
/** Known by their plain names. The message catalogs that a build does not have are written at start. */
const NAMED = new Set<string>([
  ...NEEDED,
  ...BUNDLED_LANGUAGES.flatMap((language) => [`account-${language}.json`, `admin-${language}.json`]),
]);
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/**
 * Parses a manifest. Entries are `"pages.css": "pages-3f2a91c0.css"`, or in Vite's format
 * `"src/pages.css": {"file": "assets/pages-3f2a91c0.css"}`. The plain name is the last part of the key; for a
 * TypeScript source it ends in `.js`. Other files keep their published name.
 * @returns the manifest, or a description of the problem
 */
export function parseAssetManifest(text: string): AssetManifest | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return 'is not valid JSON';
  }
  if (!isObject(parsed)) return 'is not a JSON object that maps names to files';
  const names = new Map<string, string>();
  for (const [key, entry] of Object.entries(parsed)) {
    const files = filesOf(entry);
    if (files === undefined) return `has no file for ${JSON.stringify(key)}`;
    for (const [index, file] of files.entries()) {
      const published = file.replace(/^\.?\/?(?:assets\/)?/, '');
      if (!FILE_NAME.test(published))
        return `refers to ${JSON.stringify(file)}, which is not a file name without a directory`;
      const plain = index === 0 ? plainName(key) : published;
      names.set(NAMED.has(plain) ? plain : published, published);
    }
  }
  const missing = NEEDED.filter((name) => !names.has(name));
  return missing.length === 0 ? Object.fromEntries(names) : `lacks ${missing.join(', ')}`;
}

function plainName(key: string): string {
  return (key.split('/').at(-1) ?? '').replace(/(?:\.browser)?\.tsx?$/, '.js');
}

/** Returns the file of the entry, followed by the other files that belong to it. */
function filesOf(entry: unknown): readonly string[] | undefined {
  if (typeof entry === 'string') return [entry];
  if (!isObject(entry) || typeof entry['file'] !== 'string') return undefined;
  const more = [entry['css'], entry['assets']].flat().filter((file) => typeof file === 'string');
  return [entry['file'], ...more];
}
