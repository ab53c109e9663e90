import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * Imports a TypeScript file with its dependencies.
 * @param path below the checkout
 */
export async function loadTypeScript(path) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../../${path}`, import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
  });
  return await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}
