import { join } from 'node:path';
import { type AssetFiles, loadAssets } from '#browser/asset-files.ts';
import type { Config } from '#config/config.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';
import { packageRoot } from '#platform/base/package-root.ts';

/** The files below `/assets/`: those of this program, or those of the operator. @throws ExitError 78 when those are none */
export function openAssets({ path, hasSourceMaps }: Config['assets']): AssetFiles {
  if (path === undefined) return loadAssets(join(packageRoot, 'dist/assets'), hasSourceMaps);
  try {
    return loadAssets(path, hasSourceMaps);
  } catch (error) {
    throw new ExitError(ExitCode.config, `assets.path: ${describeError(error).message}`);
  }
}
