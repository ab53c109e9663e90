import { type AssetFiles, loadAssets } from '#browser/asset-files.ts';
import { BUNDLED_ASSETS } from '#config/asset-directory.ts';
import type { Config } from '#config/config.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';

/** The files below `/assets/`: those of this program, or those of the operator. @throws ExitError 78 when those are none */
export function openAssets({ path, manifest, hasSourceMaps }: Config['assets']): AssetFiles {
  if (path === undefined && manifest === undefined) return loadAssets(BUNDLED_ASSETS, hasSourceMaps);
  try {
    return loadAssets(path ?? BUNDLED_ASSETS, hasSourceMaps, manifest);
  } catch (error) {
    const setting = manifest === undefined ? 'assets.path' : 'templates.assets_manifest';
    throw new ExitError(ExitCode.config, `${setting}: ${describeError(error).message}`);
  }
}
