import { hash, type Options, verify } from '@node-rs/argon2';
import { type PasswordHashing, type PasswordScheme, passwordBytes } from './schemes.ts';

type Argon2idScheme = Extract<PasswordScheme, { algorithm: 'argon2id' }>;

const NO_SALT = 'A'.repeat(22);
const NO_DIGEST = 'A'.repeat(43);

/** argon2id (RFC 9106), PHC strings `$argon2id$v=19$m=…,t=…,p=…$<salt>$<digest>`; the pepper is its secret input. */
export function argon2id(scheme: Argon2idScheme): PasswordHashing {
  const prefix = `$argon2id$v=19$m=${scheme.memoryKib},t=${scheme.iterations},p=${scheme.parallelism}$`;
  const pepper: Options = scheme.secret === undefined ? {} : { secret: Buffer.from(scheme.secret.reveal()) };
  const options: Options = {
    memoryCost: scheme.memoryKib,
    timeCost: scheme.iterations,
    parallelism: scheme.parallelism,
    ...pepper,
  };
  return {
    hash: (password) => hash(passwordBytes(scheme, password), options),
    verify: (stored, password) => verify(stored, passwordBytes(scheme, password), pepper),
    isCurrent: (stored) => stored.startsWith(prefix),
    dummy: `${prefix}${NO_SALT}$${NO_DIGEST}`,
  };
}
