import { type AssetFiles, loadAssets } from '#browser/asset-files.ts';
import { BUNDLED_ASSETS } from '#config/asset-directory.ts';
import type { Config } from '#config/config.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';

/**
 * Opens the files below `/assets/`: bundled ones, or the operator's.
 * @throws ExitError 78 if the operator's files are not the output of a build
 */
export function openAssets({ path, manifest, hasSourceMaps }: Config['assets']): AssetFiles {
  if (path === undefined && manifest === undefined) return loadAssets(BUNDLED_ASSETS, hasSourceMaps);
  try {
    return loadAssets(path ?? BUNDLED_ASSETS, hasSourceMaps, manifest);
  } catch (error) {
    const setting = manifest === undefined ? 'assets.path' : 'templates.assets_manifest';
    throw new ExitError(ExitCode.config, `${setting}: ${describeError(error).message}`);
  }
}
