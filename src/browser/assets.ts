/** The published files that pages name. */
export type AssetName =
  | 'pages.css'
  | 'pages.js'
  | 'strength.js'
  | 'strength-estimator.js'
  | 'favicon.svg'
  | 'brand.css'
  | `${'logo' | 'logo-dark' | 'icon'}.${'svg' | 'png'}`;

/** Where the browser finds a file of the build. */
export interface AssetPaths {
  /** Absolute path below the origin, for example `/assets/pages-3f2a91c0.css`. */
  assetPath(name: AssetName): string;
}

/**
 * Paths of the published names.
 * @param basePath path of the public base, ending in `/`
 * @param manifest published file name by plain name, as the build writes it; a name missing there stays as it is
 */
export function assetPaths(basePath: string, manifest: Readonly<Record<string, string>>): AssetPaths {
  return { assetPath: (name) => `${basePath}assets/${manifest[name] ?? name}` };
}
