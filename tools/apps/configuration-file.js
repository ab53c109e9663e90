import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Copies a configuration file into the application's folder, with `${NAME}` replaced by its settings. */
export function configurationFile(path, settings) {
  const text = readFileSync(join(import.meta.dirname, path), 'utf8');
  const own = join(settings.FOLDER, path.split('/').at(-1));
  writeFileSync(
    own,
    text.replaceAll(/\$\{(\w+)\}/g, (_, name) => settings[name]),
  );
  return own;
}
