/** `latchkey debug token`: decodes a token without a database. The token itself is never printed. */
import { text } from 'node:stream/consumers';
import { ExitCode } from '#platform/base/errors.ts';
import { parseChatClientToken } from '#protocol/oauth/chat-client-token.ts';
import { hasTokenForm, parseToken, type TokenPrefix } from '#protocol/oauth/token-format.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';

const KIND_OF_PREFIX: Readonly<Record<TokenPrefix, string>> = {
  mat: 'access token',
  mar: 'refresh token',
  mct: 'access token of a chat client',
  mcr: 'refresh token of a chat client',
  mpt: 'personal token',
  mgt: 'registration access token of a client',
};

interface DescribedToken {
  readonly kind: string;
  readonly checksum: 'valid' | 'wrong' | 'none';
  /** Where the expiry is stored. */
  readonly expiry: 'in the database' | 'in the claim exp' | 'unknown';
}

/**
 * @param given the token, or `-` for standard input
 * @returns the exit code: 1 for a text that cannot be a token
 */
export async function debugToken(
  { isJson }: Pick<CommandOptions, 'isJson'>,
  given: string,
  io: Pick<CommandIo, 'stdin' | 'stdout'>,
): Promise<number> {
  const token = describeToken((given === '-' ? await text(io.stdin) : given).trim());
  io.stdout(
    isJson
      ? `${JSON.stringify(token)}\n`
      : `kind: ${token.kind}\nchecksum: ${token.checksum}\nexpiry: ${token.expiry}\n`,
  );
  return token.kind === 'unknown' || token.checksum === 'wrong' ? ExitCode.failure : ExitCode.ok;
}

function describeToken(token: string): DescribedToken {
  const own = parseToken(token);
  if (own !== undefined) return { kind: KIND_OF_PREFIX[own.prefix], checksum: 'valid', expiry: 'in the database' };
  const prefix = token.slice(0, 3);
  if (hasTokenForm(token) && isPrefix(prefix)) {
    return { kind: KIND_OF_PREFIX[prefix], checksum: 'wrong', expiry: 'unknown' };
  }
  if (isJwt(token)) return { kind: 'JWT', checksum: 'none', expiry: 'in the claim exp' };
  const imported = parseChatClientToken(token);
  if (imported === undefined) return { kind: 'unknown', checksum: 'none', expiry: 'unknown' };
  const kind = imported.kind === 'access-token' ? 'access token' : 'refresh token';
  return { kind: `${kind} issued by a homeserver`, checksum: 'none', expiry: 'in the database' };
}

function isPrefix(text: string): text is TokenPrefix {
  return text in KIND_OF_PREFIX;
}

/** Returns true for three parts, the first a JSON object with an algorithm. */
function isJwt(token: string): boolean {
  const [header, , signature, ...more] = token.split('.');
  if (header === undefined || signature === undefined || more.length > 0) return false;
  try {
    const value: unknown = JSON.parse(Buffer.from(header, 'base64url').toString());
    return typeof value === 'object' && value !== null && 'alg' in value;
  } catch {
    return false;
  }
}
