import type { LoadedConfig } from '#config/load.ts';
import { readSigningKeys, SigningKeyProblems } from '#domain/signing-keys/read-signing-keys.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import { configurationError } from '#platform/config/problems.ts';
import { nodeAt, type Origin, type Path } from '#platform/config/tree.ts';

/**
 * The signing keys of a configuration.
 * @throws ExitError 78 that names each entry with file, line and column
 */
export function loadSigningKeys({ config, tree }: LoadedConfig): SigningKeys {
  const placeOf = (path: Path): Origin | undefined => nodeAt(tree, path)?.at;
  const places = new Map(config.secrets.keys.map(({ name }, index) => [name, placeOf(['secrets', 'keys', index])]));
  const directory = placeOf(['secrets', 'keys_dir']);
  try {
    return readSigningKeys(
      config.secrets.keys.map(({ key, encoding, password, ...rest }) => ({
        ...rest,
        key: Buffer.from(key.reveal(), encoding),
        password: password?.reveal(),
      })),
    );
  } catch (error) {
    if (!(error instanceof SigningKeyProblems)) throw error;
    throw configurationError(
      error.problems.map(({ name, message }) => ({
        key: name ?? 'secrets.keys',
        message,
        at: (name === undefined ? placeOf(['secrets', 'keys']) : places.get(name)) ?? directory,
      })),
    );
  }
}
