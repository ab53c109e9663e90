import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Loads a file of TypeScript with what it imports. @param path below the checkout */
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
